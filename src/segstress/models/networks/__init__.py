"""The embedded networks: plain torch modules, small enough for a laptop."""
