"""Where the Fortran runtimes do not agree on a namelist: which of them stop at a text that others read as it is meant.

`tests/namelist/test_runtimes.py` holds what gfortran 12 and flang 16 were seen to do. The standard has a comment begin
at a "!" behind a value separator (Fortran 2018, 13.11.3.6), which gfortran learns with GCC 15.3 and 16.2 (its bug
125095). Intel's manual takes strings with and without delimiters (Developer Guide and Reference, Rules for Namelist
Sequential READ Statements). A group without an end is ended by the "&" of the next one in NVHPC's, as an extension
(`nmlread.c` of the first flang, which is made of it), and in later LLVM flangs (`namelist.cpp`), not in 16.
What the others do where nothing is said is not known.
"""

from __future__ import annotations

from collections.abc import Mapping

from nmlgen.values import frozen


@frozen
class Readers:
    """The runtimes that `stop` at a text, or take it for something else, and those that `read` it as it is meant."""

    stop: tuple[str, ...]
    read: tuple[str, ...]

    def stops_each(self, runtimes: tuple[str, ...]) -> bool:
        """Whether each of some runtimes stops; False without any."""
        return bool(runtimes) and set(runtimes) <= set(self.stop)

    def note(self) -> str:
        """Who does what, for a message."""
        return f"the runtime of {_listed(self.stop)} does so; {_listed(self.read)} read it as it is meant"


READERS: Mapping[str, Readers] = {
    "comment-for-value": Readers(("gfortran",), ("flang", "intel", "nvhpc", "cray", "nag")),
    "undelimited-text": Readers(("gfortran",), ("flang", "intel")),
    "undelimited-word": Readers(("gfortran",), ("flang", "intel")),
    "no-final-newline": Readers(("gfortran",), ("flang",)),
    "comma-on-next-line": Readers(("gfortran",), ("flang",)),
    "unclosed-before-group": Readers(("gfortran",), ("nvhpc",)),
}
"""The kinds of problems that not every runtime has."""

_NAMES = {"intel": "Intel", "nvhpc": "NVHPC", "cray": "Cray", "nag": "NAG", "nec": "NEC"}


def _listed(runtimes: tuple[str, ...]) -> str:
    names = [_NAMES.get(name, name) for name in runtimes]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
