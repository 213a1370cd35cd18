"""Differences of two experiments as text and as a document for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nmlgen.experiment.difference import JOB, MASTER, NAMELIST, Difference, Verdict
from nmlgen.experiment.setting import Certainty, Setting
from nmlgen.visible import Shown, joined, visible

_RED, _GREEN, _YELLOW, _FAINT, _BOLD = "31", "32", "33", "2", "1"
_PARTS = {
    MASTER: "the master namelist",
    NAMELIST: "the model's namelist",
    JOB: "what is said to the machine",
}


def format_differences(
    differences: Sequence[Difference], names: tuple[str, str], left_out: Iterable[str], colour: bool
) -> Shown:
    """Differences under the names of their groups, `-` for the first and `+` for the second of the `names`; then how
    many there are, and which parts were left out because only one side speaks of them."""
    lines: list[str] = []
    if differences:
        lines += [_painted(f"--- {names[0]}", _RED, colour), _painted(f"+++ {names[1]}", _GREEN, colour)]
    section = None
    for difference in differences:
        if difference.section != section:
            section = difference.section
            lines.append(_painted(section, _BOLD, colour))
        lines += [_painted(f"  {line}", tone, colour) for line, tone in _lines(difference, names)]
    lines += [f"not compared, because only one side has it: {_PARTS[part]}" for part in left_out]
    return joined("\n", [*lines, summary(differences)])


def summary(differences: Sequence[Difference]) -> str:
    """One line: how many settings differ, how many are explicit on one side only, how many nobody can decide."""
    counts = {verdict: sum(1 for one in differences if one.verdict is verdict) for verdict in Verdict}
    different = counts[Verdict.DIFFERENT]
    parts = [f"{different or 'no'} difference{'' if different == 1 else 's'}"]
    if counts[Verdict.EXPLICIT]:
        parts.append(f"{counts[Verdict.EXPLICIT]} explicit (= default)")
    if counts[Verdict.UNDECIDED]:
        parts.append(f"{counts[Verdict.UNDECIDED]} undecided (?)")
    return ", ".join(parts)


def difference_document(difference: Difference) -> dict[str, Any]:
    """One difference; `old` and `new` are null where a side says nothing and no default is known."""
    return {
        "verdict": difference.verdict.value,
        "section": difference.section,
        "name": difference.name,
        "old": _document(difference.old),
        "new": _document(difference.new),
    }


def _document(setting: Setting | None) -> dict[str, Any] | None:
    if setting is None:
        return None
    span = setting.span
    return {
        "value": None if setting.certainty is Certainty.UNKNOWN else setting.value,
        "certainty": setting.certainty.value,
        "location": None if span is None else {"file": span.source.name, "line": span.line, "column": span.column},
    }


def _lines(difference: Difference, names: tuple[str, str]) -> Iterator[tuple[str, str]]:
    old, new, name = difference.old, difference.new, difference.name
    if difference.verdict is Verdict.UNDECIDED:
        yield f"? {name}: {_side(old)} against {_side(new)}", _YELLOW
    elif difference.verdict is Verdict.EXPLICIT:
        explicit = old if old is not None and old.is_written else new
        where = names[0] if explicit is old else names[1]
        yield f"= {name} = {_side(explicit)}  explicit (= default) in {where}", _FAINT
    else:
        if old is not None:
            yield f"- {name} = {_side(old)}", _RED
        if new is not None:
            yield f"+ {name} = {_side(new)}", _GREEN


def _side(setting: Setting | None) -> str:
    if setting is None:
        return "nothing"
    if setting.certainty is Certainty.UNKNOWN:
        return f"? {setting.span.text}" if setting.span is not None else "?"
    return f"{_shown(setting.value)}{'' if setting.is_written else '  (default)'}"


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_shown, value))
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    return text if text.strip() == text != "" and text.isprintable() else repr(text)


def _painted(text: str, tone: str, colour: bool) -> Shown:
    return Shown(f"\x1b[{tone}m{visible(text)}\x1b[0m" if colour else visible(text))
