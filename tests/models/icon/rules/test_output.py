"""How the rules about output streams judge what their documentation does not show."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve
from rows import rows
from rules.experiments import experiment_of, judge
from rules.test_examples import check

from nmlgen.findings import Severity
from nmlgen.models.icon.ranks import PlacementError, placement
from nmlgen.models.icon.rules.output_streams import NoSuchDomain, OutputKeywords
from nmlgen.namelist.registry import Registry
from nmlgen.rules import all_rules

RULES = [rule for rule in all_rules() if rule.code.startswith("OUT")]


def found(text: str, tmp_path) -> list:
    return [finding for finding in check(text, tmp_path).findings if finding.code.startswith("OUT")]


def ours(text: str, tmp_path) -> list[str]:
    return [finding.code for finding in found(text, tmp_path)]


def streams(*contents: str, ranks: int) -> str:
    """A spec with the base's stream `atm` in one partition and further streams beside it."""
    lines = [f"parallel: {{num_io_procs: {ranks}}}", "output:", "  atm: {stream_partitions_ml: 1}"]
    for number, content in enumerate(contents):
        lines.append(f"  s{number}: {{output_interval: PT1H, file_interval: P1D, {content}}}")
    return "\n".join(lines) + "\n"


ML = "ml_varlist: [temp]"
PL = "pl_varlist: [temp], p_levels: [50000.0]"


@rows(
    ("contents", "ranks", "expected"),
    [
        ([], 1, []),
        ([], 2, ["OUT001"]),
        ([ML], 2, []),
        ([ML], 1, []),
        ([ML], 3, ["OUT002"]),
        ([ML, ML], 2, []),  # 3 files, but 0.5 GB an hour to each rank
        ([ML, f"{ML}, {PL}"], 4, []),
        ([ML, f"{ML}, {PL}"], 3, []),
        ([ML, f"{ML}, {PL}"], 2, []),
        ([f"{ML}, stream_partitions_ml: 3"], 4, []),
        ([f"{ML}, stream_partitions_ml: 3"], 5, ["OUT002"]),
        ([f"{ML}, pe_placement_ml: 0"], 2, []),
        ([f"{ML}, pe_placement_ml: 0", ML, ML], 2, []),
        ([f"{ML}, pe_placement_ml: 0", f"{ML}, pe_placement_ml: 0"], 3, ["OUT002"]),
        ([f"{ML}, pe_placement_ml: 2"], 2, ["OUT015"]),
        ([f"{ML}, pe_placement_ml: -2"], 2, ["OUT015"]),
        ([f"{ML}, pe_placement_ml: 0", f"{ML}, pe_placement_ml: 1"], 2, ["OUT015"]),
        ([f"{ML}, pe_placement_ml: 0"], 1, ["OUT015"]),
        ([f"{ML}, pe_placement_ml: 1"], 0, ["OUT004", "OUT015"]),
        ([f"{ML}, pe_placement_ml: 0"], 0, ["OUT004"]),
    ],
)
def test_one_finding_says_how_files_and_ranks_differ(contents, ranks, expected, tmp_path):
    assert sorted(ours(streams(*contents, ranks=ranks), tmp_path)) == expected


def test_impossible_placement_is_what_the_placement_refuses(tmp_path):
    for ranks in range(4):
        for first in range(-1, 4):
            for second in range(-1, 4):
                text = streams(f"{ML}, pe_placement_ml: {first}", f"{ML}, pe_placement_ml: {second}", ranks=ranks)
                experiment = experiment_of(text, tmp_path)
                try:
                    placement(experiment.components[0])
                    refused = False
                except PlacementError:
                    refused = True
                assert any(f.code == "OUT015" for f in judge(experiment, RULES)) is refused, text


def test_one_stream_with_more_partitions_than_ranks(tmp_path):
    (finding,) = found("output: {atm: {stream_partitions_ml: 6}}\n", tmp_path)
    assert finding.code == "OUT001"
    assert finding.message.endswith("6 partitions for 4 I/O ranks: ranks with several files")


