"""The vertical grid that PALM makes (`init_grid.f90`)."""

from __future__ import annotations

from nmlgen.models.palm.settings import UNSET, Settings, UnknownError

_MOST_LEVELS = 100_000


def levels(settings: Settings) -> list[float]:
    """The heights of the levels 0 to nz + 1 on which scalars live, in m; above one level the spacing may grow without
    end. Raises UnknownError for the ocean, for nested domains, and where a stretching ends."""
    start = settings.dz_stretch_level if settings.dz_stretch_level != -UNSET else settings.dz_stretch_level_start[0]
    has_ends = any(level != UNSET for level in settings.dz_stretch_level_end)
    has_more = any(level != -UNSET for level in settings.dz_stretch_level_start[1:])
    spacing, count = settings.dz[0], settings.nz
    if has_ends or has_more or settings.has("ocean_parameters") or settings.is_one_of_several:
        raise UnknownError("dz")
    if settings.topography == "closed_channel" or spacing <= 0.0 or not 0 < count <= _MOST_LEVELS:
        raise UnknownError("nz")
    if start != -UNSET:
        start = int((start - spacing / 2) / spacing) * spacing + spacing / 2
    largest = settings.dz_max if settings.dz[1] == -1.0 else settings.dz[1]
    heights, thickness = [0.0, spacing / 2], spacing
    for _ in range(2, count + 2):
        if start != -UNSET and start <= heights[-1]:
            thickness *= settings.dz_stretch_factor
            thickness = max(thickness, largest) if spacing > largest else min(thickness, largest)
        heights.append(heights[-1] + thickness)
    return heights


def is_beyond(settings: Settings, height: float, *, below: int = 0) -> bool:
    """Whether a height lies above the level so many below nz + 1."""
    heights = levels(settings)
    return height > heights[len(heights) - 1 - below]
