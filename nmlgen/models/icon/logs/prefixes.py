"""What stands before ICON's own text in a line: labels of srun and mpirun, timestamps."""

from __future__ import annotations

import re

_TIMESTAMP = rb"(?:\[\d{8} \d{6}\.\d{3}\])?"  # run_nml: msg_timestamp (mo_exception.F90)
_CLOCK = (
    rb"(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*(?:Z|[+-]\d\d:?\d\d)?\]?:? "
    rb"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d )?"
)
_STYLES = (
    rb"",
    rb" *(?P<rank>\d{1,9}): ?",  # srun --label
    rb"\[\d+,(?P<rank>\d{1,9})\]<std(?:out|err)>:",  # mpirun --tag-output of Open MPI
    rb"\[(?P<rank>\d{1,9})\] ?",  # mpiexec -prepend-rank of Intel MPI
)
_PATTERNS = tuple(re.compile(_CLOCK + style + _CLOCK + _TIMESTAMP) for style in _STYLES)


class Prefix:
    """The way in which the lines of one log are labelled; it shows at the first line that is ICON's for sure."""

    def __init__(self) -> None:
        self._pattern = _PATTERNS[0]
        self.is_labelled = False

    def learn(self, before: bytes) -> None:
        """Take the style from what stands before a text that ICON puts at the beginning of a line, or behind one blank
        and the name of a routine."""
        for number, pattern in enumerate(_PATTERNS):
            found = pattern.match(before)
            if found is not None and not before[found.end() :].strip(b" ").strip():
                self._pattern, self.is_labelled = pattern, number > 0
                return

    def split(self, line: bytes) -> tuple[int | None, bytes]:
        """The rank that the label names, if there is one, and the line without label and timestamps."""
        found = self._pattern.match(line)
        if found is None:
            return None, line
        label = found.groupdict().get("rank")
        return (int(label) if label is not None else None), line[found.end() :]
