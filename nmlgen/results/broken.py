"""The one thing that can be wrong with a file's form."""

from __future__ import annotations

from nmlgen.errors import InputError


class BrokenFileError(InputError):
    """A file is not what it should be, or ends in its header; the text says how, without the file's name."""
