"""From one ICON release to a newer one: what of a spec, a script or a namelist does not hold there, what mends it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from nmlgen import disk
from nmlgen.api import check
from nmlgen.errors import InputError
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import Group, as_list
from nmlgen.experiment.setting import Certainty, Setting, UndecidedError
from nmlgen.files import Files
from nmlgen.findings import Edit, Finding, Fix, Report, Severity, joined
from nmlgen.fixing import Fixed, mended
from nmlgen.lift.loading import is_spec, load
from nmlgen.lift.namelists import NamelistFile
from nmlgen.lift.own_text import only_own_text
from nmlgen.lift.problems import problem
from nmlgen.lift.releases import registry_for
from nmlgen.lift.targets import targets
from nmlgen.linting import Lifted, lint
from nmlgen.models.icon.ranks import domains
from nmlgen.namelist.registry import Registry, Variable, registry_of, releases
from nmlgen.spec.spec import load_spec
from nmlgen.values import evolve, frozen

_SUBSCRIPTS = re.compile(r"\([^()]*\)")
_HEADER = re.compile(r"^[ \t]*[&$][ \t]*[A-Za-z]\w*", re.MULTILINE)
_END = re.compile(r"/[ \t]*(?:!.*)?$", re.MULTILINE)
_YAML = (".yaml", ".yml")
_MOST_CHARACTERS = 2**18
_MOST_TO_CHOOSE_BY = 100_000
"""A bound on work: so many characters of a longer text say which release it is for."""


@frozen
class Migration:
    """What came of it: `old` are the releases that the paths are for, `new` the one they are to run with; `fixed` holds
    what a newer release does not take as it did, and the files as they would be once mended."""

    old: tuple[str, ...]
    new: str
    fixed: Fixed

    @property
    def report(self) -> Report:
        """What does not hold in the newer release."""
        return self.fixed.report


def migrate(
    paths: Iterable[str | Path],
    *,
    to: str | None = None,
    icon_release: str | None = None,
    ntasks: int | None = None,
    mends: bool = False,
) -> Migration:
    """What of specs, scripts and namelists a newer release no longer has, renamed, declares otherwise or now checks.

    `to` is that release, by default the newest one, and `icon_release` the one they are for: by default what they show,
    else the older one that finds least wrong with them. Either is a name or the path of a registry file. What was wrong
    before is left to `lint` and `check`. With `mends` what can mean one thing is mended, in memory: `fixed.write`
    writes it. Raises InputError if a file or a release cannot be read, SpecError if a spec cannot be understood.
    """
    new = registry_of(to or releases()[-1])
    given = [Path(path) for path in paths]
    specs = [path for path in given if not path.is_dir() and is_spec(path)]
    others = [path for path in given if path not in specs]
    written = [_Written(path, icon_release, new, ntasks) for path in others]
    old = {one.path: one.release for one in written}
    old |= {path: icon_release or load_spec(path).experiment.registry.reference for path in specs}

    def judge(files: Files) -> Report:
        reports = [one.judged(new, files) for one in written]
        return joined([*reports, *(_of_spec(path, old[path], new, files) for path in specs)])

    fixed = mended(judge, given) if mends else Fixed(judge(Files()), 0, {})
    return Migration(tuple(dict.fromkeys(registry_of(name).release for name in old.values())), new.release, fixed)


class _Written:
    """A file or a directory as it was written: the release that it is for, what is found in it, what its scripts do."""

    def __init__(self, path: Path, said: str | None, new: Registry, ntasks: int | None) -> None:
        self.path = path
        self._ntasks = ntasks
        self._files = Files()
        self._lifted = Lifted()
        self._found: dict[str, Report] = {}
        if path.is_dir():
            text = ""
            for target in targets([path], self._files):
                _require_size(target.path, disk.size(target.path))
        else:
            text = self._files.read(path).text
            _require_size(path, len(text))
        registry = registry_for(path, text, said)
        older = [release for release in reversed(releases()) if release < new.release] or [new.release]
        self.release = self._best(older, text) if registry.is_assumed else registry.reference

    def _best(self, older: Sequence[str], text: str) -> str:
        """The release that finds least, the newest such one; of a long text, in its beginning."""
        if len(text) <= _MOST_TO_CHOOSE_BY:
            return _least(older, lambda release: len(self._first_found(release).errors))
        start = _beginning(text)
        files, lifted = Files({self.path.resolve(): start}), Lifted()
        return _least(older, lambda release: len(self._lint(release, files, lifted).errors))

    def _first_found(self, release: str) -> Report:
        """What a release finds in what nobody has mended yet."""
        if release not in self._found:
            self._found[release] = self._lint(release, self._files, self._lifted)
        return self._found[release]

    def _lint(self, release: str, files: Files, lifted: Lifted) -> Report:
        own = files.unread() if self.path.is_dir() else files  # what is read there is not judged again
        return lint([self.path], ntasks=self._ntasks, icon_release=release, files=own, lifted=lifted)

    def judged(self, new: Registry, files: Files) -> Report:
        """What is found in the newer release only. Nothing is worked out twice of what nobody has mended yet."""
        lifted = self._lifted
        if files.is_mended:
            lifted = Lifted()
            before = self._lint(self.release, files, lifted)
        else:
            before = self._first_found(self.release)
            files.share(self._files)
        after = lint([self.path], ntasks=self._ntasks, icon_release=new.reference, files=files, lifted=lifted)
        changed: list[Finding] = []
        for target in targets([self.path], files):
            try:
                experiment, read = self._lifted_for(target.path, new, files, lifted)
            except InputError:  # a fragment of a script, or one that writes no namelist
                continue
            changed += only_own_text(_redeclared(experiment, registry_of(self.release), new), read)
        return _new_findings(before, after, changed)

    def _lifted_for(
        self, path: Path, new: Registry, files: Files, lifted: Lifted
    ) -> tuple[Experiment, Iterable[NamelistFile]]:
        if path in lifted.namelists:
            return lifted.namelists[path]
        parsed = lifted.scripts.get(path)
        loaded = load(path, ntasks=self._ntasks, icon_release=new.reference, files=files, parsed=parsed)
        return loaded.experiment, loaded.files


def _require_size(path: Path, size: int) -> None:
    """Raise InputError for a text that nobody wrote by hand: each is followed for several releases."""
    if size > _MOST_CHARACTERS:
        raise InputError(f"{path} is larger than {_MOST_CHARACTERS // 1024} KiB, more than is migrated")


def _beginning(text: str) -> str:
    """The beginning of a long text, without a group that does not end in it: that is wrong in any release, so that all
    of them would be asked."""
    start = text[:_MOST_TO_CHOOSE_BY].rpartition("\n")[0] or text[:_MOST_TO_CHOOSE_BY]
    last = max((match.start() for match in _HEADER.finditer(start)), default=0)
    return start if _END.search(start, last) else start[:last] or start


def _least(older: Sequence[str], errors: Callable[[str], int]) -> str:
    """The first release without errors, else the first one with the fewest."""
    counts: dict[str, int] = {}
    for release in older:
        counts[release] = errors(release)
        if not counts[release]:
            break
    return min(counts, key=counts.__getitem__)


def _of_spec(path: Path, old: str, new: Registry, files: Files) -> Report:
    """What is found in a spec; once it is mended, what is left of it."""
    text = files.read(path).text
    before = check(load_spec(path, _for_release(registry_of(old))))
    spec = load_spec(path, _for_release(new))
    found = _new_findings(before, check(spec), _redeclared(spec.experiment, registry_of(old), new))
    own = [one.span.source for one in found.findings if one.span is not None and one.span.source.name == str(path)]
    if own and own[0].text != text:
        return evolve(found, findings=tuple(one for one in found.findings if one.fix is None or not one.fix.is_safe))
    if own:
        files.sources[path.resolve()] = own[0]
    return found


def _for_release(registry: Registry) -> tuple[str, ...]:
    own = "" if registry.path is None else str(registry.path.resolve())
    return (f'model.release="{registry.release}"', f'model.registry="{own}"')


def _new_findings(before: Report, after: Report, changed: Iterable[Finding]) -> Report:
    """What is found in the newer release only."""
    known = {_place(finding) for finding in before.findings}
    new = [finding for finding in after.findings if _place(finding) not in known]
    found = {_place(finding) for finding in new}
    new += [finding for finding in changed if _place(finding)[1:] not in {place[1:] for place in found}]
    return Report(tuple(dict.fromkeys(new)))


def _place(finding: Finding) -> tuple[str, str | None, int | None, int | None]:
    return finding.code, finding.file, finding.line, finding.column


def _redeclared(experiment: Experiment, old: Registry, new: Registry) -> Iterator[Finding]:
    """The written variables that the newer release declares otherwise."""
    for component in experiment.components:
        for group in (*component.experiment.master, *component.namelist):
            for key, setting in group.settings.items():
                path = _SUBSCRIPTS.sub("", key)
                was, now = old.variable(group.name, path), new.variable(group.name, path)
                if was is not None and now is not None and setting.span is not None:
                    yield from _redeclaration(component, group, setting, was, now)


def _redeclaration(
    component: Component, group: Group, setting: Setting, was: Variable, now: Variable
) -> Iterator[Finding]:
    if (was.type, was.shape, was.base_shapes, was.bytes) == (now.type, now.shape, now.base_shapes, now.bytes):
        return
    notes = []
    fix = None
    is_for_one = was.shape == () and bool(now.shape)
    if is_for_one and len(as_list(setting.origin.value)) > 1:
        return  # written as the newer release declares it
    if is_for_one:
        notes.append("one value sets the first element; the others keep their default")
        fix = _for_all_domains(component, setting, now)
    if was.unit != now.unit and now.unit:
        notes.append(f"it is in {now.unit} now")
    yield problem(
        "MIG001",
        Severity.ADVICE,
        f"{group.name.lower()}: {now.name} is {now.declaration} in the newer release, and was {was.declaration}",
        setting.name_span or setting.span,
        *notes,
        fix=fix,
    )


def _for_all_domains(component: Component, setting: Setting, now: Variable) -> Fix | None:
    """A value for all domains where there are several: what one value was for a variable that had one element."""
    span = setting.span
    try:
        count = domains(component)
    except UndecidedError:
        return None
    extent = now.shape[0] if now.shape is not None and len(now.shape) == 1 else None
    is_of_domains = extent == 10  # max_dom, mo_impl_constants.f90
    if span is None or count < 2 or not is_of_domains or setting.certainty is Certainty.UNKNOWN:
        return None
    text = f"[{', '.join([span.text] * count)}]" if span.source.name.endswith(_YAML) else f"{extent}*{span.text}"
    return Fix(f"write {text}", (Edit(span, text),), is_safe=True)
