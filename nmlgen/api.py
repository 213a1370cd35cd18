"""The library's functions: what the command line is a thin layer over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from nmlgen.checking import check_experiment
from nmlgen.errors import BuildError
from nmlgen.findings import Report
from nmlgen.spec.spec import Spec, load_spec

if TYPE_CHECKING:
    from nmlgen.render.build import Build
    from nmlgen.sweep.point import Point

SpecLike: TypeAlias = "Spec | Point | str | Path | Mapping[str, Any]"
"""What `check` and `build` take: a loaded spec, a point of a sweep, the path of a YAML file, or a mapping."""


def check(spec: SpecLike, *, overrides: Iterable[str] = ()) -> Report:
    """Apply the rules to a spec.

    `overrides` are texts such as "job.nodes=4", for a spec that is not loaded yet. Raises SpecError if the spec
    cannot be understood, InputError if a file cannot be read.
    """
    loaded = _loaded(spec, overrides)
    return _report(loaded)


def build(
    spec: SpecLike,
    *,
    overrides: Iterable[str] = (),
    strict: bool = False,
    stamp: Mapping[str, str] | None = None,
) -> Build:
    """Check a spec and render its files in memory; `Build.write` puts them on the disk.

    Raises BuildError, with the findings, if there are errors, or warnings when `strict`; SpecError and InputError
    as `check` does. `stamp` adds facts such as the time to the manifest, which otherwise holds none of the kind.
    """
    loaded = _loaded(spec, overrides)
    report = _report(loaded)
    if report.errors or (strict and report.warnings):
        raise BuildError(report.findings)
    from nmlgen.render.build import make_build  # nothing else here writes

    return make_build(loaded if isinstance(loaded, Spec) else loaded.spec, report.findings, stamp)


def _report(loaded: Spec | Point) -> Report:
    if isinstance(loaded, Spec):
        return check_experiment(loaded.experiment, loaded.suppressions, loaded.beginning)
    return loaded.report


def _loaded(spec: SpecLike, overrides: Iterable[str]) -> Spec | Point:
    if isinstance(spec, (str, Path, Mapping)):
        return load_spec(spec, overrides)
    if tuple(overrides):
        raise TypeError("overrides are given to load_spec, not beside a spec that is loaded")
    if isinstance(spec, Spec) or _is_point(spec):
        return spec
    raise TypeError(f"expected a spec, a point of a sweep, a path or a mapping, not {spec!r}")


def _is_point(spec: Any) -> bool:
    from nmlgen.sweep.point import Point  # who has one has loaded it

    return isinstance(spec, Point)
