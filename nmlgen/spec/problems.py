"""What can be wrong with a document before any rule can look at it, and how to say it."""

from __future__ import annotations

from nmlgen.findings import Finding, Severity
from nmlgen.source import Span

PROBLEMS = {
    "SPC001": (
        "yaml-syntax",
        "The document is not the YAML that nmlgen reads: a syntax error, an empty document, several documents, a "
        "tag, a key that is not a plain word, or text that is not UTF-8.",
    ),
    "SPC002": (
        "duplicate-key",
        "The same key stands twice in one mapping. YAML readers keep one of the two without a word; which one, "
        "the author cannot know.",
    ),
    "SPC003": (
        "unknown-key",
        "No such key exists at this place. Keys that are settings of ICON, Slurm, Lustre or MPI are spelt as their "
        "manuals spell them, with underscores.",
    ),
    "SPC004": (
        "wrong-value",
        "The value has the wrong type or form: a number where a unit is needed, a duration that ICON's time "
        "library refuses, a word that is not among the choices.",
    ),
    "SPC005": ("missing-key", "A key without which there is no experiment is not set by any layer."),
    "SPC006": (
        "too-many-aliases",
        "The document, with its presets and its site, has more than fifty thousand values and keys, aliases that "
        "unfold to more than a hundred thousand, more than 16 models, more than 500 streams of one model, more than "
        "100 patterns of input files, or more than 50 presets below it. No spec needs that size; it is refused before "
        "it fills the memory.",
    ),
    "SPC007": ("unknown-preset", "No preset or site of this name ships with nmlgen, and no such file exists."),
    "SPC008": (
        "set-twice",
        "One layer sets the same ICON variable under two keys, once in its section and once under `namelists:`.",
    ),
    "SPC012": (
        "unusable-sweep",
        "A sweep cannot be expanded: an expression that cannot be read or has no value, columns of `zip` of different "
        "lengths, a key that is varied twice, two points of one name.",
    ),
    "SPC013": (
        "auto-undecided",
        "`auto` leaves a value to the advisor, and something that it needs is not known: most often the size of the "
        "grid, which follows from the name of a global grid only.",
    ),
}
"""Code to name and explanation."""


def problem(code: str, message: str, span: Span | None, *notes: str, severity: Severity = Severity.ERROR) -> Finding:
    """A finding about the document itself."""
    return Finding(code, PROBLEMS[code][0], severity, message, span, notes)
