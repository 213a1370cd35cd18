"""WRF's namelist.input: what it does with groups, values, settings and tasks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import nmlgen
from nmlgen.findings import nearest
from nmlgen.models import reading, wrf
from nmlgen.models.wrf import quilting
from nmlgen.models.wrf.quilting import ImpossibleLayoutError, layout, most_square

NAMELIST = """\
&time_control
 run_hours = 12,
 history_interval = 60, 60,
 io_form_history = 2,
/
&domains
 time_step = 60,
 max_dom = 2,
 e_we = 100, 112,
 e_sn = 100, 97,
 e_vert = 45, 45,
 dx = 15000.,
 dy = 15000.,
 parent_id = 1, 1,
 parent_grid_ratio = 1, 3,
/
&physics
 mp_physics = 8, 8,
 ra_lw_physics = 4, 4,
 ra_sw_physics = 4, 4,
 sf_sfclay_physics = 1, 1,
 sf_surface_physics = 2, 2,
 bl_pbl_physics = 1, 1,
 cu_physics = 1, 0,
/
&dynamics
 diff_opt = 1, 1,
 km_opt = 4, 4,
/
&bdy_control
 specified = .true.,
/
&namelist_quilt
 nio_tasks_per_group = 0,
 nio_groups = 1,
/
"""


def test_of_very_many_unknown_names_few_are_looked_for(monkeypatch, tmp_path):
    asked: list[str] = []
    monkeypatch.setattr(reading, "_MOST_MEANINGS", 20)
    monkeypatch.setattr(reading, "nearest", lambda name, known: asked.append(name) or nearest(name, known))
    names = ["run_hourz", *(f"interval_of_{number}" for number in range(100)), "run_minutez"]
    text = NAMELIST.replace("&time_control\n", "&time_control\n" + "".join(f" {name} = 1\n" for name in names))
    (tmp_path / "namelist.input").write_text(text, encoding="utf-8")
    findings = nmlgen.lint([tmp_path / "namelist.input"]).findings
    assert asked == names[:20]
    meant = {found.span.text: found.fix is not None for found in findings if found.span is not None}
    assert (meant["run_hourz"], meant["run_minutez"], len(meant)) == (True, False, 102)


@pytest.fixture
def judged(tmp_path):
    """Lints the namelist after changes."""

    def lint(*changes: tuple[str, str], tasks: int | None = None, name: str = "namelist.input") -> nmlgen.Report:
        text = NAMELIST
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / name
        path.write_text(text)
        return nmlgen.lint([path], ntasks=tasks, is_isolated=True)

    return lint


def found(report: nmlgen.Report) -> list[tuple[str, str]]:
    return [(finding.code, finding.severity.value) for finding in report.findings]


def test_a_namelist_that_wrf_takes_draws_nothing(judged):
    assert found(judged()) == []
    assert found(judged(tasks=64)) == []


def test_it_is_known_by_its_groups_whatever_it_is_called(judged):
    report = judged(("run_hours = 12", "run_huors = 12"), name="mine.nml")
    assert found(report) == [("WRF002", "error")]


def test_a_namelist_that_makes_too_long_a_spec_is_not_imported(tmp_path):
    path = tmp_path / "namelist.input"
    path.write_text(NAMELIST.replace("time_step = 60", "time_step = 60, eta_levels = 60000*0.5"))
    with pytest.raises(nmlgen.SpecError, match="more than 50000 values and keys"):
        nmlgen.import_spec(path)


def test_a_namelist_of_that_name_without_such_groups_is_none_of_wrf(tmp_path):
    path = tmp_path / "namelist.input"
    path.write_text("&param1\n dx = 1.0\n/\n")
    assert not [code for code, _ in found(nmlgen.lint([path], is_isolated=True)) if code.startswith("WRF")]


# --- Reading ---


def test_a_variable_of_nearly_that_name_is_meant_and_mended(judged):
    report = judged(("io_form_history", "io_form_histry"))
    (finding,) = report.findings
    assert (finding.code, finding.severity.value, finding.line, finding.column) == ("WRF002", "error", 4, 2)
    assert finding.fix is not None
    assert finding.fix.edits[0].replacement == "io_form_history"


def test_a_variable_of_another_group_is_said_to_be_there(judged):
    (finding,) = judged((" run_hours = 12,", " time_step = 12,")).findings
    assert finding.notes == ("expected: in &domains",)


def test_a_variable_of_another_release_is_a_warning(judged):
    (finding,) = judged((" cu_physics = 1, 0,", " cu_physics = 1, 0,\n bl_mynn_tkebudget = 1,")).findings
    assert (finding.code, finding.severity.value) == ("WRF002", "warning")
    assert "WRF 3.5 to 4.4.2 has it" in finding.notes[0]


def test_one_unknown_variable_ends_wrf_and_several_are_those_of_a_fork(judged):
    one = judged((" km_opt", " slicing_of_mine = 1\n km_opt"))
    two = judged((" km_opt", " slicing_of_mine = 1\n turbines_of_ours = 2\n km_opt"))
    assert found(one) == [("WRF002", "error")]
    assert one.findings[0].notes == ("expected: a variable of &dynamics",)
    assert found(two) == [("WRF002", "warning")] * 2
    slip = judged((" km_opt", " diff_6th_faktor = 0.1\n km_opt"))
    assert found(slip) == [("WRF002", "error")]
    other = judged((" km_opt", " slicing_of_mine = 1\n turbines_of_ours = 2\n spec_exp = 0.3\n km_opt"))
    assert found(other) == [("WRF002", "warning")] * 3


@pytest.mark.parametrize(
    ("group", "setting", "known"),
    [
        ("&dynamics", "codamp = 6.4,", "WRF 3.3.1 to 4.1 with the NMM core"),
        ("&time_control", "tstart = 0,", "WRF 3.3.1 to 4.1 with the NMM core"),
        ("&physics", "bl_mynn_edmf_dd = 0,", "WRF 4.8.0 with COAWST"),
    ],
)
def test_a_variable_of_another_core_or_a_fork_is_a_warning(judged, group, setting, known):
    (finding,) = judged((group, f"{group}\n {setting}")).findings
    assert finding.severity is nmlgen.Severity.WARNING
    assert f"{known} has it" in finding.notes[0]


@pytest.mark.parametrize(
    "change",
    [
        (" cu_physics = 1, 0,", " cu_physics = 1, 0,\n bl_mynn_tkebudget = 1,"),
        ("&physics", "&lis\n lis_landcover = 1,\n/\n&physics"),
        (" ra_lw_physics = 4, 4,\n ra_sw_physics = 4, 4,", " ra_lw_physics = 56, 56,\n ra_sw_physics = 56, 56,"),
    ],
)
def test_what_seems_to_be_of_another_release_is_refused_for_nobody(judged, change):
    scheme = ("sf_surface_physics = 2, 2", "sf_surface_physics = 2, 3")
    assert ("WRF003", "error") in found(judged(scheme))
    other = judged(change, scheme, (" km_opt", " slicing_of_mine = 1\n km_opt"))
    assert {severity for _, severity in found(other)} == {"warning"}


@pytest.mark.parametrize(
    "mark",
    [
        *("@hours", "@hours@", "%(hours)i", "<HOURS>", "{{hours}}", "__hours__", "[hours]", "${hours}", "${hours:-12}"),
        *("{{.Run.Hours}}", "{{ run.hours }}", "{{ hours|int }}"),
    ],
)
def test_what_a_template_marks_is_put_in_later(judged, mark):
    assert found(judged(("run_hours = 12", f"run_hours = {mark}"))) == [("WRF002", "warning")]


@pytest.mark.parametrize(
    "value",
    [
        ".<again>.",
        ".{{again}}.",
        ".@again@.",
        ".__again__.",
        ".#AGAIN#.",
        "-<again>",
        "0<again>",
        "1{{again}}",
        "%again%",
    ],
)
def test_a_template_marks_a_part_of_a_value(judged, value):
    problems = found(judged(("run_hours = 12", f"run_hours = 12, restart = {value}")))
    assert {severity for _, severity in problems} == {"warning"}


@pytest.mark.parametrize("value", [".abc.", "-abc", ".ABC."])
def test_a_word_between_dots_is_no_mark(judged, value):
    assert ("WRF002", "error") in found(judged(("run_hours = 12", f"run_hours = 12, restart = {value}")))


@pytest.mark.parametrize("value", ["abc", "60.5", "'60'", "1, 2"])
def test_a_value_that_does_not_fit_ends_wrf(judged, value):
    assert ("WRF002", "error") in found(judged(("time_step = 60", f"time_step = {value}")))


def test_text_without_quotes_ends_wrf_with_some_runtimes_only(judged):
    report = judged(("&physics", "&physics\n physics_suite = CONUS,"), ("cu_physics = 1, 0", "cu_physics = -1, 0"))
    assert found(report)[0] == ("WRF002", "warning")
    assert report.findings[0].notes[-1].startswith("the runtime of gfortran does so; flang and Intel")


def test_there_are_eleven_domains_and_no_more(judged):
    eleven, twelve = ", ".join(["60"] * 11), ", ".join(["60"] * 12)
    assert found(judged(("history_interval = 60, 60", f"history_interval = {eleven}"))) == []
    assert found(judged(("history_interval = 60, 60", f"history_interval = {twelve}"))) == [("WRF002", "error")]


@pytest.mark.parametrize(("hours", "step"), [("HOURS", "STEP"), ("runHours", "d1")])
def test_names_for_numbers_are_those_of_a_template_where_there_are_several(judged, hours, step):
    one = judged(("run_hours = 12", f"run_hours = {hours}"))
    two = judged(("run_hours = 12", f"run_hours = {hours}"), ("time_step = 60", f"time_step = {step}"))
    assert found(one) == [("WRF002", "error")]
    assert found(two) == [("WRF002", "warning")] * 2


def test_sed_puts_a_value_behind_a_name(judged):
    assert found(judged((" run_hours = 12,", " run_hours\n time_step = 60"))) != [("WRF002", "error")]
    report = judged((" run_hours = 12,", " run_days = 1\n run_hours\n"))
    assert found(report) == [("WRF002", "warning")]


def test_the_end_of_the_file_is_an_end_of_the_namelist(judged):
    report = judged((" nio_groups = 1,\n/\n", " nio_groups = 1,\n/\n&scm\n scm_force = 0,\n"))
    assert found(report) == [("WRF002", "warning")]
    assert "says nothing" in report.findings[0].message


def test_a_group_that_is_not_closed_before_another_ends_wrf_with_some_runtimes_only(judged):
    (finding,) = judged((" run_hours = 12,", "/\n&scm\n scm_force = 0,\n&time_control")).findings
    assert (finding.code, finding.severity.value) == ("WRF002", "warning")
    assert any("gfortran" in note and "NVHPC" in note for note in finding.notes)


def test_a_group_of_another_name_is_never_looked_at(judged):
    report = judged(("&bdy_control", "&bdy_contrl"))
    assert ("WRF001", "warning") in found(report)
    assert report.findings[0].notes == ('did you mean "bdy_control"?',)


@pytest.mark.parametrize(
    ("group", "note"),
    [
        ("&chem\n chem_opt = 1,\n/\n", "WRF 3.0 to 4.7.1 with chemistry has it"),
        ("&wrfvar3\n/\n", "WRFDA has it"),
        ("&weather\n/\n", "expected: one of time_control, "),
    ],
)
def test_a_group_of_another_build(judged, group, note):
    (finding,) = (
        finding for finding in judged(("&dynamics", f"{group}&dynamics")).findings if finding.code == "WRF001"
    )
    assert finding.notes[0].startswith(note)


def test_a_build_with_mpi_needs_its_own_group(judged):
    without = (NAMELIST[NAMELIST.index("&namelist_quilt") :], "")
    assert found(judged(without)) == [("WRF003", "warning")]
    assert found(judged(without, tasks=4)) == [("WRF003", "error")]


# --- Settings ---


def test_settings_that_wrf_checks_against_each_other(judged):
    (finding,) = judged(("sf_surface_physics = 2, 2", "sf_surface_physics = 2, 3")).findings
    assert (finding.code, finding.severity.value, finding.line) == ("WRF003", "error", 22)
    assert finding.message == "WRF stops: sf_surface_physics(2) = 3, sf_surface_physics = 2"
    assert "module_check_a_mundo.F" in finding.notes[0]


def test_all_that_is_refused_is_told(judged):
    changes = ("sf_surface_physics = 2, 2", "sf_surface_physics = 2, 3"), ("km_opt = 4, 4", "km_opt = 5, 5")
    refused = [finding for finding in judged(*changes).findings if finding.code == "WRF003"]
    assert len(refused) > 2


def test_what_an_older_release_takes_is_told_unless_a_later_one_is_meant(judged):
    """One check came after 4.1.5, another asks for a default that WRF 3.9.1.1 had otherwise."""
    changes = ("km_opt = 4, 4", "km_opt = 5, 5"), ("bl_pbl_physics = 1, 1", "bl_pbl_physics = 5, 5")
    older = judged(*changes, ("&physics", "&physics\n ishallow = 1,"))
    refused = [finding for finding in older.findings if finding.code == "WRF003"]
    assert {finding.severity.value for finding in refused} == {"error"}
    notes = [note for finding in refused for note in finding.notes if note.startswith("WRF ")]
    assert {note.partition(" takes")[0] for note in notes} == {"WRF 4.1.5", "WRF 3.9.1.1"}
    later = judged(*changes, ("&physics", "&physics\n ishallow = 1, madwrf_opt = 0,"))
    assert [code for code, severity in found(later) if severity == "error"] == ["WRF003"] * len(refused)
    assert not any(" takes it" in note for finding in later.findings for note in finding.notes)


def test_a_check_that_counts_names_what_it_counted(judged):
    report = judged((" cu_physics = 1, 0", " sf_surf_irr_scheme = 1, 0,\n cu_physics = 1, 0"))
    assert any("irr_num_hours = 0" in finding.message for finding in report.errors)


def test_what_data_assimilation_reads_is_not_refused_for_sure(judged):
    report = judged(("km_opt = 4, 4", "km_opt = -1, 4"), ("&physics", "&wrfvar1\n/\n&physics"))
    refused = [finding for finding in report.findings if finding.code == "WRF003"]
    assert report.errors == ()
    assert all("&wrfvar" in finding.notes[-1] for finding in refused)
    assert refused


def test_a_suite_that_does_not_exist_ends_wrf(judged):
    assert found(judged(("&physics", "&physics\n physics_suite = 'CONUSS',"))) == [("WRF003", "error")]


def test_a_suite_decides_where_nobody_does(judged):
    report = judged(("&physics", "&physics\n physics_suite = 'CONUS',"), ("cu_physics = 1, 0", "cu_physics = -1, 0"))
    assert found(report) == [("WRF007", "advice")]
    assert report.findings[0].message.endswith("cu_physics = 6")


def test_what_is_replaced_in_silence_is_told(judged):
    report = judged((" io_form_history = 2", " auxinput4_interval = 360, 360,\n io_form_auxinput4 = 2"))
    assert ("WRF004", "warning") in found(report)
    finding = next(item for item in report.findings if "io_form_auxinput4" in item.message)
    assert finding.message == "WRF replaces io_form_auxinput4 = 2 by 0 without a word"
    assert "sst_update" in finding.notes[0]


def test_all_domains_get_the_microphysics_of_the_last(judged):
    (finding,) = judged(("mp_physics = 8, 8", "mp_physics = 6, 8")).findings
    assert finding.message == "WRF replaces mp_physics = 6 by 8 without a word"
    assert "last" in finding.notes[0]


def test_what_stands_for_domains_that_there_are_not_is_not_looked_at(judged):
    assert found(judged(("mp_physics = 8, 8", "mp_physics = 8, 8, 6"))) == []


def test_there_is_room_for_eleven_domains(judged):
    assert ("WRF003", "error") not in found(judged(("max_dom = 2", "max_dom = 1")))
    assert found(judged(("max_dom = 2", "max_dom = 12"))) == [("WRF003", "error")]
    assert found(judged(("max_dom = 2", "max_dom = 2147483647"))) == [("WRF003", "error")]


def test_parents_lead_to_the_first_domain(judged):
    assert ("WRF003", "error") in found(judged(("parent_id = 1, 1", "parent_id = 1, 2")))
    assert found(judged(("parent_id = 1, 1", f"parent_id = 1, {'0' * 4500}1"))) == found(judged())


# --- Tasks ---


@pytest.mark.parametrize(
    ("tasks", "mesh"), [(1, (1, 1)), (6, (2, 3)), (7, (1, 7)), (12, (3, 4)), (36, (6, 6)), (128, (8, 16))]
)
def test_the_mesh_is_as_square_as_it_can_be(tasks, mesh):
    assert most_square(tasks) == mesh


def test_writing_tasks_come_off_those_that_compute():
    found = layout(tasks=14, servers=2, groups=1, nproc_x=-1, nproc_y=-1)
    assert (found.computing, found.mesh, found.busy, found.idle_servers) == (12, (3, 4), 2, 0)


def test_a_group_has_no_more_busy_tasks_than_the_mesh_has_rows():
    found = layout(tasks=14, servers=5, groups=1, nproc_x=-1, nproc_y=-1)
    assert (found.mesh, found.busy, found.idle_servers) == ((3, 3), 3, 2)


def test_fewer_computing_tasks_than_a_group_has_turn_quilting_off():
    found = layout(tasks=10, servers=6, groups=1, nproc_x=-1, nproc_y=-1)
    assert (found.servers, found.computing, found.mesh, found.without_patch) == (0, 10, (2, 2), 6)


def test_writing_tasks_below_none_leave_more_patches_than_tasks(monkeypatch):
    monkeypatch.setattr(quilting, "most_square", None)  # which tries each side up to the root of them
    with pytest.raises(quilting.ImpossibleLayoutError, match="4611686014132420617 patches are more than the 8 tasks"):
        quilting.layout(8, -(2**31 - 1), 2**31 - 1, -1, -1)


def test_nobody_is_left_to_compute():
    with pytest.raises(ImpossibleLayoutError, match="of 8 tasks none is left"):
        layout(tasks=8, servers=4, groups=2, nproc_x=-1, nproc_y=-1)


@pytest.mark.parametrize(
    ("quilt", "tasks", "expected"),
    [
        ("nio_tasks_per_group = 4,\n nio_groups = 2", 8, [("WRF005", "error")]),
        ("nio_tasks_per_group = 4,\n nio_groups = 2", 28, []),
        ("nio_tasks_per_group = 5,\n nio_groups = 1", 14, [("WRF006", "warning")]),
        ("nio_tasks_per_group = 6,\n nio_groups = 1", 10, [("WRF006", "warning")]),
    ],
)
def test_tasks_that_write(judged, quilt, tasks, expected):
    assert found(judged(("nio_tasks_per_group = 0,\n nio_groups = 1", quilt), tasks=tasks)) == expected


def test_more_tasks_than_any_machine_has_are_not_laid_out(judged):
    assert found(judged(tasks=10**18)) == []
    assert found(judged(("nio_tasks_per_group = 0", "nio_tasks_per_group = -2000000000"), tasks=8)) == []


@pytest.mark.parametrize(("x", "y", "expected"), [(4, 4, []), (4, 3, ["WRF006"]), (5, 4, ["WRF005"])])
def test_a_mesh_that_somebody_gives(judged, x, y, expected):
    report = judged((" max_dom = 2", f" nproc_x = {x},\n nproc_y = {y},\n max_dom = 2"), tasks=16)
    assert [code for code, _ in found(report)] == expected


def test_patches_have_at_least_ten_cells(judged):
    assert found(judged(tasks=72)) == []  # 8 x 9, and 97 // 9 is 10
    report = judged(tasks=90)
    assert found(report) == [("WRF003", "error")]
    assert "nproc_x = 9" in report.findings[0].message
    assert "nproc_y = 10" in report.findings[0].message


# --- As all that is linted ---


def test_a_comment_excuses(judged):
    report = judged(("sf_surface_physics = 2, 2,", "sf_surface_physics = 2, 3, ! nmlgen: ignore[WRF003] tried so"))
    assert found(report) == []
    assert len(report.suppressed) == 1


def test_it_is_found_in_a_directory(tmp_path):
    (tmp_path / "namelist.input").write_text(NAMELIST.replace("time_step = 60", "time_step = abc"))
    assert [code for code, _ in found(nmlgen.lint([tmp_path], is_isolated=True))] == ["WRF002"]


def test_what_a_fix_writes_is_clean(tmp_path):
    path = Path(tmp_path / "namelist.input")
    path.write_text(NAMELIST.replace("io_form_history", "io_form_histry"))
    nmlgen.fix([path], is_isolated=True).write()
    assert path.read_text() == NAMELIST


EXAMPLES = re.compile(r"^(Found|Clean):\n\n```fortran\n(.*?)\n```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code", wrf.problems)
def test_examples(code, tmp_path):
    examples = dict(EXAMPLES.findall(wrf.problems[code][1]))
    assert list(examples) == ["Found", "Clean"]
    codes = {}
    for kind, text in examples.items():
        path = tmp_path / "namelist.input"
        path.write_text(f"{text}\n")
        codes[kind] = {finding.code for finding in nmlgen.lint([path], ntasks=14, is_isolated=True).findings}
    assert code in codes["Found"]
    assert code not in codes["Clean"]


def test_what_an_unknown_variable_may_mean_is_looked_for_once(tmp_path, monkeypatch):
    path, seen, nearest = tmp_path / "namelist.input", [], reading.nearest
    path.write_text("&time_control\n run_hours = 12\n a_of_fork = 1\n b_of_fork = 2\n/\n&domains\n max_dom = 1\n/\n")
    monkeypatch.setattr(reading, "nearest", lambda word, known: seen.append(word) or nearest(word, known))
    nmlgen.lint([path])
    assert sorted(seen) == ["a_of_fork", "b_of_fork"]


@pytest.mark.parametrize(
    ("release", "severity"),
    [("V3.5.1    ", "warning"), ("V4.7.1", "error"), (f"V{'9' * 5000}.1", "error"), (None, "error")],
)
def test_what_the_release_of_the_tree_may_take_is_no_error(release, severity, tmp_path):
    path = tmp_path / "test" / "em_real" / "namelist.input"
    path.parent.mkdir(parents=True)
    text = "&time_control\n run_hours = 12,\n/\n&domains\n time_step = 60,\n max_dom = 2,\n parent_id = 0, 1,\n/\n"
    path.write_text(f"{text}&physics\n sf_surface_physics = 2, 3,\n/\n&namelist_quilt\n/\n")
    if release is not None:
        (tmp_path / "inc").mkdir()
        (tmp_path / "inc" / "version_decl").write_text(f"   CHARACTER (LEN=10) :: release_version = '{release}'\n")
    (found,) = [finding for finding in nmlgen.lint([path]).findings if "sf_surface_physics" in finding.message]
    assert (found.severity.value, "3.5.1" in " ".join(found.notes)) == (severity, severity == "warning")


@pytest.mark.parametrize(
    ("above", "severity"), [("test/em_real", "warning"), ("a/b/c/d/e/f", "error"), (None, "error")]
)
def test_a_variable_that_the_tree_declares_is_one_of_a_fork(above, severity, tmp_path):
    tree = tmp_path / "tree" / (above or "run")
    tree.mkdir(parents=True)
    if above is not None:
        (tmp_path / "tree" / "Registry").mkdir()
        common = "include registry.mine\nrconfig real other namelist,physics 1 1.\n"
        (tmp_path / "tree" / "Registry" / "Registry.EM_COMMON").write_text(common)
        (tmp_path / "tree" / "Registry" / "registry.mine").write_text("rconfig  real  zz  namelist,domains 1 1. h\n")
    path = tree / "namelist.input"
    path.write_text("&time_control\n run_hours = 12,\n/\n&domains\n time_step = 60,\n zz = 1.,\n/\n")
    (found,) = [finding for finding in nmlgen.lint([path]).findings if finding.code == "WRF002"]
    assert (found.severity.value, "zz" in found.message) == (severity, True)