@pytest.mark.parametrize(
    ("dom", "severity"), [("0", "error"), ("[0, 2]", "error"), ("2", "warning"), ("[3, 2]", "warning")]
)
def test_a_domain_that_is_not_there_is_no_error(dom, severity, tmp_path):
    (found,) = judge(experiment_of(f"output: {{atm: {{dom: {dom}}}}}\n", tmp_path), [NoSuchDomain])
    assert found.severity.value == severity


def test_two_domains_are_two_sequences(tmp_path):
    text = "namelists: {grid_nml: {dynamics_grid_filename: [a.nc, b.nc]}}\n"
    assert ours(text + "parallel: {num_io_procs: 8}\n", tmp_path) == []
    assert ours(text + "parallel: {num_io_procs: 9}\n", tmp_path) == ["OUT002"]


def test_a_stream_with_an_operation_is_not_told_to_use_partitions(tmp_path):
    text = "output: {atm: {operation: mean, stream_partitions_ml: 1}}\n"
    (finding,) = found(text, tmp_path)
    assert finding.code == "OUT001"
    assert finding.notes[0].startswith("expected: num_io_procs 1")


def test_idle_ranks_are_named_shortly(tmp_path):
    (finding,) = found(streams(ML, ranks=12), tmp_path)
    assert finding.message == ("10 of 12 I/O ranks write nothing, counted from 0: ranks 2, 3, 4, 5 and 6 more")


NO_GRID = "grid: {name: null, file: grid.nc}\n"


@pytest.mark.parametrize(
    ("contents", "ranks", "expected"),
    [
        ([ML, ML], 2, ["OUT003"]),
        ([ML, f"{ML}, {PL}"], 3, ["OUT003"]),
        ([ML, f"{ML}, {PL}"], 2, []),
        ([f"{ML}, pe_placement_ml: 0", ML, ML], 2, ["OUT003"]),
    ],
)
def test_without_bytes_files_are_counted(contents, ranks, expected, tmp_path):
    assert ours(streams(*contents, ranks=ranks) + NO_GRID, tmp_path) == expected


def test_busy_ranks_and_their_streams_are_named(tmp_path):
    (finding,) = found(streams(ML, ML, ranks=2) + NO_GRID, tmp_path)
    assert finding.message == "3 files on 2 I/O ranks: rank 0 (counted from 0) writes 2 files, others 1"
    assert finding.notes[0] == "I/O rank 0 writes atm (ml), s1 (ml)"


def often(large: int, small: int = 1, ranks: int | None = None) -> str:
    """A large and a tiny stream every time step, each in so many partitions."""
    interval = "output_interval: PT10M, file_interval: P1D"
    return (
        f"parallel: {{num_io_procs: {large + small if ranks is None else ranks}}}\n"
        f"output:\n  atm: {{{interval}, stream_partitions_ml: {large}}}\n"
        f"  rain: {{{interval}, stream_partitions_ml: {small}, ml_varlist: [pres_sfc]}}\n"
    )


def test_bytes_decide_which_rank_is_busy(tmp_path):
    (finding,) = found(often(1), tmp_path)
    assert finding.code == "OUT003"
    assert finding.message.startswith("rank 0 of 2 I/O ranks, counted from 0, writes ")
    assert finding.message.endswith("GB, others at most 472.2 MB")
    assert finding.notes[0].startswith("I/O rank 0 writes atm (ml)")
    assert any("for atm, stream_partitions_ml 1 for rain" in note for note in finding.notes)


