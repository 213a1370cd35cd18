"""The representation of an experiment, and what follows from it: model time, ranks, output files."""
