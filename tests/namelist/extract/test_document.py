"""The registry made from a source tree: small sources that do what ICON's do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rows import rows
from steps import grows_too_fast

from nmlgen.errors import InputError
from nmlgen.namelist.extract import blocks, defaults, tree
from nmlgen.namelist.extract.document import base_release, document_text, make_document
from nmlgen.namelist.extract.readers import Readers
from nmlgen.namelist.extract.tree import SourceTree
from nmlgen.resources import schema

EMPTY: dict[str, Any] = {"release": "2024.10", "groups": {}}

CONSTANTS = """
MODULE mo_constants
  IMPLICIT NONE
  INTEGER, PARAMETER :: sp = SELECTED_REAL_KIND(6,37), dp = SELECTED_REAL_KIND(12,307), i8 = SELECTED_INT_KIND(14)
  INTEGER, PARAMETER :: wp = dp
  INTEGER, PARAMETER :: max_dom = 3
  REAL(wp), PARAMETER :: hour = 60._wp * 60._wp
  CHARACTER(LEN=*), PARAMETER :: word = "abc" // 'd'
  ENUM, BIND(C)
    ENUMERATOR :: first = 4, second
    ENUMERATOR :: third
  END ENUM
END MODULE mo_constants
"""

READER = """
MODULE mo_x_nml
  USE mo_constants, ONLY: wp, sp, i8, n => max_dom, hour, word, second, third
  IMPLICIT NONE
  INTEGER :: initialised = 7
{declarations}
  NAMELIST /x_nml/ {names}
CONTAINS
  SUBROUTINE read_x_namelist(filename)
    CHARACTER(LEN=*), INTENT(IN) :: filename
    INTEGER :: istat, jg
{statements}
    IF (use_restart_namelists()) THEN
      READ(funit, NML=x_nml)
    END IF
    CALL position_nml('x_nml', STATUS=istat)
    SELECT CASE (istat)
    CASE (positioned)
      {names} = 99
      READ (nnml, x_nml)
    END SELECT
    {names} = 98
  END SUBROUTINE read_x_namelist
END MODULE mo_x_nml
"""

HUB = """
MODULE mo_read_namelists
CONTAINS
  SUBROUTINE read_atmo_namelists(filename)
    SELECT CASE (iforcing)
    CASE (2, 5)
      CALL read_x_namelist(filename)
    CASE (3)
      CALL read_y_namelist(filename)
      CALL read_x_namelist(filename)
    END SELECT
    CALL read_run_namelist(filename)
  END SUBROUTINE
  SUBROUTINE read_ocean_namelists(filename)
    CALL read_run_namelist(filename)
  END SUBROUTINE