@pytest.mark.parametrize(("large", "uneven"), [(1, True), (2, False), (3, False)])
def test_half_as_much_again_as_the_mean_is_uneven(large, uneven, tmp_path):
    """With one tiny file beside n equal ones a rank writes (n + 1)/n times the mean: 2, 1.5, 1.3."""
    assert ("OUT003" in ours(often(large), tmp_path)) is uneven


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("output: {atm: {output_interval: PT2H}}", ["OUT004"]),  # 121 steps
        ("output: {atm: {output_interval: PT3H}}", []),  # 81 steps
        (
            f"output: {{atm: {{output_interval: PT3H}}, b: {{output_interval: PT6H, file_interval: P1D, {ML}}}}}",
            ["OUT004"],  # 81 and 41 steps
        ),
        ("job: {nodes: 1, ntasks_per_node: 1}", []),
        ("output: {atm: {output_bounds: [0, 864000, 3600]}}", ["OUT004"]),
        ("output: {atm: {output_bounds: [0, 3600, 600]}}", []),
        ("namelists: {run_nml: {output: [totint]}}", ["OUT019"]),
        ("output: {atm: {output_interval: PT2H}}\nnamelists: {parallel_nml: {pio_type: 1}}", ["OUT004"]),
        ("output: {atm: {output_interval: PT2H}}\nnamelists: {parallel_nml: {pio_type: 2}}", []),
    ],
)
def test_synchronous_output(spec, expected, tmp_path):
    text = f"parallel: {{num_io_procs: 0}}\n{spec}\n"
    assert [code for code in ours(text, tmp_path) if code != "OUT007"] == expected


@rows(
    ("stream", "expected"),
    [
        ("file_interval: null, steps_per_file: 1", []),
        ("file_interval: null, steps_per_file: 0", ["OUT006"]),
        ("file_interval: null, steps_per_file: -1", ["OUT005"]),
        ("file_interval: P1D, steps_per_file: -1", []),
        ("file_interval: P1D, steps_per_file: 0", ["OUT005"]),
        ("file_interval: PT1H", []),  # one step a file was asked for
        ("file_interval: PT30M", ["OUT007"]),
        ("file_interval: PT4H", []),
        ("file_interval: PT5H", ["OUT007"]),
        ("file_interval: P1M", []),  # a month has no fixed number of hours
        ("file_interval: P1Y, output_interval: P1M", ["OUT001"]),
        ("file_interval: P1Y, output_interval: P5M", ["OUT001", "OUT007"]),
        ("file_interval: PT4H, output_interval: [PT1H, PT2H]", ["OUT001"]),
        ("file_interval: PT4H, output_bounds: [0, 864000, 3600]", []),
        ("file_interval: PT6H, output_bounds: [0, 864000, 3600]", ["OUT007"]),
    ],
)
def test_length_of_files(stream, expected, tmp_path):
    one = "" if "OUT001" not in expected else "stream_partitions_ml: 1, "
    codes = ours(f"output: {{atm: {{{one}{stream}}}}}\n", tmp_path)
    assert [code for code in codes if code in ("OUT001", "OUT005", "OUT006", "OUT007")] == expected


def test_steps_in_a_file_are_counted(tmp_path):
    (finding,) = found("output: {atm: {file_interval: PT10H}}\n", tmp_path)
    assert finding.message == (
        "file_interval PT10H is no multiple of stream_partitions_ml 4 times the output interval PT1H: "
        "a file holds 2 or 3 steps"
    )


def test_an_interval_is_compared_with_the_step_as_it_is_written(tmp_path):
    """An hour is more than sixty minutes to mtime: it compares part by part, the step's seconds spread over them."""
    rows = [("PT1H", "PT60M", True), ("PT1H", "PT1H", False), ("PT60M", "PT3600S", False), ("PT59S", "PT1M", False)]
    rows += [("PT60M", "PT60M", True), ("P1D", "PT24H", True), ("PT10M", "P1M", False), ("PT1H6M40S", "PT90M", True)]
    for step, interval, refused in rows:
        output = f"output: {{atm: {{output_interval: {interval}, file_interval: P40D}}}}\n"
        text = f"time: {{modelTimeStep: {step}}}\n{output}"
        assert ("OUT008" in ours(text, tmp_path)) is refused, (step, interval)


