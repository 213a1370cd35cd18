"""ICON: what follows from an experiment with it, the rules about it, and how its logs are read.

Who asks a model without knowing which one it is asks `nmlgen.models`.
"""
