"""What a file is by its name and its text: a script of a shell, one of something else, a text for people."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path, PurePath

from nmlgen.lift.fragments import fragment_name
from nmlgen.script.csh import begins_as_csh
from nmlgen.source import Source

_RECENT = 8  # files whose kind is kept: each is asked for several times, and a text may have megabytes
_SHELL = re.compile(r"#!.*\b(?:ba|k|da|z|mk)?sh\d*\b(?!/)")
_INTERPRETER = re.compile(r"#![ \t]*/")
_NAMELIST = re.compile(r"(?:[ \t]*(?:!.*|\r)?\n)*[ \t]*&[A-Za-z]\w*[ \t]*(?:!.*|\r)?$", re.MULTILINE)
_REMARKS = r"(?:[ \t]*(?:#[^\n]*)?\n)*"
_HEAD = re.compile(_REMARKS)
_GROUP_BEHIND = re.compile(rf"{_REMARKS}[ \t]*&[A-Za-z]\w*[ \t]*(?:[!#][^\n]*|\r)?(?:\n|\Z)")
_DIRECTIVES = re.compile(rf"{_REMARKS}?#(?:SBATCH|PBS)[ \t]+-")
_CALLED_BELOW = re.compile(rf"{_REMARKS}?[ \t]*(?P<line>#![ \t]*/[^\n]*)")
"""What calls the interpreter below remarks, where no system looks for it: it tells whose the script is."""
_ASKS_FOR_CSH = re.compile(rf"{_REMARKS}?#(?:PBS|\$)[ \t]+-S[ \t]*\S*/t?csh\b")
_HEREDOC = re.compile(r"\n[^#!\n]*<<-?\s*['\"\\\\]?\w+")
_OF_WINDOWS = re.compile(r"\s*(?:@|::|(?:rem|setlocal|echo[ \t]+off)\b)", re.IGNORECASE)
_OF_MAIL = re.compile(r"(?:Content-Type|MIME-Version):[ \t]", re.IGNORECASE)
"""What a text of several parts for cloud-init begins with, some of which are scripts."""
_OF_C = re.compile(r"\s*/[/*]")  # parameters of LROSE, which end in .cmd, too
_OF_FORTRAN = re.compile(
    r"(?:[Cc*][^\n]*\n|[ \t]*(?:![^\n]*)?\n)*"
    r"[ \t]{6,}(?i:parameter[ \t]*\(|common[ \t]*/|implicit[ \t]+none\b|dimension[ \t]+\w)"
)
_OF_CMAKE = re.compile(r"\n(?i:set|cmake_minimum_required)[ \t]*\([A-Za-z_]\w*[ \t]")
"""What begins a command of CMake, and no command of a shell: `SET(USE_QUEUING FALSE CACHE BOOL "")`."""
_OF_PERL = re.compile(
    r"\n[ \t]*(?:(?:my|our)[ \t]+)?(?:\$\w+[ \t]*=[ \t]*<<[ \t]*['\"]?\w+['\"]?|[@%]\w+[ \t]*=[ \t]*\([^\n]*\))[ \t]*;"
)
"""What gives a text or a list to a variable of Perl, and is no command of a shell: `$x = <<EOF;`, `@files = ();`."""
_OF_LAMMPS = re.compile(
    r"\n[ \t]*(?:pair_(?:style|coeff)|atom_style|variable[ \t]+\w+[ \t]+(?:equal|atom|index|string|loop))[ \t]"
)
"""Commands of LAMMPS, whose input files are called `in.run`, too."""
_OF_GNUPLOT = re.compile(r"\n[ \t]*(?:(?:s|re)?plot[ \t]+[\"'\[(]|set[ \t]+[xyz]range[ \t]*\[)")
_OF_PYTHON = re.compile(
    r"\n(?:from[ \t]+[\w.]+[ \t]+import[ \t]|import[ \t]+\w[\w.]*[ \t]*$|def[ \t]+\w+\([^\n]*\):"
    r"|(?:rule|checkpoint)[ \t]+\w+:[ \t]*$)",
    re.MULTILINE,
)
"""What begins a statement of Python, or of Snakemake, which is Python with rules; `import` is a program, too, and wants
an option or the name of a picture."""
_OF_MAKE = re.compile(r"\n[^\s#:=][^\n:=]*:(?![:=])[^\n]*\n\t")
"""A rule and what it runs. `win_makefile` may begin as a script does."""
_OF_MAKE_ONLY = re.compile(
    r"\n(?:\.(?:PHONY|SUFFIXES)[ \t]*:|%\.\w+[ \t]*:|ifn?eq[ \t]*\([^\n]*,|[A-Za-z_]\w*[ \t]*:=)"
)
"""What no shell takes for a command of its own, nor for the name of a program: `CXX := g++`, `ifeq ($(MPI), 1)`."""
_RULE_OF_MAKE = re.compile(r"\n[^\s#:=][^\n:=]*:(?![:=])[^\n]*\n[ \t]+[^ \t\n]")
_OF_CYLC = re.compile(
    r"(?:[ \t]*(?:#[^\n]*|\{[%#][^\n]*|[A-Za-z][\w ]*=[^\n]*)?\n)*"
    r"[ \t]*\[(?:meta|cylc|scheduler|scheduling|runtime|task parameters)\][ \t]*(?:#[^\n]*)?$",
    re.MULTILINE,
)
"""What a workflow of Cylc begins with (`flow.cylc`, `suite.rc`): a section. A shell would look for a program of that
name. The scripts of its tasks stand in texts."""
FOR_PEOPLE = re.compile(r"(?i:readme|read_me|.*[^a-z]read_?me(?![a-z]))|examples\.namelist$")
"""WRF's `run/README.namelist` and `test/em_real/examples.namelist` tell what there is, in the form of namelists."""
SPEC_SUFFIXES = (".yaml", ".yml")
SUFFIXES = (".sh", ".bash", ".ksh", ".run", ".sbatch", ".job", ".cmd", ".slurm", ".ecf")
_NEXTFLOW = ".nf"
_CYLC = ".cylc"
_NO_SHELLS = (_NEXTFLOW, ".py", ".gs")  # Nextflow, Python, GrADS: no shell reads them, whatever the first line names
_OF_CSH = (".csh", ".tcsh")
_GIVES_ITSELF_AWAY = re.compile(
    r"^[ \t]*(?:eval[ \t]+['\"][^\n'\"]{,40}?)?\bexec[ \t]+(?:[^\s'\"]{,99}/)?"
    r"(?:perl|python|ruby|tclsh|wish)[\d.]*[ \t]"
    r"[^\n$]{,99}\$\{?0\}?(?=[\"' \t\n]|\Z)",
    re.MULTILINE,
)
"""What hands the script to another program: `eval 'exec perl -x "$0" "$@"'`. No shell reads what follows."""
OTHER_TEXTS = (
    *(".ipynb", ".json", ".html", ".htm"),
    *(".py", ".pl", ".perl", ".pm", ".jl", ".lua", ".rb", ".r", ".ncl", ".js", ".ts", ".java", ".go", ".rs", ".el"),
    *(".f", ".for", ".f77", ".f90", ".f95", ".f03", ".f08", ".fpp", ".inc"),
    *(_NEXTFLOW, _CYLC, ".smk", ".sm", ".cmake"),
    *(".c", ".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".ipp", ".tpp", ".cu", ".cuh", ".hip", ".cl"),
)
"""The names of texts that may show scripts, here-documents and all, or have what looks like it (`<<` of C++), and are
none."""


def _lines(source: Source) -> str:
    """A text with a line end before each of its lines, by which what a line begins with is found quickly."""
    return f"\n{source.text}"


def begins_with_group(text: str) -> bool:
    """Whether nothing but remarks stands before a group of a namelist."""
    return _NAMELIST.match(text) is not None


def is_namelist_with_remarks(text: str) -> bool:
    """Whether nothing but lines that begin with # stands before a group, which no shell reads: MITgcm's `data` begins
    with `#!sh Model parameters` at times, for an editor that shows it in colours."""
    return _GROUP_BEHIND.match(text) is not None


def begins_with_directives(text: str) -> bool:
    """Whether lines for Slurm or PBS stand before all else, as in a batch script: PBS asks for no `#!`."""
    return _DIRECTIVES.match(text) is not None


@lru_cache(maxsize=_RECENT)
def is_foreign_script(path: Path, source: Source) -> bool:
    """Whether a file is a script of something that is not a shell as POSIX has it, such as csh, Python or make."""
    if path.suffix.lower() in _NO_SHELLS or _is_of_make(path, source) or _ASKS_FOR_CSH.match(source.text) is not None:
        return True
    if _hands_itself_over(source.text):
        return True
    if source.text.startswith("#!"):
        return _INTERPRETER.match(source.text) is not None and _SHELL.match(source.line(1)) is None
    called = _CALLED_BELOW.match(source.text)
    if called is not None and _SHELL.match(called["line"]) is None:
        return True
    return path.suffix.lower() in _OF_CSH or begins_as_csh(source.text)


def _hands_itself_over(text: str) -> bool:
    """Whether a script has another program read it. To look for its name first is quick, and few have it."""
    return ("$0" in text or "${0" in text) and _GIVES_ITSELF_AWAY.search(text) is not None


def remarks_only(source: Source) -> Source:
    """A script up to its first command, which is as far as sbatch and qsub read one."""
    head = _HEAD.match(source.text)
    return source if head is None else Source(source.name, source.text[: head.end()])


def _is_of_make(path: Path, source: Source) -> bool:
    """Whether make reads a file, by a rule in it and its name or what only make takes: a script that makes one has
    these in a text.
    """
    text = _lines(source)
    is_made = "makefile" in path.name.lower() and _OF_MAKE.search(text) is not None
    if not is_made and _OF_MAKE_ONLY.search(text) is not None:
        is_made = _RULE_OF_MAKE.search(text) is not None
    return is_made and _HEREDOC.search(text) is None


def is_of_cylc(path: Path, source: Source) -> bool:
    """Whether a file is a workflow of Cylc, or a part of one."""
    return path.suffix == _CYLC or _OF_CYLC.match(source.text) is not None


@lru_cache(maxsize=_RECENT)
def is_other_language(source: Source) -> bool:
    """Whether a text is one of CMake, Perl, LAMMPS, gnuplot or Python, or begins as one of C, Fortran or a letter does,
    whatever it is called. A script of a shell has what is of LAMMPS, gnuplot or Python in a here-document."""
    text = _lines(source)
    if any(begins.match(source.text) is not None for begins in (_OF_FORTRAN, _OF_C, _OF_MAIL)):
        return True
    if _OF_CMAKE.search(text) is not None or _OF_PERL.search(text) is not None:
        return True
    is_like = _OF_LAMMPS.search(text) is not None or any(
        len(statements.findall(text)) > 1 for statements in (_OF_GNUPLOT, _OF_PYTHON)
    )
    return is_like and _HEREDOC.search(text) is None


def is_script(path: Path, source: Source) -> bool:
    """Whether a file is a script of a shell: by its first line, its name, or the here-documents in it."""
    if is_foreign_script(path, source):
        return False
    if begins_with_group(source.text) or is_namelist_with_remarks(source.text):
        return False
    if source.text.startswith("#!"):
        return _SHELL.match(source.line(1)) is not None
    if path.suffix.lower() in OTHER_TEXTS:
        return False
    if path.suffix == ".cmd" and _OF_WINDOWS.match(source.text) is not None:
        return False
    if is_of_cylc(path, source) or is_other_language(source) or "readme" in path.name.lower():
        return False
    if says_it_is_a_script(path, source) or _HEREDOC.search(_lines(source)) is not None:
        return True
    return fragment_name(path.name) is not None and path.suffix.lower() not in SPEC_SUFFIXES


def says_it_is_a_script(path: PurePath, source: Source) -> bool:
    """Whether the first line of a file, its directives or the end of its name say that it is a script. What is one for
    its here-documents may be a text of another program."""
    return source.text.startswith("#!") or path.suffix in SUFFIXES or begins_with_directives(source.text)
