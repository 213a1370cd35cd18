"""Models and their ranks, in the master namelist as people write it."""

from __future__ import annotations

import pytest
from rows import rows

from nmlgen.checking import check_experiment
from nmlgen.lift.namelists import MASTER_FILE, lift_master
from nmlgen.namelist.registry import load_registry

DATES = ("TIM014", "TIM015", "TIM016")


def model(name="atm", kind=1, file="NAMELIST_atm", **ranks):
    values = {"model_type": kind, "model_name": f'"{name}"', "model_namelist_filename": f'"{file}"'}
    values |= {f"model_{key}": value for key, value in ranks.items()}
    return "&master_model_nml\n" + "".join(f" {key} = {value}\n" for key, value in values.items()) + "/\n"


def lifted(text, tmp_path, ntasks=4):
    (tmp_path / MASTER_FILE).write_text(text, encoding="utf-8")
    return lift_master(tmp_path / MASTER_FILE, load_registry("2024.10"), ntasks)[0]


def findings(text, tmp_path, ntasks=4):
    found = check_experiment(lifted(text, tmp_path, ntasks)).findings
    return [finding for finding in found if finding.code.startswith("MST")]


def codes(text, tmp_path, ntasks=4):
    return [finding.code for finding in findings(text, tmp_path, ntasks)]


def test_no_model(tmp_path):
    (finding,) = findings("&master_nml\n/\n", tmp_path)
    assert (finding.code, finding.span) == ("MST001", None)


@pytest.mark.parametrize(
    "text", [model(name=""), model(name="  "), model(file=""), "&master_model_nml model_type = 1 /\n"]
)
def test_unnamed(text, tmp_path):
    assert set(codes(text, tmp_path)) == {"MST001"}


def test_what_is_not_written_is_found_at_its_group(tmp_path):
    found = findings('&master_nml\n/\n&master_model_nml model_type = 1, model_name = "atm" /\n', tmp_path)
    assert [(finding.code, finding.line) for finding in found] == [("MST001", 3)]


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [((1,), []), ((2,), []), ((4,), ["MST002"]), ((4, 2), []), ((1, 4), ["MST002"]), ((98,), []), ((99,), ["MST003"])],
)
def test_types(kinds, expected, tmp_path):
    text = "".join(
        model(f"m{number}", kind, min_rank=2 * number, max_rank=3 if number == len(kinds) - 1 else 1)
        for number, kind in enumerate(kinds)
    )
    assert codes(text, tmp_path) == expected


@rows(
    ("first", "second", "ntasks", "expected"),
    [
        ((0, 0, 1, 1), (1, 1, 1, 1), 2, []),
        ((0, 0, 1, 1), (2, 2, 1, 1), 3, ["MST004"]),  # rank 1
        ((0, 0, 1, 1), (1, 1, 1, 1), 3, ["MST004"]),  # rank 2
        ((1, 1, 1, 1), (2, 2, 1, 1), 3, ["MST004"]),  # rank 0
        ((0, -1, 1, 1), (0, 3, 1, 1), 4, ["MST004"]),  # the first has none
        ((0, 1, 1, 1), (5, 9, 1, 1), 2, ["MST004"]),  # the second has none
        ((0, 1, 1, 1), (2, 1000, 1, 1), 4, []),  # ranks beyond those of the job do no harm
        ((0, 3, 2, 1), (1, 3, 2, 1), 4, []),  # every second rank
        ((0, 7, 3, 2), (2, 7, 3, 2), 8, []),  # two of every four ranks
        ((-3, 1, 1, 1), (2, 3, 1, 1), 4, []),
        ((-7, 3, 3, 2), (-5, 3, 3, 2), 4, []),
        ((0, 1, 1, 1), (1, 3, 1, 1), 4, ["MST005"]),
        ((0, 1, 1, 1), (0, 3, 1, 1), 4, ["MST004", "MST005"]),
        ((0, 1, 0, 1), (2, 3, 1, 1), 4, ["MST010"]),  # ICON would search for ever
        ((-(2**31), 2**31 - 1, 1, 1), (0, 2**31 - 1, 2**31 - 1, 1), 4, ["MST005"]),
    ],
)
def test_ranks(first, second, ntasks, expected, tmp_path):
    names = ("min_rank", "max_rank", "inc_rank", "rank_group_size")
    text = model("a", **dict(zip(names, first, strict=True))) + model("b", **dict(zip(names, second, strict=True)))
    assert sorted(codes(text, tmp_path, ntasks)) == expected


@pytest.mark.parametrize(
    ("last", "step", "count", "said"),
    [
        (0, 1, 2, "rank 1 of the 2 ranks"),
        (0, 1, 4, "rank 1 to 3 of the 4 ranks"),
        (3, 3, 6, "rank 1 to 2, 4 to 5 of the 6 ranks"),
        (8, 2, 9, "rank 1, 3, 5 and others of the 9 ranks"),
        (6, 2, 7, "rank 1, 3, 5 of the 7 ranks"),
    ],
)
def test_ranks_that_nobody_takes_are_said(last, step, count, said, tmp_path):
    text = model("a", min_rank=0, max_rank=last, inc_rank=step) + model("b", min_rank=0, max_rank=0)
    messages = [finding.message for finding in findings(text, tmp_path, count)]
    assert [message for message in messages if message.startswith("no model")] == [f"no model takes {said}"]


