"""The YAML front end: documents with positions, layers that override each other, lowering to an Experiment."""
