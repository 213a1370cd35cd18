"""The errors nmlgen raises: a small tree, so that a caller can catch as much or as little as it means to.

A user's mistake inside a document is a finding with a position (see `nmlgen.findings`); an exception is for
what cannot go on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nmlgen.findings import Finding


class NmlgenError(Exception):
    """Every error that nmlgen raises on purpose."""


class _FindingsError(NmlgenError):
    """An error that is made of findings."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        super().__init__("; ".join(f"{finding.where}: {finding.message}" for finding in findings))
        self.findings = findings

    def __reduce__(self) -> tuple[Any, ...]:  # else no other process could be told of it
        return type(self), (self.findings,)


class SpecError(_FindingsError):
    """A spec, preset or site file that cannot be understood; nothing was built from it.

    `findings` holds every mistake that was found, each with its position.
    """


class BuildError(_FindingsError):
    """The rules found errors, so there is nothing to write. `findings` holds all findings of the check."""


class InputError(NmlgenError):
    """A file or a name given to nmlgen cannot be used: it is missing, a directory, unreadable or unknown."""


class UnreadableError(InputError):
    """What is there and cannot be read: nobody may, or the disk fails. It must not count as if it were not there."""


class BrokenFileError(InputError):
    """A file of data is not what it should be, or ends in its header; the text says how, without the file's name."""


class WriteError(NmlgenError):
    """A build was not written: a file in the directory was changed by someone else, or the disk refused."""


class SchedulerError(NmlgenError):
    """The batch system is not there, cannot be reached, or refused; the message is what it said."""
