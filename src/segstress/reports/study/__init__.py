"""The report of studies: models on data under attack, clean against worst case."""
