"""Quantities with units, validated where they enter: durations, instants, calendars, sizes, wall times."""
