"""nmlgen clean: remove the cache."""

from __future__ import annotations

from pathlib import Path

import click

from nmlgen.cli.caches import cache_directory_option, cache_of
from nmlgen.cli.console import quiet_option
from nmlgen.codes import rule_names
from nmlgen.configuration import find_configuration
from nmlgen.files import Files


@click.command("clean")
@cache_directory_option
@quiet_option
def command(cache_directory: Path | None, quiet: bool) -> int:
    """Remove the cache of lint: the user's, or that of the project here if it has its own. Nothing is lost by it."""
    cache = cache_of(cache_directory)
    if cache is None:
        return 0
    cache = cache.at(find_configuration(Path(), rule_names(), Files()).cache_directory)
    count = cache.clean()
    if not quiet:
        click.echo(f"removed {count} result{'s' if count != 1 else ''} from {cache.directory}")
    return 0
