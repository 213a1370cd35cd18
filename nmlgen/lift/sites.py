"""The site that a command or a configuration names for files that name none."""

from __future__ import annotations

from pathlib import Path

from nmlgen.errors import InputError, SpecError
from nmlgen.spec.site import Site, read_site_of


def site_named(reference: str) -> Site:
    """The site of a name, or of a site file as ./mysite.yaml; raises InputError if there is none."""
    try:
        return read_site_of(reference, Path())
    except SpecError as error:
        found = error.findings[0]
        raise InputError("; ".join((found.message, *found.notes))) from None
