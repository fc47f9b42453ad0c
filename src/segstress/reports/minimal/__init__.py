"""The page of smallest changes."""
