"""What gfortran reads from a namelist file: the judge of every namelist we write.

A small Fortran program is generated that declares the variables, reads the groups and prints what it found.
Each copy of a group is read twice, over two different sets of initial values: an element is printed if it
differs from its initial value, and one that was set differs from at least one of the two. So "set to what it
was before" is told from "not set", for logicals too.
"""

from __future__ import annotations

import hashlib
import json
import math
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

FLAGS = ("-O0", "-std=f2018", "-ffree-line-length-none")
MAX_RANK = 7


class ReadbackError(Exception):
    """gfortran refused the namelist; the text is its message."""


@frozen
class Declaration:
    """How ICON declares a namelist variable: ``Declaration("integer", shape=((0, 10),))``."""

    type: str = field()
    length: int | None = None
    shape: tuple[int | tuple[int, int], ...] = ()

    @type.validator
    def _check_type(self, _attribute: object, value: str) -> None:
        if value not in _FORTRAN_TYPES:
            raise ValueError(f"type {value!r}: expected one of {', '.join(_FORTRAN_TYPES)}")

    @classmethod
    def from_registry(cls, entry: Mapping[str, Any]) -> Declaration:
        """From an entry with the keys ``type``, ``len`` and ``shape`` (a pair is a lower and upper bound)."""
        dimensions: Sequence[int | Sequence[int]] = entry.get("shape") or ()
        shape = tuple(dim if isinstance(dim, int) else (dim[0], dim[1]) for dim in dimensions)
        return cls(entry["type"], entry.get("len"), shape)

    @property
    def fortran(self) -> str:
        name = _FORTRAN_TYPES[self.type]
        return name.format(self.length or 1)

    @property
    def bounds(self) -> list[tuple[int, int]]:
        return [(1, dim) if isinstance(dim, int) else dim for dim in self.shape]


_FORTRAN_TYPES = {
    "integer": "integer",
    "real": "real(real64)",
    "logical": "logical",
    "character": "character(len={})",
}
_INITIAL_VALUES = {
    "integer": ("-2147483646", "-2147483645"),
    "real": ("-1.25e300_real64", "-1.5e300_real64"),
    "logical": (".false.", ".true."),
    "character": ("repeat(achar(1), {0})", "repeat(achar(2), {0})"),
}

Groups = Mapping[str, Mapping[str, Declaration]]


def read_back(path: Path, groups: Groups, workdir: Path) -> list[dict[str, Any]]:
    """Read ``path`` as ICON would and return one record for each variable that is set.

    A record is ``{"group": str, "copy": int, "name": str, "values": [{"index": [...], "value": ...}]}``. They
    come in the order of ``groups``, then of copies (from 1), then of variables; ``index`` is empty for a
    scalar. Text loses its trailing blanks, as in Fortran. Raises :class:`ReadbackError` where gfortran stops.

    The program is compiled into ``workdir`` and found there again for the same ``groups``.
    """
    program = _compile(generate_program(groups), workdir)
    passes = [_run(program, path, number) for number in (1, 2)]
    merged: dict[tuple[str, int, str], dict[tuple[int, ...], Any]] = {}
    for record in passes[0] + passes[1]:
        elements = merged.setdefault((record["group"], record["copy"], record["name"]), {})
        elements[tuple(record["index"])] = _decode(record["type"], record["value"])
    order = _order(groups)
    return [
        {"group": key[0], "copy": key[1], "name": key[2], "values": _elements(merged[key])}
        for key in sorted(merged, key=lambda key: (order[key[0], ""], key[1], order[key[0], key[2]]))
    ]


def scalars(records: list[dict[str, Any]], group: str, copy: int = 1) -> dict[str, Any]:
    """The records of one group, shortened: a bare value for a scalar, a list of values for an array."""
    found = (record for record in records if record["group"] == group and record["copy"] == copy)
    return {record["name"]: _shortened(record["values"]) for record in found}


def _shortened(elements: list[dict[str, Any]]) -> Any:
    if elements[0]["index"] == []:
        return elements[0]["value"]
    return [element["value"] for element in elements]


def _elements(values: Mapping[tuple[int, ...], Any]) -> list[dict[str, Any]]:
    in_fortran_order = sorted(values, key=lambda index: index[::-1])  # the first index runs fastest
    return [{"index": list(index), "value": values[index]} for index in in_fortran_order]


