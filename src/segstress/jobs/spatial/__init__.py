"""Damage to part of an image: what to ask, what a run says of it, its page, and mixtures of two models."""
