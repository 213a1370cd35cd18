"""Many experiments from one spec: expansion into points, and sweeps on the disk."""
