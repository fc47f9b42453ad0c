"""The page of damage to part of an image."""