def _order(groups: Groups) -> dict[tuple[str, str], int]:
    names = ((group, name) for group, variables in groups.items() for name in ("", *variables))
    return {key: number for number, key in enumerate(names)}


def _decode(kind: str, text: str) -> Any:
    if kind == "character":
        return bytes.fromhex(text).decode("utf-8", "surrogateescape")
    if kind == "logical":
        return text == "T"
    if kind == "integer":
        return int(text)
    return math.nan if text == "NaN" else float(text)


def _compile(source: str, workdir: Path) -> Path:
    name = f"readback_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    program = workdir / name
    if program.exists():
        return program
    workdir.mkdir(parents=True, exist_ok=True)
    (workdir / f"{name}.f90").write_text(source)
    command = ["gfortran", *FLAGS, "-J", str(workdir), "-o", str(program), str(workdir / f"{name}.f90")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"gfortran: exit code {done.returncode}\n{done.stderr}")
    return program


def _run(program: Path, path: Path, number: int) -> list[dict[str, Any]]:
    done = subprocess.run([program, path, str(number)], check=False, capture_output=True, text=True)
    if done.returncode:
        raise ReadbackError(done.stderr.strip())
    return [json.loads(line) for line in done.stdout.splitlines()]


def generate_program(groups: Groups) -> str:
    """The Fortran source; group and variable names must be plain names, not components of derived types."""
    routines = (line for group, variables in groups.items() for line in _routine(group, variables))
    calls = (f"  call readback_of_{group}()" for group in groups)
    head = ["program readback_program", "  use readback_printing", "  implicit none"]
    body = ["  call readback_start()", *calls, "contains", *routines]
    return "\n".join([_MODULE, *head, *body, "end program", ""])


def _routine(group: str, variables: Mapping[str, Declaration]) -> Iterator[str]:
    yield f"  subroutine readback_of_{group}()"
    yield "    integer :: readback_copy, readback_status"
    yield "    character(len=512) :: readback_message"
    yield f"    integer :: {', '.join(f'readback_{k}' for k in range(1, MAX_RANK + 1))}"
    for name, declaration in variables.items():
        yield from _declaration(name, declaration)
    yield f"    namelist /{group}/ {', '.join(variables)}".replace(", ", ", &\n      & ")
    yield "    rewind (readback_unit)"
    yield "    readback_copy = 0"
    yield f"    do while (readback_found('{group}'))"
    yield "      readback_copy = readback_copy + 1"
    for name, declaration in variables.items():
        yield f"      {name} = {_initial(declaration)}"
    yield f"      read (readback_unit, nml={group}, iostat=readback_status, iomsg=readback_message)"
    yield f"      call readback_check('{group}', readback_copy, readback_status, readback_message)"
    for name, declaration in variables.items():
        yield from _printing(group, name, declaration)
    yield "    end do"
    yield "  end subroutine"


def _declaration(name: str, declaration: Declaration) -> Iterator[str]:
    if not name.isidentifier():
        raise ValueError(f"variable {name!r}: expected a plain Fortran name")
    dimensions = ", ".join(f"{low}:{high}" for low, high in declaration.bounds)
    yield f"    {declaration.fortran}, save :: {name}{f'({dimensions})' if dimensions else ''}"


def _initial(declaration: Declaration) -> str:
    first, second = (text.format(declaration.length or 1) for text in _INITIAL_VALUES[declaration.type])
    return f"merge({first}, {second}, readback_pass == 1)"


def _printing(group: str, name: str, declaration: Declaration) -> Iterator[str]:
    indices = [f"readback_{k}" for k in range(1, len(declaration.bounds) + 1)]
    element = f"{name}({', '.join(indices)})" if indices else name
    unequal = ".neqv." if declaration.type == "logical" else "/="
    where = f"'{group}', readback_copy, '{name}', [integer :: {', '.join(indices)}]"
    for index, (low, high) in zip(reversed(indices), reversed(declaration.bounds), strict=True):
        yield f"      do {index} = {low}, {high}"
    yield f"      if ({element} {unequal} {_initial(declaration)}) call readback_print({where}, {element})"
    for _ in indices:
        yield "      end do"


