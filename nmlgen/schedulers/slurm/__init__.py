"""Slurm, as one of the schedulers."""
