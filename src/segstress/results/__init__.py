"""What a run folder says: read once, in columns, and handed to reports as studies."""
