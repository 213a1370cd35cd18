"""From one batch system to another: the directives of a run script, and what of its commands has to follow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from nmlgen.errors import InputError
from nmlgen.files import Files
from nmlgen.findings import Finding, Report, Severity, in_order
from nmlgen.lift.targets import is_binary
from nmlgen.schedulers import Scheduler, schedulers
from nmlgen.schedulers.codes import PROBLEMS
from nmlgen.schedulers.request import HOME, Remark, Request
from nmlgen.script.parser import parse
from nmlgen.source import Source, Span, Stretches, Text
from nmlgen.values import frozen

_COMMAND = r"(?:^|[;&|({`!]|\b(?:then|do|else|if|while|until|exec|time|env|command|nohup)[ \t])[ \t]*"


@frozen
class Conversion:
    """A script for another batch system: its text, and what is to be known of it. `old` and `new` are the names of the
    batch systems."""

    old: str
    new: str
    text: str
    report: Report

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left that has to be done by hand."""
        return not self.report.warnings


def convert(path: str | Path, to: str) -> Conversion:
    """A run script with directives for the batch system `to` in the place of those that it has for another.

    Commands stay as they are; the report names what of them is the old batch system's. Raises InputError if the file
    cannot be read, `to` is not known, or the script has no directives of another batch system, or of several.
    """
    known = schedulers()
    if to not in known:
        raise InputError(f'there is no batch system "{to}"; expected: {" or ".join(known)}')
    source = Files().read(Path(path))
    if (what := "empty" if not source.text.strip() else "binary" if is_binary(source.text) else None) is not None:
        raise InputError(f"{source.name} is {what}: a run script is expected")
    spoken = [scheduler for scheduler in known.values() if scheduler.is_spoken(source)]
    if not spoken:
        prefixes = " or ".join(scheduler.prefix for scheduler in known.values() if scheduler.name != to)
        raise InputError(f"{source.name} has no {prefixes} line before its first command")
    if len(spoken) > 1:
        raise InputError(f"{source.name} has {' and '.join(one.prefix for one in spoken)} lines: which of them hold?")
    old, new = spoken[0], known[to]
    if old is new:
        raise InputError(f"{source.name} is for {new.title} already")
    if "\r\n" in source.text:
        raise InputError(f"{source.name} has DOS line ends, with which no batch system takes it; dos2unix mends them")
    if source.text.startswith("\ufeff"):
        raise InputError(
            f"{source.name} begins with a byte order mark, with which no batch system takes it; take it away"
        )
    script = parse(source)
    request = old.read(source, script.bodies)
    written = new.written(request)
    remarks = (*request.remarks, *written.remarks)
    losses = tuple(remark.loss for remark in remarks if remark.loss is not None)
    block = [f"{new.prefix} {directive}" for directive in written.directives]
    block += [f"# not converted: {' '.join(loss.split())}" for loss in dict.fromkeys(losses)]
    if not _finds_its_way(request, old, source):
        block += written.before
    late = dict(_late(source, old, request, Stretches(script.bodies)))
    findings = [*map(_finding, remarks), *late.values(), *_left(source, old, new, request)]
    text = _replaced(source, request, block, late, written.shell)
    return Conversion(old.name, new.name, text, Report(in_order(dict.fromkeys(findings))))


def _finds_its_way(request: Request, old: Scheduler, source: Source) -> bool:
    """Whether a script that began elsewhere goes by itself to where it was submitted."""
    directory = request.wishes.get("directory")
    names = [name for name, fact in old.variables.items() if fact == "the directory of the submission"]
    return directory is not None and directory.value == HOME and any(name in source.text for name in names)


def _replaced(source: Source, request: Request, block: list[str], late: Iterable[int], shell: str | None) -> str:
    """The script with other directives in the place of the first ones, and those that nobody read as comments."""
    dropped = {number for first, last in request.lines for number in range(first, last + 1)}
    first = min(dropped)
    lines = ["#!" + shell] if shell is not None and not source.text.startswith("#!") else []
    for number, line in enumerate(source.text.split("\n"), start=1):
        if number == first:
            lines += block
        if number not in dropped:
            lines.append(f"# {line}" if number in late else line)
    return "\n".join(lines)


def _finding(remark: Remark) -> Finding:
    code, severity = ("CNV002", Severity.ADVICE) if remark.loss is None else ("CNV001", Severity.WARNING)
    return _problem(code, severity, remark.message, remark.span, remark.expected)


def _problem(code: str, severity: Severity, message: str, span: Span | None, expected: str) -> Finding:
    return Finding(code, PROBLEMS[code][0], severity, message, span, (f"expected: {expected}",))


def _late(source: Source, old: Scheduler, request: Request, bodies: Stretches) -> Iterator[tuple[int, Finding]]:
    """The lines behind the first command that look like directives: nobody reads them, but sbatch does those of PBS."""
    text, last = Text(source), max(end for _, end in request.lines)
    written = re.compile(rf"^[ \t]*({re.escape(old.prefix)}[ \t]+-[^\n]*)", re.MULTILINE)
    for match in written.finditer(source.text):
        number = text.position(match.start())[0]
        if number > last and match.start() not in bodies:
            message = f'{old.title} does not read "{match[1].rstrip()}" there; it is a comment now'
            span = text.span(match.start(1), match.start(1) + len(match[1].rstrip()))
            expected = "directives before the first command"
            yield number, _problem("CNV001", Severity.WARNING, message, span, expected)


def _left(source: Source, old: Scheduler, new: Scheduler, request: Request) -> Iterator[Finding]:
    """What commands use of the old batch system, each once, where it stands first."""
    text = Text(source)
    dropped = {number for first, last in request.lines for number in range(first, last + 1)}
    begin = max(dropped)
    seen = set()
    programs = re.compile(rf"{_COMMAND}((?:/[\w.+/-]*/)?({'|'.join(map(re.escape, old.programs))}))(?![\w.=-])")
    beginning = "|".join(sorted({f"{name.partition('_')[0]}_" for name in old.variables}))
    variables = re.compile(rf"(?<![A-Za-z0-9_])(?:{beginning})[A-Z][A-Z0-9_]*")
    for number, line in enumerate(source.lines, start=1):
        if number <= begin or line.lstrip().startswith("#"):
            continue
        at = source.line_starts[number - 1]
        for match in programs.finditer(line):
            if match[2] not in seen:
                seen.add(match[2])
                expected = new.says.get(old.programs[match[2]], "to do without")
                message = f"{match[2]} is a program of {old.title}"
                span = text.span(at + match.start(1), at + match.end(1))
                yield _problem("CNV003", Severity.WARNING, message, span, expected)
        for match in variables.finditer(line):
            if match[0] not in seen:
                seen.add(match[0])
                expected = new.says.get(old.variables.get(match[0], ""), f"nothing of {new.title} is like it")
                message = f"{match[0]} is a variable of {old.title}, which {new.title} does not know"
                span = text.span(at + match.start(), at + match.end())
                yield _problem("CNV003", Severity.WARNING, message, span, expected)
