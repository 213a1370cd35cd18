"""Values of every type, written by nmlgen and read back by a Fortran runtime."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tools import require

from nmlgen.experiment.group import Group
from nmlgen.experiment.setting import written
from nmlgen.render.namelists import write_groups

from .readback import Declaration, read_back

DECLARED = {
    "t_nml": {
        "i": Declaration("integer", None, ()),
        "ia": Declaration("integer", None, (500,)),
        "r": Declaration("real", None, ()),
        "ra": Declaration("real", None, (300,)),
        "l": Declaration("logical", None, ()),
        "la": Declaration("logical", None, (300,)),
        "s": Declaration("character", 2000, ()),
        "sa": Declaration("character", 256, (999,)),
    }
}
INTEGERS = st.integers(-(2**31) + 3, 2**31 - 1)
REALS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=40).filter(
    lambda text: text == text.rstrip(" ")
)
ODD_TEXTS = (
    "it's",
    'say "hi"',
    "''",
    "a, b / c &end !",
    "$HOME `x` $(touch x)",
    "ünïcode – ☃",
    "/",
    "&t_nml",
    " leading",
    "back\\slash",
    "x" * 1990,
    "2*'a'",
)


def read(values: dict[str, object], tmp_path) -> dict[str, list[object]]:
    group = Group("t_nml", {name: written(f"t_nml.{name}", value, "test") for name, value in values.items()})
    path = tmp_path / "namelist"
    path.write_text(write_groups((group,)), encoding="utf-8")
    records = read_back(path, DECLARED, tmp_path)
    return {record["name"]: [element["value"] for element in record["values"]] for record in records}


@pytest.fixture(autouse=True)
def gfortran():
    require("gfortran")


def test_texts(tmp_path):
    for text in ODD_TEXTS:
        assert read({"s": text}, tmp_path) == {"s": [text]}
    assert read({"sa": [text[:200] for text in ODD_TEXTS] * 80}, tmp_path) == {
        "sa": [text[:200] for text in ODD_TEXTS] * 80
    }


def test_long_lists(tmp_path):
    values = {"ia": list(range(-250, 250)), "ra": [n / 7 for n in range(300)], "la": [n % 3 == 0 for n in range(300)]}
    assert read(values, tmp_path) == values


def test_extremes(tmp_path):
    reals = [0.0, -0.0, 5e-324, 1.7976931348623157e308, -1e-300, 1e22, 0.1, 1 / 3]
    assert read({"ra": reals, "i": 2**31 - 1, "l": True}, tmp_path) == {"ra": reals, "i": [2**31 - 1], "l": [True]}


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    i=INTEGERS,
    ra=st.lists(REALS, min_size=1, max_size=30),
    la=st.lists(st.booleans(), min_size=1, max_size=30),
    s=TEXTS,
    sa=st.lists(TEXTS, min_size=1, max_size=20),
)
def test_anything(tmp_path, i, ra, la, s, sa):
    values = {"i": i, "ra": ra, "la": la, "s": s, "sa": sa}
    expected = {name: value if isinstance(value, list) else [value] for name, value in values.items()}
    assert read(values, tmp_path) == expected
