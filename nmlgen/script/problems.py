"""What a script can have wrong besides its namelists: the codes, their names and what they mean."""

from __future__ import annotations

PROBLEMS = {
    "SHL001": (
        "shell-syntax",
        "The shell stops at this text, or takes it otherwise than it seems to say.",
    ),
    "SHL002": (
        "unterminated-heredoc",
        "The delimiter of a here-document never comes on a line of its own: the rest of the script becomes part of the "
        "file, and none of it is run.",
    ),
    "SHL003": (
        "unset-variable",
        "Nothing sets a variable that goes into a namelist. The shell puts nothing in its place, or 0 in an arithmetic "
        "expression, and says nothing of it.",
    ),
    "SHL004": (
        "missing-output-directory",
        "A stream writes into a directory that the script never makes. ICON makes none: it stops when it opens the file.",
    ),
    "SHL005": (
        "inactive-namelist",
        "A namelist that no way through the script comes to would stop the Fortran runtime if it were used.",
    ),
    "SBA001": (
        "ignored-directive",
        "The line looks like a directive, but Slurm takes it for a comment: it is indented, has a blank behind the #, "
        "is in lower case or misspelt. The job runs without what it asks for. Two # switch a directive off on purpose.",
    ),
    "SBA002": (
        "directive-after-command",
        "Slurm reads directives up to the first line that is neither empty nor a comment; `set -e` and an assignment "
        "end them, too. This one comes later: the job runs without what it asks for.",
    ),
    "SBA003": (
        "duplicate-directive",
        "An option is given twice. The last one holds, and nothing is said. Only --mail-type adds up.",
    ),
    "SBA004": (
        "unknown-option",
        "sbatch does not know the option, or cannot tell which of several it is short for, and refuses the job. "
        "Options such as --mpi and --cpu-bind are srun's; --workdir became --chdir.",
    ),
    "SBA005": (
        "stray-word",
        "A word belongs to no option, and sbatch refuses the job: a blank around the equals sign, a value with a blank "
        "and without quotes, or a quote that is never closed.",
    ),
    "SBA006": (
        "value-refused",
        "sbatch cannot read the value and refuses the job, whatever the cluster.",
    ),
    "SBA007": (
        "value-cut",
        "The line ends earlier than it seems: a # ends it, even in the middle of a word, and so does an empty word. "
        "`--comment=a#b` is `a`. Quotes keep the #.",
    ),
    "SBA008": (
        "directive-not-expanded",
        "Slurm expands no shell variable, command substitution or ~ in a directive: the characters stay as they are.",
    ),
    "SBA009": (
        "option-and-value",
        "An option has no value and takes the next word for it, even the next option, or that of the next line; or it "
        "has a value and takes none; or `-J=a` has the equals sign in its value.",
    ),
    "SBA010": (
        "exclusive-options",
        "Two options exclude each other, and sbatch refuses the job.",
    ),
    "SBA011": (
        "no-batch-script",
        "sbatch refuses the whole script: its first line does not begin with #!, or its lines end as on DOS.",
    ),
    "SBA012": (
        "foreign-directive",
        "Slurm 22.05 obeys #PBS and #BSUB lines as well, wherever they stand, in a here-document, too, and after the "
        "#SBATCH lines: what they say replaces what those said.",
    ),
    "LFS001": (
        "setstripe-refused",
        "`lfs setstripe` does not know an option, or cannot read its value, and changes nothing: the files get the "
        "default layout.",
    ),
    "LFS002": (
        "setstripe-open-end",
        "The last component of a layout ends before the end of a file: a write beyond it fails.",
    ),
    "LCH001": (
        "launch-refused",
        "The launcher refuses the number of tasks or of nodes, so that the model does not start.",
    ),
}
"""Code to name and explanation."""

CODES_OF_KINDS = {
    "ignored-directive": "SBA001",
    "directive-after-command": "SBA002",
    "duplicate-directive": "SBA003",
    "unknown-option": "SBA004",
    "removed-option": "SBA004",
    "srun-only-option": "SBA004",
    "ambiguous-option": "SBA004",
    "stray-word": "SBA005",
    "unmatched-quote": "SBA005",
    "bad-value": "SBA006",
    "value-cut": "SBA007",
    "not-expanded": "SBA008",
    "wants-value": "SBA009",
    "takes-no-value": "SBA009",
    "swallowed-option": "SBA009",
    "equals-sign": "SBA009",
    "exclusive-options": "SBA010",
    "first-line": "SBA011",
    "dos-line-end": "SBA011",
    "foreign-directive": "SBA012",
    "setstripe-refused": "LFS001",
    "setstripe-open-end": "LFS002",
    "launch-refused": "LCH001",
}
"""The kind of a SyntaxProblem to the code that it has as a finding."""


def code_of(kind: str) -> str:
    """The code of a SyntaxProblem of the shell's own syntax."""
    return "SHL002" if kind == "unterminated-heredoc" else "SHL001"
