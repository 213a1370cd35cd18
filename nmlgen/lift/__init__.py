"""Lifting: from files that exist already to Experiments, so that the same rules judge them."""
