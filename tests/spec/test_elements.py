"""Elements of arrays that a spec sets by their subscripts."""

from __future__ import annotations

import pytest
from specs import load


def written(**changes):
    (component,) = load(**changes).experiment.components
    return component, {key: s.value for group in component.model.namelist for key, s in group.settings.items()}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"num_lev(2)": 20}, {"num_lev": [30, 20]}),  # grid.num_lev is 30
        ({"num_lev(1)": 40, "num_lev(2)": 20}, {"num_lev": [40, 20]}),
        ({"num_lev(2)": [20, 10], "num_lev(4)": 5}, {"num_lev": [30, 20, 10, 5]}),
        ({"num_lev(3)": 20}, {"num_lev": 30, "num_lev(3)": 20}),  # nobody says the second
        ({"num_lev(3)": 20, "num_lev(2)": 21}, {"num_lev": [30, 21, 20]}),
        ({"num_lev(2:3)": 20}, {"num_lev": 30, "num_lev(2:3)": 20}),
        ({"nsteps(1)": 20}, {"nsteps(1)": 20}),  # is no array, which a rule says
        ({"lvert_nest(1)": True}, {"lvert_nest(1)": True}),
    ],
)
def test_they_become_one_list(given, expected):
    _, found = written(namelists={"run_nml": given})
    names = {key.partition("(")[0] for key in given}
    assert {key: value for key, value in found.items() if key.partition("(")[0] in names} == expected


def test_a_stream_whose_variables_are_named_one_by_one_names_some():
    stream = {"output_interval": "PT1H", "file_interval": "P1D", "ml_varlist(1)": "u", "ml_varlist(2)": ["v", "w"]}
    component, _ = written(output={"one": stream})
    (own,) = [stream for stream in component.streams if stream.title == "one"]
    setting = component.stream_setting(own, "ml_varlist")
    assert setting.value == ["u", "v", "w"]
    assert [origin.value for origin in setting.origin.elements] == ["u", ["v", "w"], ["v", "w"]]


def test_a_list_of_very_many_elements():
    given = {f"num_lev({number})": number for number in range(2, 2000)}
    _, found = written(namelists={"run_nml": given})
    assert found["num_lev"] == [30, *range(2, 2000)]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"dt_conv(2)": 5.0, "dt_conv": [1.0, 2.0]}, [1.0, 2.0]),
        ({"dt_conv": [1.0, 2.0], "dt_conv(2)": 5.0}, [1.0, 5.0]),
        ({"dt_conv(3)": 5.0, "dt_conv": [1.0, 2.0]}, [1.0, 2.0, 5.0]),
        ({"dt_conv(2)": [5.0, 6.0], "dt_conv": [1.0, 2.0]}, [1.0, 2.0, 6.0]),
    ],
)
def test_of_an_array_and_its_elements_that_counts_which_comes_last(given, expected):
    _, found = written(namelists={"nwp_phy_nml": given})
    assert {key: value for key, value in found.items() if key.startswith("dt_conv")} == {"dt_conv": expected}
