"""Which rules are asked for: by code, by the beginning of codes, or by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nmlgen.errors import InputError
from nmlgen.findings import Report, did_you_mean
from nmlgen.values import evolve, frozen


@frozen
class Selection:
    """The codes that are asked for and those that are not, each as the beginning of codes.

    The longer one holds: `RST001` asked for and `RST` not leaves one rule of the topic. Nothing asked for is all.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def __contains__(self, code: str) -> bool:
        asked_for = max((len(start) for start in self.select or ("",) if code.startswith(start)), default=-1)
        left_out = max((len(start) for start in self.ignore if code.startswith(start)), default=-1)
        return asked_for > left_out


def selected(report: Report, selection: Selection) -> Report:
    """What of a report is asked for."""
    codes = {finding.code for finding in report.findings} | {item.code for item in report.undecided}
    asked_for = {code for code in codes if code in selection}
    return evolve(
        report,
        findings=tuple(finding for finding in report.findings if finding.code in asked_for),
        undecided=tuple(item for item in report.undecided if item.code in asked_for),
    )


def selectors(words: Iterable[str], rules: Mapping[str, str], place: str = "") -> tuple[str, ...]:
    """The beginnings of codes that words such as "RST,OUT003" or "second-copy" mean; "ALL" is all of them.

    `rules` has the name of each code; `place` says where the words stand. Raises InputError for a word that means
    none of them.
    """
    asked = (word.strip() for text in words for word in text.split(","))
    return tuple(dict.fromkeys(_selector(word, rules, place) for word in dict.fromkeys(asked) if word))


def _selector(word: str, rules: Mapping[str, str], place: str) -> str:
    start = word.upper()
    if start == "ALL":
        return ""
    if any(code.startswith(start) for code in rules):
        return start
    for code, name in rules.items():
        if name == word.lower():
            return code
    topics = {code.rstrip("0123456789") for code in rules}
    notes = did_you_mean(word, [*rules, *rules.values(), *topics])
    raise InputError(f'{place}there is no rule "{word}"; {notes[0] if notes else "nmlgen rules lists them"}')
