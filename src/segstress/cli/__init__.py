"""Parse, call a job, print."""
