"""Package data: batteries, each an `about` and an ordered list of perturbations."""