@rows(
    ("stream", "expected"),
    [
        ("output_interval: PT0S", ["OUT008"]),
        ("output_interval: -PT1H", ["OUT008"]),
        ("output_interval: PT10M", []),
        ("output_interval: PT15M", ["OUT009"]),
        ("output_interval: PT1M, output_start: 2008-09-02T00:00:00Z, output_end: 2008-09-02T00:00:00Z", []),
        ("output_bounds: [0, 864000, 60]", ["OUT008"]),
        ("output_bounds: [0, 864000, 1500]", ["OUT009"]),
        ("output_bounds: [0, 864000, 60], output_time_unit: 2", []),
        (
            "output_interval: [PT1H, PT15M], output_start: [2008-09-01T00:00:00Z, 2008-09-02T00:00:00Z], "
            "output_end: [2008-09-01T12:00:00Z, 2008-09-03T00:00:00Z]",
            ["OUT009"],
        ),
        ("output_interval: PT1H, output_start: [2008-09-01T00:00:00Z, 2008-09-02T00:00:00Z]", ["OUT010"]),
        ("output_interval: P1M", []),
        ("output_interval: [PT1H, PT0S]", ["OUT010"]),
        ("output_bounds: [0, 3600]", ["OUT010"]),
        ("output_bounds: [0, 3600, 600, 7200]", ["OUT010"]),
        ("output_bounds: [0, 3600, 600, -2]", ["OUT010"]),
        ("output_bounds: [-2]", ["OUT010"]),
        ("output_bounds: [-1]", []),
        ("output_bounds: [0, 3600, 600, -1]", []),  # what ICON has where nobody wrote a value
        ("output_interval: null", ["OUT010"]),
        ("output_interval: null, output_start: null", ["OUT010"]),
        ("output_interval: null, output_start: null, ml_varlist: null", []),  # no file
    ],
)
def test_output_times(stream, expected, tmp_path):
    codes = ours(f"output: {{atm: {{{stream}, file_interval: P40D}}}}\n", tmp_path)
    assert [code for code in codes if code in ("OUT008", "OUT009", "OUT010")] == expected


@pytest.mark.parametrize(
    ("filetype", "is_offered", "times", "expected"),
    [
        (999, "true", "output_start: [2008-09-01T00:00:00Z, 2008-09-02T00:00:00Z]", ["OUT010"]),
        (999, "true", "output_bounds: [0, 3600, 600, 7200, 10800, 600]", ["OUT010"]),
        (999, "true", "output_start: 2008-09-01T00:00:00Z", []),
        (999, "true", "output_bounds: [0, 3600, 600]", []),
        (999, "false", "output_start: [2008-09-01T00:00:00Z, 2008-09-02T00:00:00Z]", []),
        (4, "true", "output_start: [2008-09-01T00:00:00Z, 2008-09-02T00:00:00Z]", []),
    ],
)
def test_the_coupler_takes_one_window(filetype, is_offered, times, expected, tmp_path):
    ends = "file_interval: P40D, output_interval: PT1H"
    if "output_start: [" in times:
        ends = ends.replace("PT1H", "[PT1H, PT1H], output_end: [2008-09-01T12:00:00Z, 2008-09-03T00:00:00Z]")
    coupled = f"namelists: {{coupling_mode_nml: {{coupled_to_output: {is_offered}}}}}"
    codes = ours(f"output: {{atm: {{filetype: {filetype}, {times}, {ends}}}}}\n{coupled}\n", tmp_path)
    assert [code for code in codes if code == "OUT010"] == expected


SAME = "output_filename: output/x, " + ML


@rows(
    ("first", "second", "expected"),
    [
        (SAME, SAME, ["OUT011"]),
        (SAME, "output_filename: output/x, " + PL, []),
        (SAME, SAME + ", filetype: 2", []),
        (SAME, SAME + ", filetype: 5", ["OUT011"]),
        (SAME, SAME + ", output_start: 2010-01-01T00:00:00Z, output_end: 2010-01-02T00:00:00Z", ["OUT022"]),
        (SAME, SAME + ", filename_format: <output_filename>_<levtype>_<datetime2>", []),
        (
            SAME + ", filename_format: <output_filename>_<datetime2>",
            "output_filename: output/x, filename_format: <output_filename>_<datetime2>, " + PL,
            ["OUT011"],
        ),
        (
            SAME + ", filename_format: <output_filename>_<datetime2>",
            SAME + ", filename_format: <output_filename>_<datetime2>, output_start: 2008-09-01T00:30:00Z",
            [],
        ),
        (SAME + ", filename_format: <output_filename>_<jfile>, " + PL, ML, ["OUT011"]),
        (SAME + ", stream_partitions_ml: 256", SAME, ["OUT011"]),
        (SAME + ", stream_partitions_ml: 257", SAME, []),  # more than ICON has room for
    ],
)
def test_file_names(first, second, expected, tmp_path):
    codes = ours(streams(first, second, ranks=3), tmp_path)
    assert [code for code in codes if code in ("OUT011", "OUT022")] == expected


