"""Where the cache lies, as options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from nmlgen.caching import Cache, default_directory

_Command = TypeVar("_Command", bound=Callable[..., Any])
cache_directory_option = click.option(
    "--cache-dir",
    "cache_directory",
    metavar="DIRECTORY",
    envvar="NMLGEN_CACHE_DIR",
    show_envvar=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the cache lies; by default nmlgen in the user's directory for caches.",
)
_no_cache_option = click.option(
    "--no-cache",
    "-n",
    "has_no_cache",
    is_flag=True,
    envvar="NMLGEN_NO_CACHE",
    show_envvar=True,
    help="Take nothing from the cache, and keep nothing there.",
)


def cache_options(command: _Command) -> _Command:
    """The options of a command that has a cache."""
    return cache_directory_option(_no_cache_option(command))


def cache_of(directory: Path | None) -> Cache | None:
    """The cache in a directory that somebody names, else the user's, which gives way to a project's; None for none."""
    if directory is not None:
        return Cache(directory)
    own = default_directory()
    return None if own is None else Cache(own, gives_way=True)
