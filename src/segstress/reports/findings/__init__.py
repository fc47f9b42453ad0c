"""The page of claims beside what was measured."""