TWO_WINDOWS = (
    "output_start: [2008-09-01T00:00:00Z, 2008-09-02T00:00:00Z], "
    "output_end: [2008-09-02T00:00:00Z, 2008-09-03T00:00:00Z]"
)


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        ("filename_format: always, stream_partitions_ml: 1", ["OUT012"]),
        ("filename_format: always, stream_partitions_ml: 1, file_interval: P20D", []),
        ("filename_format: always, file_interval: P20D", ["OUT012"]),
        (f"filename_format: always, stream_partitions_ml: 1, {TWO_WINDOWS}, output_interval: [PT1H, PT1H]", ["OUT012"]),
        (f"filename_format: always, stream_partitions_ml: 1, {TWO_WINDOWS}, output_interval: [PT1H, PT0S]", []),
        ("filename_format: always_<ifile_partition>, file_interval: P20D", []),
        ("filename_format: <output_filename>_<total_index>", []),
    ],
)
def test_names_without_a_counter(stream, expected, tmp_path):
    codes = ours(f"output: {{atm: {{{stream}}}}}\n", tmp_path)
    assert [code for code in codes if code == "OUT012"] == expected


@rows(
    ("stream", "expected"),
    [
        ("stream_partitions_ml: -1", ["OUT013"]),
        ("stream_partitions_pl: 0", []),  # nothing is written on pressure levels
        ("stream_partitions_pl: 0, " + PL, ["OUT013"]),
        ("stream_partitions_ml: 257", ["OUT014"]),
        ("stream_partitions_ml: 2147483647", ["OUT014"]),
        ("operation: mean, stream_partitions_ml: 1, stream_partitions_pl: 2", ["OUT001", "OUT016"]),
        ("operation: Mean", ["OUT017"]),
        ("operation: ' mean'", ["OUT017"]),
        ("operation: ''", []),
        ("operation: median", ["OUT017"]),
        ("hl_varlist: [temp], stream_partitions_ml: 3", ["OUT018"]),
        ("il_varlist: [temp], i_levels: -1.0, stream_partitions_ml: 3", ["OUT018"]),
        ("il_varlist: [temp], i_levels: 300.0, stream_partitions_ml: 3", []),
        ("ml_varlist: ['', temp]", ["OUT021"]),
        ("output_end: 2008-08-01T00:00:00Z, output_start: 2008-07-01T00:00:00Z", ["OUT022"]),
        ("output_start: 2008-09-03T00:00:00Z, output_end: 2008-09-02T00:00:00Z", ["OUT022"]),
        ("output_start: 2008-08-01T00:00:00Z", []),
        ("output_end: 2030-01-01T00:00:00Z", []),
        ("output_interval: P12D, file_interval: P48D", []),  # the start is written
        ("output_bounds: [1e9, 2e9, 3600]", ["OUT022"]),
        ("output_start: '>2008-09-01T00:00:00Z', stream_partitions_ml: 1", ["OUT001"]),
        ("include_last: true", []),
        ("dom: 0", ["OUT025"]),
        ("dom: [1, 0]", ["OUT025"]),
        ("dom: [3, 2]", ["OUT025"]),
        ("dom: [1, 2]", []),
        ("dom: [-1, 0]", []),
        ("include_last: false, output_interval: PT7H, file_interval: PT28H", []),
        ("output_interval: PT7H, file_interval: PT28H", []),
    ],
)
def test_one_stream(stream, expected, tmp_path):
    assert sorted(ours(f"output: {{atm: {{{stream}}}}}\n", tmp_path)) == expected


