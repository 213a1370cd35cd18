"""The registry of an ICON release from its source tree: NAMELIST statements, declarations, defaults, readers."""