def test_ranks_that_are_not_written(tmp_path):
    first, second = findings(model("a") + model("b"), tmp_path)[:2]
    assert {first.code, second.code} == {"MST004"}
    assert first.span is not None
    assert second.span is not None


def test_one_model_gets_all_ranks(tmp_path):
    assert codes(model(min_rank=5, max_rank=2), tmp_path) == []


def test_unknown_number_of_tasks(tmp_path):
    assert codes(model("a", max_rank=0) + model("b", min_rank=2, max_rank=2), tmp_path, None) == []


@pytest.mark.parametrize("base", [".", "sub", "sub/"])
def test_path_stands_for_the_model_base_directory(base, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / base / "NAMELIST_atm").write_text("&run_nml\n num_lev = 7\n/\n", encoding="utf-8")
    text = f'&master_nml\n model_base_dir = "{base}"\n/\n' + model(file="<path>/NAMELIST_atm")
    one = lifted(text, tmp_path)
    assert one.models[0].missing_file is None
    assert one.components[0]["run_nml", "num_lev"].value == [7]


def test_path_without_a_base_directory(tmp_path):
    (tmp_path / "NAMELIST_atm").write_text("&run_nml\n/\n", encoding="utf-8")
    one = lifted(model(file="<path>NAMELIST_atm"), tmp_path)
    assert one.models[0].missing_file is None
    one = lifted(model(file="<path>NAMELIST_oce"), tmp_path)
    assert one.models[0].missing_file is not None


def times(text, tmp_path, model_text=""):
    (tmp_path / "NAMELIST_atm").write_text(f"&run_nml\n modelTimeStep = 'PT10M'\n{model_text}\n/\n", encoding="utf-8")
    one = lifted(text + model(), tmp_path)
    return [f.code for f in check_experiment(one).findings if f.code in DATES]


START, STOP, LEAD = (
    "experimentStartDate = '2000-01-01'",
    "experimentStopDate = '2000-01-02'",
    "forecastLeadTime = 'P1D'",
)
REFERENCE = "experimentReferenceDate = '2000-01-01'"


@rows(
    ("control", "older", "run", "expected"),
    [
        ([START, STOP], "", "", []),
        ([START, LEAD], "", "", []),
        ([], "", "", ["TIM014"]),
        ([STOP], "", "", ["TIM014"]),
        (["experimentStartDate = '  '", STOP], "", "", ["TIM014"]),
        ([START], "", "", ["TIM015"]),
        ([START], "", "nsteps = 3", ["TIM015"]),
        ([START], "end_datetime_string = '2000-01-02'", "", ["TIM015"]),
        ([STOP], "ini_datetime_string = '2000-01-01'", "", []),
        ([REFERENCE, STOP], "", "", []),
        ([REFERENCE], "", "", ["TIM015"]),
        ([REFERENCE], "dt_restart = 86400.0", "", ["TIM015"]),
        ([REFERENCE], "", "nsteps = 3", []),
        ([REFERENCE, LEAD], "", "", ["TIM015"]),
        ([REFERENCE], "end_datetime_string = '2000-01-02'", "", []),
        ([START, STOP, "calendar = '360 day year'"], "calendar = 1", "", ["TIM016"]),
        ([START, STOP, "calendar = '360 Day Year'"], "calendar = 2", "", []),
        ([START, STOP], "calendar = 0", "", ["TIM016"]),
        ([START, STOP], "calendar = 7", "", []),
    ],
)
def test_dates(control, older, run, expected, tmp_path):
    text = "&master_time_control_nml\n" + "\n".join(control) + "\n/\n"
    text += f"&time_nml\n{older}\n/\n" if older else ""
    assert times(text, tmp_path, run) == expected


@pytest.mark.parametrize(
    ("control", "line"),
    [("&master_time_control_nml\n/\n", 3), ("", 1), ("&master_time_control_nml\n experimentStartDate = ' '\n/\n", 4)],
)
def test_a_date_that_is_missing_is_told_where_it_belongs(control, line, tmp_path):
    (tmp_path / "NAMELIST_atm").write_text("&run_nml\n modelTimeStep = 'PT10M'\n/\n", encoding="utf-8")
    one = lifted(f"&master_nml\n/\n{control}{model()}", tmp_path)
    assert [f.line for f in check_experiment(one).findings if f.code == "TIM014"] == [line]


@pytest.mark.parametrize(
    ("models", "ntasks", "is_told"), [(16, 62_500, True), (16, 62_501, False), (2, 500_001, False)]
)
def test_very_many_ranks_of_many_models_are_not_counted(models, ntasks, is_told, tmp_path):
    text = "".join(
        model(name=f"m{number}", file=f"N{number}", min_rank=number, max_rank=number) for number in range(models)
    )
    assert ("MST004" in codes(text, tmp_path, ntasks)) is is_told
