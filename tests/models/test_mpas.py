"""MPAS's namelist.atmosphere and its file of streams."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import nmlgen
from nmlgen.models import mpas

NAMELIST = """\
&nhyd_model
    config_dt = 60.0
    config_start_time = '2010-10-23_00:00:00'
/
&io
    config_pio_num_iotasks = 0
    config_pio_stride = 1
/
&restart
    config_do_restart = false
/
&physics
    config_physics_suite = 'none'
    config_microp_scheme = 'mp_kessler'
/
"""
STREAMS = """\
<streams>
<immutable_stream name="input" type="input" filename_template="init.nc" input_interval="initial_only"/>
<stream name="output" type="output" filename_template="history.$Y-$M-$D.nc" output_interval="06:00:00"
        filename_interval="1_00:00:00" io_type="pnetcdf,cdf5">
  <var name="theta"/>
</stream>
<stream name="diagnostics" type="output" filename_template="diag.$Y-$M-$D.nc" output_interval="3:00:00">
</stream>
</streams>
"""


@pytest.fixture
def judged(tmp_path):
    """Lints the namelist and the streams after changes of either."""

    def lint(*changes: tuple[str, str], tasks: int | None = None) -> list[tuple[str, str]]:
        namelist, streams = NAMELIST, STREAMS
        for old, new in changes:
            assert (old in namelist) != (old in streams)
            namelist, streams = namelist.replace(old, new), streams.replace(old, new)
        (tmp_path / "namelist.atmosphere").write_text(namelist)
        (tmp_path / "streams.atmosphere").write_text(streams)
        report = nmlgen.lint([tmp_path / "namelist.atmosphere"], ntasks=tasks, is_isolated=True)
        return [(finding.code, finding.severity.value) for finding in report.findings]

    return lint


ERROR = [("MPS003", "error")]
REFUSED = [("MPS005", "error")]
IGNORED = [("MPS006", "warning")]


def test_what_mpas_takes_draws_nothing(judged):
    assert judged() == []
    assert judged(tasks=4) == []


def test_variables_and_groups(judged):
    assert judged(("config_dt", "config_dtt")) == [("MPS002", "error")]
    assert judged(("config_dt = 60.0", "config_dt = 60.0, 30.0")) == [("MPS002", "error")]
    assert judged(("&restart", "&restarts")) == [("MPS001", "warning")]


@pytest.mark.parametrize(
    ("count", "stride", "tasks", "fits"),
    [
        (0, 0, None, False),
        (0, 0, 4, False),
        (2, 2, 4, True),
        (2, 3, 4, False),
        (4, 1, 4, True),
        (5, 1, 4, False),
        (0, 4, 4, True),
        (0, 5, 4, False),
        (4, 0, 4, True),
        (-1, 1, 4, False),
        (1, -1, 4, False),
        (1, -1, None, False),
        (64, 4, None, True),
    ],
)
def test_tasks_that_write_fit_into_the_job(judged, count, stride, tasks, fits):
    changes = (
        ("config_pio_num_iotasks = 0", f"config_pio_num_iotasks = {count}"),
        ("config_pio_stride = 1", f"config_pio_stride = {stride}"),
    )
    assert judged(*(change for change in changes if change[0] != change[1]), tasks=tasks) == ([] if fits else ERROR)


def test_suites_and_schemes_are_those_that_there_are(judged):
    assert judged(("'none'", "'mesoscale_reference'")) == []
    assert judged(("'none'", "'NONE'")) == ERROR
    assert judged(("'mp_kessler'", "'mp_wsm6'")) == []
    assert judged(("'mp_kessler'", "'kessler'")) == ERROR
    assert judged(("'mp_kessler'", "'mp_tempo'")) == [("MPS003", "warning")]


@pytest.mark.parametrize("value", ["#START#", "@START@", "{{ start }}", "%START%"])
def test_a_text_that_another_program_replaces_is_no_error(judged, value):
    assert judged(("'2010-10-23_00:00:00'", f"'{value}'")) == [("MPS003", "warning")]
    assert judged(("'mp_kessler'", f"'{value}'")) == [("MPS003", "warning")]
    assert judged(("'2010-10-23_00:00:00'", "'start'")) == ERROR


def test_an_ideal_case_has_no_terrain(judged):
    ideal = ("2010-10-23_", "0000-01-01_")
    assert judged(ideal) == []
    assert judged(ideal, ("'none'", "'mesoscale_reference'")) == ERROR
    assert judged(ideal, ("'none'", "'mesoscale_reference'\nconfig_gwdo_scheme = 'off'")) == []
    assert judged(ideal, ("'mp_kessler'", "'mp_kessler'\nconfig_gwdo_scheme = 'bl_ysu_gwdo'")) == ERROR


def test_what_other_releases_have_is_no_error(judged):
    assert judged(("&physics", "&physics\n    config_lakemodel = 'off'")) == [("MPS002", "warning")]
    newer = ("&physics", "&physics\n    config_ngw_scheme = true")
    scheme = ("mp_kessler", "wsm6")
    assert judged(scheme) == ERROR
    assert judged(newer, scheme) == [("MPS002", "warning"), ("MPS003", "warning")]
    stream = '<immutable_stream name="ugwp_ngw_in" type="input" filename_template="u.nc" input_interval="none"/>'
    assert judged(("<streams>", f"<streams>\n{stream}")) == [("MPS005", "warning")]


def test_a_task_has_one_block(judged):
    blocks = ("&restart", "&decomposition\nconfig_number_of_blocks = 4\n/\n&restart")
    assert judged(blocks) == judged(blocks, tasks=4) == []
    assert judged(blocks, tasks=2) == ERROR


def test_the_last_value_of_a_file_ends_it(tmp_path):
    path = tmp_path / "namelist.atmosphere"
    for text, severity in (("i = 1e1\n/\n", "warning"), ("i = 1e1\n config_dt = 1.\n/\n", "error")):
        path.write_text("&nhyd_model\n config_time_integration_order " + text[1:].lstrip())
        (finding,) = nmlgen.lint([path], is_isolated=True).findings
        assert (finding.code, finding.severity.value) == ("MPS002", severity)


def test_how_halos_are_exchanged(judged):
    for method, found in (("mpas_dmpar", []), ("off", ERROR)):
        assert judged(("&restart", f"&development\nconfig_halo_exch_method = '{method}'\n/\n&restart")) == found


def test_schemes_go_together(judged):
    def of(*lines: str) -> list[tuple[str, str]]:
        return judged(("config_microp_scheme = 'mp_kessler'", "\n".join(lines)))

    assert of("config_pbl_scheme = 'bl_ysu'") == ERROR
    assert of("config_pbl_scheme = 'bl_ysu'", "config_sfclayer_scheme = 'sf_monin_obukhov'") == []
    assert of("config_pbl_scheme = 'bl_mynn'") == []
    assert of("config_pbl_scheme = 'bl_mynn'", "config_sfclayer_scheme = 'off'") == [("MPS004", "warning")]
    assert of("config_lsm_scheme = 'sf_noah'") == ERROR
    assert of("config_lsm_scheme = 'sf_noah'", "config_sfclayer_scheme = 'sf_mynn'") == []
    assert of("config_radt_lw_scheme = 'rrtmg_lw'", "config_radt_cld_scheme = 'off'") == [("MPS004", "warning")]
    assert of("config_microp_scheme = 'mp_kessler'", "config_conv_interval = 'soon'") == ERROR
    assert of("config_conv_interval = 'soon'") == []  # there is no physics
    assert of("config_radt_lw_scheme = 'rrtmg_lw'", "config_radt_cld_scheme = 'cld_fraction'") == []


@pytest.mark.parametrize(
    ("date", "there_is"),
    [("2010-12-31", True), ("2010-13-01", False), ("2010-02-30", False), (f"2010-{'9' * 400}-01", False)],
)
def test_dates_that_there_are(judged, date, there_is):
    assert judged(("2010-10-23", date)) == ([] if there_is else ERROR)


@pytest.mark.parametrize(("start", "found"), [("file", []), ("none", ERROR)])
def test_a_start_without_a_number(judged, start, found):
    assert judged(("2010-10-23_00:00:00", start)) == found


@pytest.mark.parametrize(("step", "found"), [("0.1", []), ("0.0", [("MPS004", "warning")])])
def test_a_step_that_ends(judged, step, found):
    assert judged(("60.0", step)) == found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("</streams>", ""),
        ('name="output" ', ""),
        ('name="output"', 'name="out put"'),
        (' type="output" filename_template="history', ' filename_template="history'),
        (' filename_template="diag.$Y-$M-$D.nc"', ""),
        (' output_interval="3:00:00"', ""),
        ('output_interval="3:00:00"', 'output_interval="often"'),
        ('filename_interval="1_00:00:00"', 'filename_interval="input_interval"'),
        ('filename_interval="1_00:00:00"', 'filename_interval="initial_only"'),
        ('"diagnostics"', '"output"'),
        ("diag.$Y", "history.$Y"),
        ('immutable_stream name="input"', 'immutable_stream name="mine"'),
        ('output_interval="3:00:00"', 'output_interval="3:00:00" reference_time="noon"'),
        ("<streams>", '<?xml version="1.0"?>\n<streams>'),
        ("</stream>\n</streams>", "</stream>\n</streams>\n<!-- a <comment>"),
        ("history.$Y", "history.$y"),
        ('"3:00:00"', '"stream:diagnostics:output_interval"'),
        ('"3:00:00"', '"stream:nobody:output_interval"'),
        ('"3:00:00"', '"stream:output:interval"'),
        ('"3:00:00"', '"stream:output:input_interval"'),
        ('06:00:00"\n        filename_interval="1_00:00:00"', 'initial_only" filename_interval="output_interval"'),
        ('<immutable_stream name="input" type="input" filename_template="init.nc" input_interval="initial_only"/>', ""),
        ('interval="initial_only"/>', 'interval="initial_only"><var name="u"/></immutable_stream>'),
        ('<var name="theta"/>', '<var name="qv"/>'),
        ('<var name="theta"/>', '<var_struct name="nothing"/>'),
    ],
)
def test_streams_that_mpas_refuses(judged, old, new):
    assert judged((old, new)) == REFUSED


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ('output_interval="3:00:00"', "output_interval='3:00:00'", []),
        ('filename_interval="1_00:00:00"', 'filename_interval="output_interval"', []),
        ('output_interval="3:00:00"', 'output_interval="stream:output:output_interval"', []),
        ('output_interval="3:00:00"', 'output_interval="none"', []),
        ('output_interval="3:00:00"', 'output_interval="00-00-01_3:00:00"', []),
        ('input_interval="initial_only"', 'input_interval="initial_only" output_interval="soon"', []),
        ('<var name="theta"/>', '<var name="theeta"/><var name="mine"/>', [("MPS005", "warning")]),
        ('<var name="theta"/>', '<file name="list"/>', [("MPS005", "warning")]),
        ('name="diagnostics"', "name=diagnostics", [("MPS005", "warning")]),
        ('"06:00:00"', '"00:00:00"', IGNORED),
        ('stream name="input"', 'stream name="invariant"', []),
        ('"diagnostics" type="output"', '"diagnostics" type=output', []),
        ('"diagnostics" type="output"', '"diagnostics" type="OUTPUT"', IGNORED),
        ('io_type="pnetcdf,cdf5"', 'io_type="adios2"', IGNORED),
        ('io_type="pnetcdf,cdf5"', 'precision="half"', IGNORED),
        ("</streams>", "<!-- <stream> -->\n</streams>", []),
        ('<var name="theta"/>', '<stream name="diagnostics"/>', []),
        ('<var name="theta"/>', '<stream name="restart"/>', []),
        ("</stream>\n</streams>", '<stream name="input"/></stream>\n</streams>', []),
        ("</stream>\n</streams>", '<stream name="output"/></stream>\n</streams>', IGNORED),
    ],
)
def test_streams_that_mpas_takes(judged, old, new, found):
    assert judged((old, new)) == found


def test_fields_that_a_file_lists(tmp_path):
    (tmp_path / "namelist.atmosphere").write_text(NAMELIST)
    (tmp_path / "streams.atmosphere").write_text(STREAMS.replace('<var name="theta"/>', '<file name="list"/>'))
    for text, said in (("u w\nscalars\n", []), ("u\nqc theeta\n", ["list:2:1 error", "list:2:4 warning"])):
        (tmp_path / "list").write_text(text)
        report = nmlgen.lint([tmp_path / "namelist.atmosphere"], is_isolated=True)
        assert [f"{str(one.span).rpartition('/')[2]} {one.severity.value}" for one in report.findings] == said


def test_the_streams_need_not_be_there(tmp_path):
    path = tmp_path / "namelist.atmosphere"
    path.write_text(NAMELIST)
    assert nmlgen.lint([path], is_isolated=True).findings == ()


@pytest.mark.parametrize(
    ("make", "what"), [(Path.mkdir, "is a directory"), (os.mkfifo, "is a pipe")], ids=["directory", "pipe"]
)
def test_streams_that_cannot_be_read_are_told(tmp_path, make, what):
    (tmp_path / "namelist.atmosphere").write_text(NAMELIST)
    make(tmp_path / "streams.atmosphere")
    (found,) = nmlgen.lint([tmp_path / "namelist.atmosphere"], is_isolated=True).findings
    assert (found.code, found.severity.value) == ("MPS005", "warning")
    assert what in found.message


def test_of_many_streams_with_one_file_each_is_told_once(judged):
    stream = '<stream name="more{}" type="output" filename_template="more.nc" output_interval="06:00:00"/>\n'
    more = "".join(stream.format(number) for number in range(30))
    assert judged(("</streams>", f"{more}</streams>")) == REFUSED * 29


def test_the_initial_core_has_groups_of_its_own(tmp_path):
    path = tmp_path / "namelist.init_atmosphere"
    path.write_text("&nhyd_model\n config_init_case = 7\n/\n&vertical_grid\n config_ztop = 30000.0\n/\n")
    assert nmlgen.lint([path], is_isolated=True).findings == ()


EXAMPLES = re.compile(r"^(Found|Clean):\n\n```(fortran|xml)\n(.*?)\n```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code", mpas.problems)
def test_examples(code, tmp_path):
    examples = {kind: (language, text) for kind, language, text in EXAMPLES.findall(mpas.problems[code][1])}
    assert list(examples) == ["Found", "Clean"]
    codes = {}
    for kind, (language, text) in examples.items():
        (tmp_path / "namelist.atmosphere").write_text(NAMELIST if language == "xml" else f"{text}\n")
        (tmp_path / "streams.atmosphere").write_text(text if language == "xml" else STREAMS)
        report = nmlgen.lint([tmp_path / "namelist.atmosphere"], ntasks=4, is_isolated=True)
        codes[kind] = {finding.code for finding in report.findings}
    assert code in codes["Found"]
    assert code not in codes["Clean"]


def test_a_last_group_without_a_variable(tmp_path):
    path = tmp_path / "namelist.atmosphere"
    path.write_text("&nhyd_model\n 3 4\n/\n", encoding="utf-8")
    assert "MPS002" in [finding.code for finding in nmlgen.lint([path]).findings]
