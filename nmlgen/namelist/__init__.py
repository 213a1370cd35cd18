"""Fortran namelists: what each ICON release knows, and the text that a Fortran runtime reads back."""