END MODULE
"""


def make(tmp_path: Path, base: dict[str, Any] | None = None, **files: str) -> dict[str, Any]:
    for name, text in {"mo_constants": CONSTANTS, **files}.items():
        path = tmp_path / "src" / f"{name}.f90"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    document = make_document(SourceTree(tmp_path), "2025.04", base or EMPTY)
    assert [error.message for error in Draft202012Validator(schema("registry")).iter_errors(document)] == []
    assert json.loads(document_text(document)) == document
    return document


def variable(tmp_path: Path, declaration: str, statements: str = "") -> Any:
    text = READER.format(declarations=declaration, names="x", statements=statements)
    return make(tmp_path, mo_x_nml=text)["groups"]["x_nml"]["variables"]["x"]


@rows(
    ("declaration", "expected"),
    [
        ("INTEGER :: x", {"type": "integer"}),
        ("INTEGER(i8) :: x", {"type": "integer", "bytes": 8}),
        ("INTEGER*2 :: x", {"type": "integer", "bytes": 2}),
        ("REAL*16 :: x", {"type": "real", "bytes": 16}),
        ("CHARACTER(len=0) :: x", {"type": "character"}),
        ("REAL(wp) :: x", {"type": "real"}),
        ("REAL(KIND=sp) :: x", {"type": "real", "bytes": 4}),
        ("DOUBLE PRECISION x", {"type": "real"}),
        ("LOGICAL :: x", {"type": "logical"}),
        ("CHARACTER(LEN=2*n) :: x", {"type": "character", "length": 6}),
        ("CHARACTER*12 x", {"type": "character", "length": 12}),
        ("CHARACTER :: x*5", {"type": "character", "length": 5}),
        ("INTEGER, DIMENSION(n) :: x", {"type": "integer", "shape": [3]}),
        ("REAL(wp) :: y, x(0:n, 2)", {"type": "real", "shape": [[0, 3], 2]}),
        ("REAL(wp), ALLOCATABLE :: x(:)", {"type": "real", "shape": None}),
    ],
)
def test_types(tmp_path, declaration, expected):
    assert variable(tmp_path, declaration) == {**expected, "default_status": "unset"}


@rows(
    ("declaration", "statements", "expected"),
    [
        ("INTEGER :: x = 3", "", 3),
        ("INTEGER :: x = 3", "x = 4", 4),
        ("REAL(wp) :: x", "x = 2", 2.0),
        ("REAL(wp) :: x", "x = 2*hour + 1.e-3_wp", 7200.001),
        ("REAL(wp) :: x", "x = SQRT(4.d0)/3", 0.666666666667),
        ("INTEGER :: x", "x = 7/2", 3),
        ("INTEGER :: x", "x = -2**2", -4),
        ("INTEGER :: x", "x = third + second", 11),
        ("INTEGER :: x", "x = initialised", 7),
        ("LOGICAL :: x", "x = .NOT. (1 > 2 .OR. .FALSE.)", True),
        ("CHARACTER(LEN=9) :: x", "x = TRIM(word)//' It''s '", "abcd It's"),
        ("INTEGER :: x(n)", "x = 5", 5),
        ("INTEGER :: x(n)", "x(:) = 1; x(1) = 2", {"set": {"1": 2}, "fill": 1}),
        ("INTEGER :: x(n)", "x = (/ 1, 2, 2 /)", {"set": {"1": 1}, "fill": 2}),
        ("INTEGER :: x(n)", "x = [(10*jg, jg = 1, n)]", {"set": {"1": 10, "2": 20, "3": 30}}),
        ("INTEGER :: x(n)", "DO jg = 1, n; x(jg) = 6; END DO", 6),
        ("INTEGER :: x(n)", "x(1:2) = 8", {"set": {"1": 8, "2": 8}}),
        ("INTEGER :: x(2,2)", "x(:,:) = 0; x(2,1) = 3", {"set": {"2,1": 3}, "fill": 0}),
        ("INTEGER :: x", "IF (n > 2) THEN; x = 1; ELSE; x = 2; END IF", 1),
        ("INTEGER :: x", "IF (n > 5) x = 1; x = 4", 4),
        ("INTEGER :: x", "SELECT CASE (n); CASE (1); x = 1; CASE (2, 3); x = 2; CASE DEFAULT; x = 0; END SELECT", 2),
    ],
)
def test_defaults(tmp_path, declaration, statements, expected):
    found = variable(tmp_path, declaration, statements)
    assert found["default"] == expected
    assert type(found["default"]) is type(expected)


@pytest.mark.parametrize(
    "statements",
    [
        "x = runtime()",
        "x = 1; IF (lrestart) x = 2",
        "x = 1; IF (lrestart) THEN; x = 2; ELSE; x = 3; END IF",
        "x = dtime",
        "x = 1e400",
        "x = -1e400",
        "x = 1e400 - 1e400",
        "x = 2**200",  # as 10**10**10, for which there is no time
        "x = LEN_TRIM(REPEAT('a', 10**6))",
        "x = MAX((/ ((1, jg = 1, 1000), ig = 1, 1000) /))",
    ],
)
def test_defaults_that_the_running_model_decides(tmp_path, statements):
    assert variable(tmp_path, "INTEGER :: x", statements) == {"type": "integer", "default_status": "computed"}


def test_defaults_from_procedures(tmp_path):
    module = """
    MODULE mo_x_nml
      USE mo_config, ONLY: config, init
      NAMELIST /x_nml/ config
    CONTAINS
      SUBROUTINE nml_read(funit)
        READ(funit, NML=x_nml)
      END SUBROUTINE nml_read
      SUBROUTINE process_x_nml(filename)
        CALL init(config(:))
        CALL process_nml(filename, 'x_nml', nml_read)
        config(:)% a = 99
      END SUBROUTINE process_x_nml
    END MODULE
    """
    config = """
    MODULE mo_config
      USE mo_constants
      TYPE, EXTENDS(t_base) :: t_config
        REAL(wp) :: a
        INTEGER  :: b(2) = 4
        LOGICAL  :: c
      CONTAINS
        PROCEDURE :: show
      END TYPE t_config
      TYPE t_base
        CHARACTER(LEN=8) :: name = 'none'
      END TYPE
      TYPE(t_config), TARGET :: config(max_dom)
    CONTAINS
      SUBROUTINE init(self)
        TYPE(t_config), INTENT(INOUT) :: self(:)
        self(:)% a = hour
        CALL deeper
      END SUBROUTINE init
      SUBROUTINE deeper()
        INTEGER :: jg
        DO jg = 1, max_dom
          config(jg)%c = jg > 0
        END DO
      END SUBROUTINE
    END MODULE
    """
    group = make(tmp_path, mo_x_nml=module, mo_config=config)["groups"]["x_nml"]
    base = [{"name": "config", "shape": [3]}]
    assert group["variables"] == {
        "config%name": {"type": "character", "length": 8, "base_shape": base, "default": "none"},
        "config%a": {"type": "real", "base_shape": base, "default": 3600.0},
        "config%b": {"type": "integer", "shape": [2], "base_shape": base, "default": 4},
        "config%c": {"type": "logical", "base_shape": base, "default": True},
    }


def test_groups_that_are_read_in_a_loop(tmp_path):
    module = """
    MODULE mo_x_nml
      INTEGER :: x
      NAMELIST /x_nml/ x
    CONTAINS
      SUBROUTINE read_x_namelist(filename)
        DO
          CALL position_nml('x_nml', lrewind=.FALSE., status=istat)
          IF (istat /= positioned) EXIT
          x = 12
          READ (nnml, x_nml)
        END DO
      END SUBROUTINE
    END MODULE
    """
    group = make(tmp_path, mo_x_nml=module)["groups"]["x_nml"]
    assert group["repeatable"] is True
    assert group["variables"]["x"]["default"] == 12


def reader(name: str, names: str = "x") -> str:
    text = READER.format(declarations=f"  INTEGER :: {names}", names=names, statements="")
    return text.replace("x_nml", f"{name}_nml").replace("read_x_", f"read_{name}_")


def test_who_reads_what(tmp_path):
    files = {"mo_x_nml": reader("x", "xx"), "mo_y_nml": reader("y", "yy"), "mo_dead_nml": reader("dead", "dd")}
    groups = make(tmp_path, mo_run_nml=reader("run", "iforcing"), mo_read_namelists=HUB, **files)["groups"]
    assert {name: {key: group.get(key) for key in ("readers", "when", "read")} for name, group in groups.items()} == {
        "x_nml": {"readers": None, "when": {"variable": "run_nml.iforcing", "one_of": [2, 3, 5]}, "read": None},
        "y_nml": {"readers": None, "when": {"variable": "run_nml.iforcing", "one_of": [3]}, "read": None},
        "run_nml": {"readers": ["atmosphere", "ocean"], "when": None, "read": None},
        "dead_nml": {"readers": None, "when": None, "read": False},
    }
    assert groups["x_nml"]["source"] == "src/mo_x_nml.f90"


def test_what_is_taken_over(tmp_path):
    check = {"effect": "abort", "source": "src/mo_x_nml.f90:5"}
    base = {
        "release": "2024.10",
        "groups": {
            "x_nml": {
                "component": "atmosphere",
                "variables": {
                    "a": {"type": "integer", "default": 1, "allowed": [1, 2], "check": check, "unit": "m"},
                    "b": {"type": "real", "default": 1.0, "range": {"min": 0}, "check": check},
                    "c": {"type": "integer", "default": 1, "allowed": [1], "check": check},
                    "gone": {"type": "integer", "default": 1},
                },
            },
            "old_nml": {"component": "atmosphere", "variables": {}},
        },
        "removed": {"groups": {"older_nml": {"release": "2024.01"}}, "variables": {}},
    }
    text = READER.format(declarations="INTEGER :: a, b, c", names="a, b, c", statements="a = 2; b = -1; c = 3")
    document = make(tmp_path, base, mo_x_nml=text.replace("a, b, c = 99", "").replace("a, b, c = 98", ""))
    assert document["groups"]["x_nml"]["variables"] == {
        "a": {
            "type": "integer",
            "default": 2,
            "allowed": [1, 2],
            "check": {"effect": "abort", "source": "2024.10: src/mo_x_nml.f90:5"},
            "unit": "m",
        },
        "b": {"type": "integer", "default": -1},  # of another type
        "c": {"type": "integer", "default": 3},  # ICON would refuse its own default
    }
    assert document["removed"] == {
        "groups": {"old_nml": {"release": "2025.04"}, "older_nml": {"release": "2024.01"}},
        "variables": {"x_nml": {"gone": {"release": "2025.04"}}},
    }


def test_variable_that_is_declared_nowhere(tmp_path):
    text = READER.format(declarations="", names="x", statements="")
    group = make(tmp_path, mo_x_nml=text)["groups"]["x_nml"]
    assert group["variables"]["x"] == {"type": "unknown", "shape": None, "default_status": "unresolved"}


@pytest.mark.parametrize(
    "text",
    ["", "END\nEND MODULE\nEND IF", "NAMELIST /x/", "MODULE m\nNAMELIST /x/ a, b(\nTYPE t\nINTEGER ((\n", "x = ((("],
)
def test_sources_that_are_no_fortran(tmp_path, text):
    make(tmp_path, broken=text, mo_x_nml=reader("x"))


def test_trees_that_are_none(tmp_path):
    with pytest.raises(InputError, match="is no directory"):
        SourceTree(tmp_path / "none")
    with pytest.raises(InputError, match="holds no Fortran file with a NAMELIST statement"):
        SourceTree(tmp_path)


_DECLARED = "MODULE m\nINTEGER :: x\nNAMELIST /x_nml/ x\nCONTAINS\n"
_READS = "READ (n, x_nml)\nEND SUBROUTINE\n"


_DEEP = {
    "units without an end": _DECLARED + "".join(f"SUBROUTINE r{n}\nREAD (n, x_nml)\n" for n in range(1500)),
    "many signs": _DECLARED.replace(":: x", ":: x = " + "+" * 2000 + "1") + "SUBROUTINE r\n" + _READS,
    "a long sum": _DECLARED + f"SUBROUTINE r\nx = {'1 + ' * 5000}1\n" + _READS,
    "parentheses": _DECLARED + f"SUBROUTINE r\nx = {'(' * 5000}1{')' * 5000}\n" + _READS,
    "parentheses of the preprocessor": f"#if {'(' * 5000}\n#endif\n{_DECLARED}SUBROUTINE r\n{_READS}",
    "modules that use each other": "MODULE m\nUSE n, ONLY: x\nNAMELIST /x_nml/ x\nCONTAINS\nSUBROUTINE r\n"
    + _READS
    + "END MODULE\nMODULE n\nUSE m, ONLY: x\nEND MODULE\n",
    "modules in a row": _DECLARED.replace("INTEGER", "USE m0\nINTEGER").replace(":: x", ":: x = y")
    + f"SUBROUTINE r\n{_READS}END MODULE\n"
    + "".join(f"MODULE m{n}\nUSE m{n + 1}\nEND MODULE\n" for n in range(1500)),
}


@rows("what", _DEEP)
def test_sources_that_go_deep(tmp_path, what):
    (tmp_path / "a.f90").write_text(_DEEP[what])
    assert "x_nml" in make_document(SourceTree(tmp_path), "2025.04", EMPTY)["groups"]


_REFUSED = {
    "blocks": (
        _DECLARED + "SUBROUTINE r\n" + "IF (x > 1) THEN\n" * 2000 + _READS,
        "a block stands within 50 others",
    ),
    "groups": (_DECLARED + "".join(f"NAMELIST /g{n}/ x\n" for n in range(1001)), "more than 1000 NAMELIST"),
    "loops": (
        _DECLARED + "SUBROUTINE r\n" + "DO i = 1, 2000\n" * 3 + "x = i\n" + "END DO\n" * 3 + _READS,
        "takes more than 100000 steps",
    ),
    "loops of nothing": (
        _DECLARED + "SUBROUTINE r\n" + "DO i = 1, 2000\n" * 3 + "END DO\n" * 3 + _READS,
        "takes more than 100000 steps",
    ),
    "elements": (
        _DECLARED + "SUBROUTINE r\nINTEGER :: y(2000)\n" + "y(1:1999) = 1\n" * 500 + _READS,
        "takes more than 100000 steps",
    ),
    "conditions in loops": (
        _DECLARED + f"SUBROUTINE r\nDO i = 1, 2000\nIF (MAX({'1,' * 50_000}1) > 0) THEN\nEND IF\nEND DO\n" + _READS,
        "takes more than",
    ),
    "bounds of loops": (
        _DECLARED + f"SUBROUTINE r\nDO i = 1, 2000\nDO j = 1, MIN({'1,' * 50_000}1)\nEND DO\nEND DO\n" + _READS,
        "takes more than",
    ),
    "values of lists": (
        _DECLARED.replace(":: x", ":: x(99999)") + "SUBROUTINE r\n" + "x = (/ (1, i=1,99999) /)\n" * 20 + _READS,
        "takes more than 1000000 parts of expressions",
    ),
    "lists that are declared": (
        _DECLARED.replace(
            ":: x\n", f":: {', '.join(f'x{n}(99999) = (/ (i, i=1,99999) /)' for n in range(20))}\n"
        ).replace("/ x\n", f"/ {', '.join(f'x{n}' for n in range(20))}\n")
        + "SUBROUTINE r\n"
        + _READS,
        "takes more than 1000000 parts of expressions",
    ),
    "lengths": (
        _DECLARED.replace("INTEGER", f"CHARACTER(LEN=MAX({'1,' * 30_000}1))").replace(
            " x\n", f" {', '.join(f'x{n}' for n in range(200))}\n"
        )
        + "SUBROUTINE r\n"
        + _READS,
        "takes more than 1000000 parts of expressions",
    ),
    "variables of other groups": (
        _DECLARED.replace("CONTAINS", f"NAMELIST /y_nml/ {', '.join(f'y{n}' for n in range(1000))}\nCONTAINS")
        + "SUBROUTINE r\n"
        + "READ (n, y_nml)\n" * 200
        + _READS,
        "takes more than 100000 steps",
    ),
    "what is included": (_DECLARED + "INCLUDE 'b.inc'\n" * 5000, "with what it includes, is larger than 4 MiB"),
}


@rows("what", _REFUSED)
def test_sources_that_are_refused(tmp_path, what):
    text, message = _REFUSED[what]
    (tmp_path / "a.f90").write_text(text)
    (tmp_path / "b.inc").write_text("x = 1\n" * 1000)
    with pytest.raises(InputError, match=message):
        make_document(SourceTree(tmp_path), "2025.04", EMPTY)


def test_a_component_is_looked_up_by_its_name(tmp_path, monkeypatch):
    gone_through, components = [], defaults.components
    monkeypatch.setattr(defaults, "components", lambda *asked: gone_through.append(asked) or components(*asked))
    parts, set_ = ("".join(f"{form.format(n)}\n" for n in range(30)) for form in ("INTEGER :: c{}", "y%c{0} = {0}"))
    text = f"MODULE m\nTYPE t\n{parts}END TYPE\nTYPE(t) :: y\nNAMELIST /x_nml/ y\nCONTAINS\nSUBROUTINE r\n{set_}"
    (tmp_path / "a.f90").write_text(text + _READS)
    made = make_document(SourceTree(tmp_path), "2025.04", EMPTY)["groups"]["x_nml"]["variables"]
    assert made["y%c7"]["default"] == 7
    assert not gone_through


def test_base_release():
    known = ("2024.01", "2024.07", "2024.10")
    assert [base_release(release, known) for release in ("2025.04", "2024.10", "2024.08", "2023.01")] == [
        "2024.10",
        "2024.10",
        "2024.07",
        "2024.01",
    ]


def test_calls_of_each_other_are_followed_once(tmp_path, monkeypatch):
    """Twelve procedures, each of which calls all of them thirty times."""
    looked = 0
    above = Readers._above

    def counted(*arguments: Any) -> Any:
        nonlocal looked
        looked += 1
        return above(*arguments)

    monkeypatch.setattr(Readers, "_above", counted)
    names = ["read_x_namelist", *(f"sub{number}" for number in range(11))]
    calls = "\n".join(f"CALL {name}" for name in names) + "\n"
    more = "".join(f"SUBROUTINE {name}\n{calls * 30}END SUBROUTINE {name}\n" for name in names[1:])
    text = READER.format(declarations="INTEGER :: a", names="a", statements=calls).replace(
        "END MODULE mo_x_nml", f"{more}END MODULE mo_x_nml"
    )
    made = make(tmp_path, mo_x_nml=text)
    assert "x_nml" in made["groups"]
    assert looked < 600


def procedures(number: int) -> str:
    """A module with so many procedures that each read a group, and one that calls them all."""
    names = "".join(f"INTEGER :: a{at}\n" for at in range(number))
    each = "".join(
        f"SUBROUTINE read_{at}(filename)\nNAMELIST /g{at}_nml/ a{at}\nREAD(nnml, g{at}_nml)\nEND SUBROUTINE\n"
        for at in range(number)
    )
    calls = "".join(f"CALL read_{at}(filename)\n" for at in range(number))
    return f"MODULE mo_x\n{names}CONTAINS\n{each}SUBROUTINE up(filename)\n{calls}END SUBROUTINE\nEND MODULE\n"


def one_procedure(number: int) -> str:
    """A procedure that reads so many groups."""
    names = "".join(f"INTEGER :: a{at}\n" for at in range(number))
    groups = "".join(f"NAMELIST /g{at}_nml/ a{at}\n" for at in range(number))
    reads = "".join(f"READ(nnml, g{at}_nml)\n" for at in range(number))
    others = "b = c\n" * number
    body = f"{groups}{reads}{others}"
    return f"MODULE mo_x\n{names}CONTAINS\nSUBROUTINE read_x(filename)\n{body}END SUBROUTINE\nEND MODULE\n"


def test_procedures_and_groups(tmp_path):
    def work(number: int):
        place = tmp_path / str(number)
        (place / "src").mkdir(parents=True)
        (place / "src" / "mo_x.f90").write_text(procedures(number))
        return lambda: make_document(SourceTree(place), "2025.04", EMPTY)

    assert not grows_too_fast(work, 120)


def test_what_a_procedure_executes_is_put_into_blocks_once(tmp_path, monkeypatch):
    made: list[int] = []
    nested = blocks.nested
    monkeypatch.setattr(blocks, "nested", lambda statements: made.append(len(statements)) or nested(statements))
    groups = make(tmp_path, mo_x=one_procedure(30))["groups"]
    assert len(groups) == 30
    assert made == [60]


def test_types_within_types_multiply_up_to_an_end(tmp_path):
    types = "".join(
        f"TYPE t{depth}\n" + "".join(f"TYPE(t{depth + 1}) :: a{at}\n" for at in range(60)) + "END TYPE\n"
        for depth in (1, 2, 3)
    )
    last = "TYPE t4\nINTEGER :: a\nEND TYPE\n"
    text = f"MODULE mo_x\n{types}{last}TYPE(t1) :: v\nCONTAINS\nSUBROUTINE read_x()\nNAMELIST /g_nml/ v\n"
    with pytest.raises(InputError, match="takes more than 100000 steps"):
        make(tmp_path, mo_x=f"{text}READ(nnml, g_nml)\nEND SUBROUTINE\nEND MODULE\n")


def test_modules_that_use_each_other_are_looked_through_up_to_an_end(tmp_path, monkeypatch):
    text = "".join(f"MODULE m{at}\nUSE m{at + 1}\nINTEGER :: a{at}\nEND MODULE\n" for at in range(50))
    names = ", ".join(f"a{at}" for at in range(50))
    reading = f"USE m0\nCONTAINS\nSUBROUTINE read_x()\nNAMELIST /g_nml/ {names}\nREAD(nnml, g_nml)\nEND SUBROUTINE\n"
    text += f"MODULE mo_x\n{reading}END MODULE\n"
    variables = make(tmp_path, mo_x=text)["groups"]["g_nml"]["variables"]
    assert [entry["type"] for entry in variables.values()] == ["integer"] * 50
    monkeypatch.setattr(tree, "_MOST_LOOKED_INTO", 100)
    with pytest.raises(InputError, match="very many modules that use each other"):
        make(tmp_path, mo_x=text)


_ODD = {  # the declaration of x, a statement, and what is known of it
    "a character beyond all": ("CHARACTER :: x = CHAR(55296)", "", {"default_status": "computed"}),
    "a kind of a text": ("INTEGER(KIND=SELECTED_INT_KIND('a')) :: x = SELECTED_INT_KIND((/1, 2/))", "", {}),
    "more elements than a range has": ("INTEGER :: x(3, 3)", "x(-9223372036854775807:9223372036854775807, 1) = 0", {}),
    "bounds beyond all": ("INTEGER :: x(-9223372036854775807:9223372036854775807, 2)", "x(:, 1) = 0", {}),
    "a copy of a large array": ("INTEGER :: y(900000000), x(900000000)", "y = 0\ny(1) = 5\nx = y", {}),
    "many elements": (
        "INTEGER :: x(50000) = (/ (i, i=1,50000) /)",
        "",
        {"default": {"set": {str(n): n for n in range(1, 50001)}}},
    ),
}


@rows("what", _ODD)
def test_values_that_no_variable_has(tmp_path, what):
    declared, statement, known = _ODD[what]
    text = f"MODULE m\n{declared}\nNAMELIST /x_nml/ x\nCONTAINS\nSUBROUTINE r\n{statement}\n{_READS}END MODULE\n"
    document = make(tmp_path, mo_x=text)
    document_text(document).encode()
    entry = document["groups"]["x_nml"]["variables"]["x"]
    assert {key: entry[key] for key in known} == known


_CASES = {
    "a number and a text": ("CASE (1)\nCALL r\nCASE ('a')\nCALL r\n", [1, "a"]),
    "a list": ("CASE ((/ 1, 2 /))\nCALL r\nCASE (3)\nCALL r\n", None),
    "more than any condition has": ("".join(f"CASE ({n})\nCALL r\n" for n in range(101)), None),
}


@rows("what", _CASES)
def test_cases_in_which_a_group_is_read(tmp_path, what):
    cases, values = _CASES[what]
    hub = f"SUBROUTINE read_atmo_namelists\nSELECT CASE (x)\n{cases}END SELECT\nEND SUBROUTINE\n"
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.f90").write_text(f"{_DECLARED}SUBROUTINE r\n{_READS}{hub}END MODULE\n")
    when = make_document(SourceTree(tmp_path), "2025.04", EMPTY)["groups"]["x_nml"].get("when")
    assert when == (None if values is None else {"variable": "x_nml.x", "one_of": values})


def _joined(number: int, form: str, between: str = "\n") -> str:
    return between.join(form.format(at) for at in range(number))


def _called_on_conditions(number: int) -> str:
    """A procedure that another calls on many conditions, which a third calls on as many."""
    names = _joined(number, "a{}", ", ")
    calls = "SUBROUTINE {}\n" + _joined(number, "IF (a{0}) CALL {{}}") + "\nEND SUBROUTINE\n"
    return (
        f"MODULE m\nLOGICAL :: {names}\nNAMELIST /x_nml/ {names}\nCONTAINS\nSUBROUTINE r\n{_READS}"
        + calls.replace("{}", "up", 1).replace("{}", "r")
        + calls.replace("{}", "read_atmo_namelists", 1).replace("{}", "up")
    )


_MANY: dict[str, Any] = {
    "a module once more": lambda number: (
        "MODULE a\nEND MODULE\n" * number
        + f"MODULE m\n{_joined(number, 'USE a, ONLY: x{}')}\nNAMELIST /x_nml/ {_joined(number, 'x{}', ', ')}\n"
        + f"CONTAINS\nSUBROUTINE r\n{_READS}"
    ),
    "groups beside procedures": lambda number: (
        f"MODULE m\nINTEGER :: a\n{_joined(number, 'NAMELIST /g{}/ a')}\nCONTAINS\n"
        + _joined(number, "SUBROUTINE s{}\nEND SUBROUTINE")
        + "\nEND MODULE\n"
    ),
    "conditions": _called_on_conditions,
    "components of an array": lambda number: (
        f"MODULE m\nTYPE t\n{_joined(number, 'INTEGER :: a{}')}\nEND TYPE\nTYPE(t) :: x(MAX({'1,' * number}1))\n"
        + f"NAMELIST /x_nml/ x\nCONTAINS\nSUBROUTINE r\n{_READS}"
    ),
}


@rows("what", _MANY)
def test_many_of_two_things(tmp_path, what):
    def work(number: int):
        place = tmp_path / str(number) / "src"
        place.mkdir(parents=True)
        (place / "mo_x.f90").write_text(_MANY[what](number))
        return lambda: make_document(SourceTree(place.parent), "2025.04", EMPTY)

    assert not grows_too_fast(work, 100)
