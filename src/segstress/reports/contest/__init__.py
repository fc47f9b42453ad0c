"""The page of a competition."""