_MODULE = """\
module readback_printing
  use, intrinsic :: iso_fortran_env, only: error_unit, int8, real64
  implicit none
  integer :: readback_unit, readback_pass
  interface readback_print
    procedure print_integer, print_real, print_logical, print_character
  end interface
contains
  subroutine readback_start()
    character(len=4096) :: argument
    call get_command_argument(2, argument)
    read (argument, *) readback_pass
    call get_command_argument(1, argument)
    open (newunit=readback_unit, file=trim(argument), status='old', action='read', recl=1048576)
  end subroutine

  ! To the next header of the group. Looking for it by hand, as ICON does, makes an end of file inside the
  ! group an error; READ alone gives the same status as for "no such group".
  logical function readback_found(group)
    character(*), intent(in) :: group
    character(len=256) :: line
    integer :: at, status
    readback_found = .false.
    do
      read (readback_unit, '(a)', iostat=status) line
      if (status /= 0) return
      at = index(small(line), '&'//group)
      if (at == 0) cycle
      if (index(line(1:at), '!') > 0) cycle
      if (continues_name(line, at + len(group) + 1)) cycle
      readback_found = .true.
      backspace (readback_unit)
      return
    end do
  end function

  pure logical function continues_name(line, at)
    character(*), intent(in) :: line
    integer, intent(in) :: at
    continues_name = .false.
    if (at > len(line)) return
    continues_name = scan(small(line(at:at)), 'abcdefghijklmnopqrstuvwxyz0123456789_') > 0
  end function

  pure function small(text)
    character(*), intent(in) :: text
    character(len=len(text)) :: small
    integer :: i
    small = text
    do i = 1, len(text)
      if (text(i:i) >= 'A' .and. text(i:i) <= 'Z') small(i:i) = achar(iachar(text(i:i)) + 32)
    end do
  end function

  subroutine readback_check(group, copy, status, text)
    character(*), intent(in) :: group, text
    integer, intent(in) :: copy, status
    if (status == 0) return
    write (error_unit, '(3a, i0, 2a)') '&', group, ', copy ', copy, ': ', trim(text)
    stop 2, quiet=.true.
  end subroutine

  subroutine print_head(group, copy, name, indices)
    character(*), intent(in) :: group, name
    integer, intent(in) :: copy, indices(:)
    integer :: i
    write (*, '(3a, i0)', advance='no') '{"group": "', group, '", "copy": ', copy
    write (*, '(3a)', advance='no') ', "name": "', name, '", "index": ['
    do i = 1, size(indices)
      if (i > 1) write (*, '(a)', advance='no') ', '
      write (*, '(i0)', advance='no') indices(i)
    end do
    write (*, '(a)', advance='no') '], '
  end subroutine

  subroutine print_integer(group, copy, name, indices, value)
    character(*), intent(in) :: group, name
    integer, intent(in) :: copy, indices(:), value
    call print_head(group, copy, name, indices)
    write (*, '(a, i0, a)') '"type": "integer", "value": "', value, '"}'
  end subroutine

  subroutine print_real(group, copy, name, indices, value)
    character(*), intent(in) :: group, name
    integer, intent(in) :: copy, indices(:)
    real(real64), intent(in) :: value
    character(len=32) :: digits
    write (digits, '(es25.16e3)') value
    call print_head(group, copy, name, indices)
    write (*, '(3a)') '"type": "real", "value": "', trim(adjustl(digits)), '"}'
  end subroutine

  subroutine print_logical(group, copy, name, indices, value)
    character(*), intent(in) :: group, name
    integer, intent(in) :: copy, indices(:)
    logical, intent(in) :: value
    call print_head(group, copy, name, indices)
    write (*, '(a, l1, a)') '"type": "logical", "value": "', value, '"}'
  end subroutine

  subroutine print_character(group, copy, name, indices, value)
    character(*), intent(in) :: group, name, value
    integer, intent(in) :: copy, indices(:)
    integer :: i
    call print_head(group, copy, name, indices)
    write (*, '(a)', advance='no') '"type": "character", "value": "'
    do i = 1, len_trim(value)
      write (*, '(z2.2)', advance='no') iachar(value(i:i))
    end do
    write (*, '(a)') '"}'
  end subroutine
end module readback_printing
"""
