"""The back end: from an Experiment to files, and from files to the disk, whole or not at all."""