@pytest.mark.parametrize(
    ("release", "keywords", "expected"),
    [
        ("2024.10", "[NML]", []),
        ("2024.10", "nml", []),
        ("2024.10", "['']", ["OUT019"]),
        ("2024.10", "none", ["OUT019"]),
        ("2024.10", "[totint, NONE]", ["OUT020"]),
        ("2024.10", "netcdf", []),  # NML009 says it
        ("2024.01", "netcdf", []),
        ("2024.10", "null", []),
    ],
)
def test_keywords_of_output(release, keywords, expected, tmp_path):
    text = f'model: {{release: "{release}"}}\nnamelists: {{run_nml: {{output: {keywords}}}}}\n'
    assert ours(text, tmp_path) == expected


@pytest.mark.parametrize(
    ("keywords", "is_error"), [("none", False), ("[' None']", False), ("''", True), ("totint", True)]
)
def test_who_writes_none_has_said_so(keywords: str, is_error: bool, tmp_path: Path) -> None:
    found = judge(experiment_of(f"namelists: {{run_nml: {{output: {keywords}}}}}\n", tmp_path), RULES)
    assert [finding.severity is Severity.ERROR for finding in found if finding.code == "OUT019"] == [is_error]


def test_streams_that_are_not_read_have_no_further_findings(tmp_path):
    text = "namelists: {run_nml: {output: [totint]}}\noutput: {atm: {steps_per_file: 3, output_interval: PT1M}}\n"
    assert ours(text, tmp_path) == ["OUT019"]


def test_a_start_that_the_calendar_lacks_silences(tmp_path):
    text = "time: {start: 2008-02-30T00:00:00Z}\noutput: {atm: {output_interval: PT1M}}\n"
    assert "OUT008" not in [finding.code for finding in judge(experiment_of(text, tmp_path), RULES)]


SLOW = """
parallel: {num_io_procs: 1}
output: {atm: {output_interval: PT10M, stream_partitions_ml: 1}}
namelists: {run_nml: {iforcing: 3RUN}, nwp_phy_nml: {inwp_gscp: 1}, io_nml: {lnetcdf_flt64_output: true}}
"""


@pytest.mark.parametrize(
    ("run", "job", "expected"),
    [
        ("", "", ["OUT032"]),
        (", output: [totint]", "", []),  # no stream is written
        ("", "job: {nodes: 1, ntasks_per_node: 4}\n", ["OUT032"]),
        ("", "job: {nodes: 1, ntasks_per_node: 3}\n", []),  # more than a quarter would not compute
    ],
)
def test_slow_output_is_told_of_runs_that_write_and_have_ranks_to_spare(run, job, expected, tmp_path):
    assert [code for code in ours(job + SLOW.replace("RUN", run), tmp_path) if code == "OUT032"] == expected


@pytest.mark.parametrize(("hours", "tasks", "expected"), [(16, 128, ["OUT032"]), (16, 1, []), (17, 128, [])])
def test_slow_output_without_io_ranks_is_told_of_few_steps(hours, tasks, expected, tmp_path):
    """Another rule tells of more than 100."""
    job = f"job: {{nodes: 1, ntasks_per_node: {tasks}}}\ntime: {{stop: 2008-09-01T{hours}:00:00Z}}\n"
    slow = job + SLOW.replace("RUN", "").replace("procs: 1", "procs: 0")
    assert [code for code in ours(slow, tmp_path) if code == "OUT032"] == expected


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"output": {"type": "character", "shape": [5], "allowed": ["none", "nml"]}}, []),  # NML009 says it
        ({"output": {"type": "character", "shape": [5]}}, ["OUT020"]),
        ({}, []),  # NML002 says it
    ],
)
def test_keywords_of_a_release_of_ones_own(variables, expected, tmp_path):
    groups = {"run_nml": {"component": "common", "variables": variables}}
    experiment = evolve(
        experiment_of("namelists: {run_nml: {output: bogus}}\n", tmp_path), registry=Registry("2025.04", groups)
    )
    assert [finding.code for finding in judge(experiment, [OutputKeywords])] == expected
