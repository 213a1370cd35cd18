"""Linting namelist files: the same rules, on what is there already."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import nmlgen
from nmlgen.namelist.registry import read_registry
from nmlgen.reviewing import _first_given, _Paths
from nmlgen.spec.schema import editor_schema

EXAMPLE = Path(__file__).parent.parent / "examples" / "nh_dcmip_tc_52_r2b5.yaml"


@pytest.fixture(scope="module")
def built() -> nmlgen.Build:
    return nmlgen.build(EXAMPLE)


@pytest.fixture
def directory(tmp_path, built) -> Path:
    """A run directory that nmlgen built."""
    built.write(tmp_path)
    return tmp_path


def change(directory: Path, old: str, new: str) -> None:
    path = next(directory.glob("NAMELIST_*"))
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def codes(report: nmlgen.Report) -> list[str]:
    return [finding.code for finding in report.findings]


def test_what_was_built_is_clean(directory):
    assert codes(nmlgen.lint([directory], ntasks=256, icon_release="2024.10")) == []


def test_findings_of_a_build_are_those_of_its_spec(tmp_path):
    overrides = ["parallel.num_io_procs=3", "restart.restart_write_mode=async", "restart.num_restart_procs=2"]
    spec = nmlgen.load_spec(EXAMPLE, overrides)
    nmlgen.build(spec).write(tmp_path)
    meant = [finding.code for finding in nmlgen.check(spec).findings]
    assert meant
    assert sorted(codes(nmlgen.lint([tmp_path], ntasks=256))) == sorted(meant)


def test_a_mistake_is_found_where_it_stands(directory):
    change(directory, "num_io_procs = 8", "num_io_procs = 300")
    report = nmlgen.lint([directory / "icon_master.namelist"], ntasks=256)
    finding = next(finding for finding in report.errors if finding.code == "PAR005")
    assert Path(finding.file).name == "NAMELIST_nh_dcmip_tc_52_r2b5"
    assert (finding.line, finding.column) == (5, 17)


def test_without_the_number_of_tasks_what_needs_it_is_undecided(directory):
    change(directory, "num_io_procs = 8", "num_io_procs = 200")
    master = directory / "icon_master.namelist"
    known = nmlgen.lint([master], ntasks=128)
    unknown = nmlgen.lint([master])
    assert "PAR001" in codes(known)
    assert "PAR001" not in codes(unknown)
    assert "PAR001" in [item.code for item in unknown.undecided]


def test_the_script_beside_the_namelists_says_the_number_of_tasks(directory):
    change(directory, "num_io_procs = 8", "num_io_procs = 256")
    report = nmlgen.lint([directory])
    assert "PAR001" in codes(report)
    assert "PAR001" not in [item.code for item in report.undecided]
    assert nmlgen.lint([next(directory.glob("*.sbatch"))]).findings != ()


def test_syntax(directory):
    change(directory, "num_io_procs = 8", "num_io_procs = 8 # eight")
    (finding,) = nmlgen.lint([directory], ntasks=256).errors
    assert (finding.code, finding.name) == ("NML011", "namelist-syntax")
    assert finding.notes


def test_groups_that_icon_does_not_read_may_hold_anything(directory):
    path = next(directory.glob("NAMELIST_*"))
    path.write_text(path.read_text() + "&aes_phy_nml\n nonsense = = 3\n/\n&bogus_nml\n #\n/\n")
    report = nmlgen.lint([directory], ntasks=256)
    assert report.errors == ()
    assert "NML001" in codes(report)


def test_second_copies_and_hidden_groups(directory):
    path = next(directory.glob("NAMELIST_*"))
    path.write_text(path.read_text() + "&io_nml\n lkeep_in_sync = T\n/\n" + " " * 300 + "&gribout_nml\n/\n")
    report = nmlgen.lint([directory], ntasks=256)
    assert codes(report) == ["NML013", "NML012"]
    assert report.errors == ()


def test_a_missing_namelist_file(directory):
    next(directory.glob("NAMELIST_*")).unlink()
    report = nmlgen.lint([directory], ntasks=256)
    assert "NML014" in codes(report)


def test_a_namelist_by_itself(directory):
    path = next(directory.glob("NAMELIST_*"))
    assert nmlgen.lint([path], ntasks=256).errors == ()
    change(directory, "iforcing      = 3", "iforcing      = three")
    assert codes(nmlgen.lint([path], ntasks=256)) == ["NML003"]


def test_several_paths_and_releases(directory):
    path = next(directory.glob("NAMELIST_*"))
    for release in ("2024.01", "2024.07", "2024.10"):
        assert nmlgen.lint([directory, path], ntasks=256, icon_release=release).errors == ()
    with pytest.raises(nmlgen.InputError, match="1999"):
        nmlgen.lint([directory], icon_release="1999.01")
    with pytest.raises(nmlgen.InputError):
        nmlgen.lint([directory / "nothing"])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR &run_nml", "is binary"),
        (b"Dear reader,\n! a & b\n", "neither a script nor a namelist"),
        (b"#!/bin/csh -f\ncat <<E >namelist.atmosphere\n&restart\n config_do_restart = $flag\n/\nE\n", "for csh"),
    ],
)
def test_what_is_nothing_to_lint(data, message, tmp_path):
    path = tmp_path / "picture"
    path.write_bytes(data)
    with pytest.raises(nmlgen.InputError, match=message):
        nmlgen.lint([path])


@pytest.mark.parametrize("program", ["/bin/csh -f", "/usr/bin/env python3", "/usr/bin/Rscript"])
def test_of_a_batch_script_for_another_program_the_directives_are_judged(program, tmp_path):
    """sbatch reads them as in any other script; what follows is no command of a shell."""
    path = tmp_path / "job"
    head = f"#!{program}\n#SBATCH --nodes=2\n\n#SBATCH --walltime=1\n"
    body = "set a = `b\nif ($a == 'c) then\ncat <<EOF >NAMELIST_atm\n&run_nml\n x = 1\n/\nEOF\n#SBATCH --ntasks=2\n"
    path.write_text(head + body)
    found = [(finding.code, finding.line) for finding in nmlgen.lint([path]).findings]
    assert found == [("SBA004", 4), ("SBA002", 12)]
    path.write_text(f"#!{program}\n#PBS -N a\n#PBS -l waltime=1:00:00\n{body}")
    assert [(finding.code, finding.line) for finding in nmlgen.lint([path]).findings] == [("PBS003", 3)]
    path.write_text(f"# of mine\n#PBS -S /bin/csh\n#PBS -l waltime=1:00:00\n{body}")
    assert [(finding.code, finding.line) for finding in nmlgen.lint([path]).findings] == [("PBS003", 3)]


def test_what_is_nothing_to_lint_is_passed_over_among_others(tmp_path):
    texts = {
        "job.run": "#!/bin/bash\n#SBATCH --nodes=1 2\n",
        "a.csh": "#!/bin/csh\nsetenv A b\n",
        "README.md": "Set\n&output_nml\n",
        "notes": "hello\n",
        "tags": "before 2021/04/12 (otherwise)\n&output_nml\n",
        "plot.sh": "import os\nfrom sys import path\n&output_nml\n",
        "nothing": "",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "empty").mkdir()
    paths, told = sorted(tmp_path.iterdir()), list[str]()
    report = nmlgen.lint(paths, passed_over=told.append)
    assert {finding.file for finding in report.findings} == {str(tmp_path / "job.run")}
    assert sorted(message.split()[0].rpartition("/")[2] for message in told) == sorted({*texts, "empty"} - {"job.run"})
    with pytest.raises(nmlgen.InputError, match="for csh"):
        nmlgen.lint([tmp_path / "a.csh", *paths])
    with pytest.raises(nmlgen.InputError, match=r"README\.md is a text for people"):
        nmlgen.lint([tmp_path / "README.md", tmp_path / "notes"], passed_over=told.append)
    with pytest.raises(nmlgen.InputError, match="no such file"):
        nmlgen.lint([*paths, tmp_path / "typo.run"], passed_over=told.append)


@pytest.mark.parametrize("name", ["empty.run", "exp.empty", "NAMELIST_atm", "icon_master.namelist"])
def test_an_empty_file_is_nothing_to_lint_whatever_it_is_called(name, tmp_path):
    (tmp_path / name).write_text("\n")
    with pytest.raises(nmlgen.InputError, match="is empty"):
        nmlgen.lint([tmp_path / name])


def test_fragments_and_variables(tmp_path):
    path = tmp_path / "experiment"
    text = "cat >NAMELIST_atm <<EOF\n&run_nml\n num_lev = ${levels}\n/\n&nonhydrostatic_nml\n/\nEOF\n"
    path.write_text(text)
    assert "SHL003" not in codes(nmlgen.lint([path]))
    assert "SHL003" in codes(nmlgen.lint([path], is_fragment=False))
    assert "NML003" in codes(nmlgen.lint([path], variables={"levels": "3."}))
    assert "NML003" not in codes(nmlgen.lint([path], variables={"levels": "3"}))
    (tmp_path / "nmlgen.toml").write_text('[profile]\nlevels = "2.5"\n')
    assert "NML003" in codes(nmlgen.lint([path]))
    assert "NML003" not in codes(nmlgen.lint([path], variables={"levels": "3"}))
    assert "NML003" not in codes(nmlgen.lint([path], is_isolated=True))


def test_a_namelist_can_be_said_to_be_a_script(tmp_path):
    path = tmp_path / "lines"
    path.write_text("levels=3.\n. ./more\necho '&run_nml' >NAMELIST_atm\n")
    assert nmlgen.lint([path]).values is None
    assert nmlgen.lint([path], is_fragment=True).values is not None


def test_no_mutation_raises(directory):
    """Some tens; `python benchmarks/mutations.py namelists` for a hundred thousand."""
    master = (directory / "icon_master.namelist").read_text()
    path = next(directory.glob("NAMELIST_*"))
    text = path.read_text()
    generator = random.Random(1)
    script = next(directory.glob("*.sbatch"))
    job = script.read_bytes()
    script.unlink()
    for number in range(20):
        if number == 17:  # from here on it is judged as what a job reads, too
            script.write_bytes(job)
        place, length = generator.randrange(len(text)), generator.choice((0, 1, 1, 5))
        letters = generator.choice(("", "'", "&", "/", "=", ",", "*", "\n", "%", "(", "!", "9" * 12, "\x00", "é"))
        path.write_text(text[:place] + letters + text[place + length :])
        nmlgen.lint([directory], ntasks=256)
    path.write_text(text)
    script.unlink()
    for number in range(8):
        if number == 6:
            script.write_bytes(job)
        place = generator.randrange(len(master))
        (directory / "icon_master.namelist").write_text(
            master[:place] + generator.choice("'&/=*(") + master[place + 1 :]
        )
        nmlgen.lint([directory], ntasks=256)


def test_texts_that_are_not_utf8_are_judged(tmp_path):
    group = b"&run_nml\n output = '\xe9" + 300 * b"a" + b"'\n/\n"
    (tmp_path / "NAMELIST_atm").write_bytes(group)
    (tmp_path / "exp.run").write_bytes(
        b"#!/bin/bash\n#SBATCH --comment=\xe9\ncat > NAMELIST_atm <<EOF\n" + group + b"EOF\n"
    )
    for name in ("NAMELIST_atm", "exp.run"):
        findings = nmlgen.lint([tmp_path / name], is_isolated=True).findings
        assert "NML005" in {finding.code for finding in findings}, name


# --- A part is a part, and a release that nobody said is not known ---

STREAM = """&output_nml
 output_filename = 'x'
 output_start = '2000-01-01T00:00:00Z'
 output_end = '2000-01-02T00:00:00Z'
 output_interval = 'PT1H'
 steps_per_file = 3
 ml_varlist = 'temp'
/
"""
WHOLE = "&run_nml\n num_lev = 5\n/\n&grid_nml\n dynamics_grid_filename = 'g.nc'\n/\n&parallel_nml\n nproma = 8\n/\n"
MASTER = """&master_nml
/
&master_time_control_nml
 experimentStartDate = '2000-01-01T00:00:00Z'
 experimentStopDate = '2000-01-02T00:00:00Z'
/
&master_model_nml
 model_type = 1
 model_name = 'atm'
 model_namelist_filename = 'NAMELIST_atm'
/
"""


def written(directory: Path, **files: str) -> Path:
    for name, text in files.items():
        (directory / name).write_text(text)
    return directory


def test_streams_alone_are_a_part(tmp_path):
    path = written(tmp_path, NAMELIST_out=STREAM) / "NAMELIST_out"
    report = nmlgen.lint([path])
    assert codes(report) == []
    assert report.parts == (str(path),)


def test_of_a_part_is_found_what_it_tells_itself(tmp_path):
    path = written(tmp_path, NAMELIST_out=STREAM.replace("'PT1H'", "'P1H'")) / "NAMELIST_out"
    assert codes(nmlgen.lint([path])) == ["TIM012"]


def test_a_whole_namelist_is_no_part(tmp_path):
    path = written(tmp_path, NAMELIST_atm=WHOLE) / "NAMELIST_atm"
    report = nmlgen.lint([path])
    assert report.parts == ()
    assert codes(report) == ["TIM002"]


def test_a_lone_master_namelist_is_a_part(tmp_path):
    path = tmp_path / "icon_master.namelist"
    path.write_text(MASTER)
    report = nmlgen.lint([path])
    assert codes(report) == ["NML014"]
    assert report.errors == ()
    assert report.parts == (str(path),)


@pytest.mark.parametrize(("kind", "end"), [(1, "a grid"), (2, "levels"), (98, "a grid"), (99, None)])
def test_a_master_namelist_beside_a_grid_is_no_part(kind, end, tmp_path):
    """Without its file ICON stops, but for a testbed."""
    (tmp_path / "icon_master.namelist").write_text(MASTER.replace("model_type = 1", f"model_type = {kind}"))
    (tmp_path / "grid.nc").touch()
    report = nmlgen.lint([tmp_path], select=["NML014"])
    expected = "runs on with its defaults" if end is None else f"stops for want of {end}"
    assert [finding.message.endswith(expected) for finding in report.findings] == [True]
    assert len(report.errors) == (end is not None)
    assert report.parts == ()


def test_a_script_that_writes_a_master_namelist_and_starts_nothing_is_a_part(tmp_path):
    master = f"#!/bin/bash\ncat > icon_master.namelist << EOF\n{MASTER}EOF\n"
    other = "cat > NAMELIST_other << EOF\n&run_nml\n num_lev = 30\n/\nEOF\n"
    for name, text, severity in (
        ("part.sh", master, nmlgen.Severity.WARNING),
        ("starts.sh", f"{master}srun ./icon\n", nmlgen.Severity.ERROR),
        ("writes.sh", master + other, nmlgen.Severity.ERROR),
    ):
        path = tmp_path / name
        path.write_text(text)
        found = [finding for finding in nmlgen.lint([path]).findings if finding.code == "NML014"]
        assert [finding.severity for finding in found] == [severity]


TEMPLATE = """\
#!/bin/bash
grid={grid}
if [ $grid = R2B4 ]; then
  interval=P1M
elif [ $grid = R2B6 ]; then
  interval=P1D
fi
cat > NAMELIST_atm << EOF
&output_nml
 output_filename = 'surface'
 output_interval = 'PT6H'
 file_interval = "$interval"
 output_start = '2000-01-01T00:00:00Z'
 output_end = '2000-02-01T00:00:00Z'
 ml_varlist = 'tas'
/
EOF
"""


@pytest.mark.parametrize(("grid", "found"), [("RXBY", []), ("R2B4", []), ("R2B8", ["SHL003", "OUT005"])])
def test_a_value_that_stands_for_another_is_not_known(grid, found, tmp_path):
    script = tmp_path / "exp.test"
    script.write_text(TEMPLATE.format(grid=grid))
    report = nmlgen.lint([script], select=["SHL003", "OUT005"])
    assert sorted(codes(report)) == sorted(found)


def test_a_master_namelist_beside_other_namelists_is_none(tmp_path):
    written(tmp_path, NAMELIST_atn=WHOLE)
    path = tmp_path / "icon_master.namelist"
    path.write_text(MASTER)
    report = nmlgen.lint([path])
    assert [finding.code for finding in report.errors] == ["NML014"]
    assert report.parts == ()


def test_a_namelist_of_another_program_is_not_judged_as_one_of_icon(tmp_path):
    text = "&setup_nml\n dt = 60\n/\n&zbgc_nml\n x = 1\n/\n&tracer_x\n/\n&grid_nml\n kcatbound = 0\n/\n"
    path = written(tmp_path, NAMELIST_ice=text) / "NAMELIST_ice"
    (finding,) = nmlgen.lint([path]).findings
    assert (finding.code, finding.severity.value) == ("NML001", "warning")
    assert "has 1 of the 4 groups here" in finding.message
    path.write_text("&weather_nml\n/\n")
    assert 'no namelist group "weather_nml"' in nmlgen.lint([path]).findings[0].message
    # one of ICON's, one that is gone, a slip, and one of a fork
    path.write_text("&run_nml\n dtime = 'x'\n/\n&echam_phy_nml\n/\n&nwp_phi_nml\n/\n&mine_nml\n/\n")
    assert "NML003" in codes(nmlgen.lint([path]))


def test_a_stale_master_namelist_hides_nothing(tmp_path):
    script = f"#!/bin/bash\ncat > NAMELIST_atm_mine <<EOF\n{WHOLE.replace('num_lev = 5', 'num_lev = 5.5')}EOF\n"
    (tmp_path / "job.sh").write_text(script)
    alone = codes(nmlgen.lint([tmp_path / "job.sh"]))
    assert "NML003" in alone
    (tmp_path / "icon_master.namelist").write_text(MASTER)
    (tmp_path / "NAMELIST_atm").write_text(WHOLE)
    assert codes(nmlgen.lint([tmp_path / "job.sh"])) == alone


def test_a_namelist_that_a_program_writes_elsewhere_is_there(tmp_path):
    (tmp_path / "icon_master.namelist").write_text(MASTER)
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/bash\ncd /scratch/run\nawk '{ print }' template >NAMELIST_atm\nmpirun -n 4 ./icon\n")
    assert "NML014" not in codes(nmlgen.lint([script]))
    script.write_text("#!/bin/bash\ncd /scratch/run\nmpirun -n 4 ./icon\n")
    assert "NML014" in codes(nmlgen.lint([script]))


@pytest.mark.parametrize(
    ("line", "code", "is_error"),
    [
        ("ltransprt = .true.", "NML002", True),  # a slip
        ("num_io_procs = 3", "NML002", True),  # of another group
        ("my_forks_switch = 3", "NML002", False),
    ],
)
def test_a_variable_that_no_release_has_is_a_warning_unless_it_is_a_slip(tmp_path, line, code, is_error):
    text = WHOLE.replace("num_lev = 5", f"num_lev = 5\n modelTimeStep = 'PT1M'\n {line}")
    path = written(tmp_path, NAMELIST_atm=text) / "NAMELIST_atm"
    found = [finding for finding in nmlgen.lint([path]).findings if finding.code == code]
    assert [finding.severity is nmlgen.Severity.ERROR for finding in found] == [is_error]
    said = [finding for finding in nmlgen.lint([path], icon_release="2024.10").errors if finding.code == code]
    assert len(said) == 1


def test_namelists_of_an_older_release_are_not_held_against_the_checks_of_the_known_ones(tmp_path):
    text = WHOLE.replace("num_lev = 5", "num_lev = 5\n modelTimeStep = 'PT1M'\n inextra_2d = 200")
    path = written(tmp_path, NAMELIST_atm=text + "&initicon_nml\n l_sst_in = .true.\n/\n") / "NAMELIST_atm"
    report = nmlgen.lint([path])
    assert report.errors == ()
    assert any("older ICON" in note for finding in report.findings for note in finding.notes) or report.findings
    assert nmlgen.lint([path], icon_release="2024.10").errors


def test_namelists_of_a_fork_are_not_held_against_the_checks_of_the_known_releases(tmp_path):
    strange = "".join(f"\n {name}_of_my_fork = 3" for name in ("levels", "mixing", "colour"))
    text = WHOLE.replace("num_lev = 5", f"num_lev = 5\n modelTimeStep = 'PT1M'\n output = 'vlist'{strange}")
    path = written(tmp_path, NAMELIST_atm=text) / "NAMELIST_atm"
    assert nmlgen.lint([path]).errors == ()
    path.write_text(text.replace("colour_of_my_fork", "ltransprt"))  # a slip, and only two that are strange
    assert [finding.code for finding in nmlgen.lint([path]).errors] == ["NML009", "NML002"]


@pytest.mark.parametrize("name", ["pres_sfcc", "tos_of_a_fork"])
def test_an_output_variable_that_nobody_knows(tmp_path, name):
    text = WHOLE.replace("num_lev = 5", "num_lev = 5\n modelTimeStep = 'PT1M'\n iforcing = 0")
    written(tmp_path, NAMELIST_atm=text + STREAM.replace("'temp'", f"'temp', '{name}'"))
    path = tmp_path / "icon_master.namelist"
    path.write_text(MASTER)
    assert "OUT026" not in [finding.code for finding in nmlgen.lint([path]).errors]
    (found,) = [finding for finding in nmlgen.lint([path], icon_release="2024.10").errors if finding.code == "OUT026"]
    assert found.span is not None
    assert found.span.text == f"'{name}'"


@pytest.mark.parametrize("line", [f"h_levels = {', '.join(map(str, range(101)))}", "h_levels(101) = 1.0"])
def test_a_fork_may_have_larger_arrays(tmp_path, line):
    text = WHOLE.replace("num_lev = 5", "num_lev = 5\n modelTimeStep = 'PT1M'\n iforcing = 0")
    written(tmp_path, NAMELIST_atm=text + STREAM.replace("'temp'", f"'temp'\n hl_varlist = 'temp'\n {line}"))
    path = tmp_path / "icon_master.namelist"
    path.write_text(MASTER)
    codes = {"NML004", "NML006"}
    assert not codes & {finding.code for finding in nmlgen.lint([path]).errors}
    assert codes & {finding.code for finding in nmlgen.lint([path]).warnings}
    assert codes & {finding.code for finding in nmlgen.lint([path], icon_release="2024.10").errors}


def test_a_variable_that_is_no_array_holds_one_value_in_every_fork(tmp_path):
    text = WHOLE.replace("num_lev = 5", "num_lev = 5\n modelTimeStep = 'PT1M'\n iforcing = 0, 3")
    path = written(tmp_path, NAMELIST_atm=text) / "NAMELIST_atm"
    assert "NML004" in [finding.code for finding in nmlgen.lint([path]).errors]


@pytest.mark.parametrize(("more", "is_set"), [("", True), ("echo $EXPNAME", False)])
def test_a_fragment_of_another_header_than_icons(tmp_path, more, is_set):
    """What ICON's header does not set is empty behind it; another header may set anything."""
    script = tmp_path / "exp.chemistry"
    text = WHOLE.replace("num_lev = 5", "num_lev = 5\n modelTimeStep = 'PT1M'\n iforcing = 3\n inwp = $which")
    script.write_text(f"{more}\nln -sf $folder/grid.nc .\ncat >NAMELIST_atm <<EOF\n{text}EOF\n")
    found = [finding for finding in nmlgen.lint([script]).findings if finding.code == "SHL003"]
    assert (found == []) == is_set


@pytest.mark.parametrize(
    ("written", "found"),
    [("dtime = $dtime", ["SHL003"]), ("dtime = ", ["TIM002"]), ("dtime = 0.$dtime", ["SHL003", "TIM002"])],
)
def test_a_value_that_only_a_variable_has_which_nothing_sets(written, found, tmp_path):
    """Whoever starts the script may set it: not that there is none, but that it is not set is what is found."""
    script = tmp_path / "job.sh"
    text = WHOLE.replace("num_lev = 5", f"num_lev = 5\n {written}")
    script.write_text(f"#!/bin/bash\ncat >NAMELIST_atm <<EOF\n{text}EOF\n")
    assert sorted(codes(nmlgen.lint([script], select=["SHL003", "TIM002"]))) == found


@pytest.mark.parametrize(
    ("name", "is_slip"),
    [("STPO", False), ("FINSH", True), ("FINISHH", True), ("FINISHS", False), ("FINISH2", False), ("OTHERS", False)],
)
def test_a_name_that_is_nearly_the_scripts(name, is_slip, tmp_path):
    """STPO is too short, and names that differ in their last letter or number are two."""
    script = tmp_path / "job.sh"
    text = WHOLE.replace("num_lev = 5", f"num_lev = ${name}\n iforcing = $FINISH")
    script.write_text(f"#!/bin/bash\nFINISH=5\nSTOP=4\ncat >NAMELIST_atm <<EOF\n{text}EOF\n")
    found = [finding for finding in nmlgen.lint([script]).findings if finding.code == "SHL003"]
    assert [finding.notes for finding in found] == [('did you mean "FINISH"?',)] * is_slip


@pytest.mark.parametrize(
    ("line", "is_slip"),
    [
        ("cd $OUTDRI", True),
        ('cp a "${OUTDRI}/b"', True),
        ("cd $OUTDRI; ls $OUTDRI", False),  # somebody means it
        ("cd ${OUTDRI:-/tmp}", False),
        ("cd $OUTDIR", False),
        ("# cd $OUTDRI", False),
        ("export OUTDRI=/b; cd $OUTDRI", False),
        ("cd \\\\$OUTDRI", False),
        ("OUTDIR=$OUTDRI/b", True),
        ("ROOT=$ROOTS/b; cd $ROOT", False),  # which has no value yet that could be meant
        ("for year in $(seq $YEARN); do cd $year; done", False),
        ("random=5; sleep $RANDOM", False),
    ],
)
def test_a_name_that_is_nearly_the_scripts_in_a_command(line, is_slip, tmp_path):
    script = tmp_path / "job.sh"
    script.write_text(f"#!/bin/bash\nOUTDIR=/a\n{line}\ncat >NAMELIST_atm <<EOF\n{WHOLE}EOF\necho $OUTDIR\n")
    assert ("SHL003" in codes(nmlgen.lint([script]))) == is_slip


@pytest.mark.parametrize(
    ("line", "value", "is_sure"),
    [
        ("", "$begin:00", False),  # whoever starts the script may set it
        ("a=`echo $begin | cut -c 1-4`-01", "$a", False),
        ("begun=2000", "$begu:00", True),  # a slip
        ("begin=2000-01", "${begin}x", True),
    ],
)
def test_what_hangs_on_a_variable_that_nothing_sets_is_no_error(line, value, is_sure, tmp_path):
    script = tmp_path / "job.sh"
    text = WHOLE + f"&output_nml\n output_start = '{value}'\n/\n"
    script.write_text(f"#!/bin/bash\n{line}\ncat >NAMELIST_atm <<EOF\n{text}EOF\n")
    found = [finding.severity.value for finding in nmlgen.lint([script], select=["TIM012"]).findings]
    assert found == ["error" if is_sure else "warning"]


def test_plug_ins_of_comin_may_bring_variables(tmp_path):
    text = WHOLE.replace("num_lev = 5", "num_lev = 5\n modelTimeStep = 'PT1M'\n iforcing = 0")
    text += "&comin_nml\n plugin_list(1)%name = 'mine'\n/\n" + STREAM.replace("'temp'", "'temprature'")
    written(tmp_path, NAMELIST_atm=text)
    path = tmp_path / "icon_master.namelist"
    path.write_text(MASTER)
    assert "OUT026" not in codes(nmlgen.lint([path]))


@pytest.mark.parametrize(
    ("site", "severities"),
    [(None, ["WARNING", "WARNING"]), ("santis", []), ("levante", ["WARNING", "WARNING"])],
)
def test_options_of_plug_ins_are_the_sites(tmp_path, site, severities):
    path = tmp_path / "job.sh"
    path.write_text("#!/bin/bash\n#SBATCH --uenv=icon/25.2:v1\n#SBATCH --view=default\nsrun ./icon\n")
    found = nmlgen.lint([path], site=site, select=["SBA004"]).findings
    assert [finding.severity.name for finding in found] == severities


def test_a_script_of_one_of_icons_trees_is_judged_by_its_release(tmp_path):
    (tmp_path / "configure").write_text(
        "PACKAGE_NAME='icon'\nPACKAGE_TARNAME='icon-2024.10'\nPACKAGE_VERSION='2024.10'\n"
    )
    (tmp_path / "run").mkdir()
    path = tmp_path / "run" / "NAMELIST_atm"
    path.write_text("&run_nml\n modelTimeStep = 'PT1M'\n my_forks_switch = 1\n/\n")
    assert [finding.code for finding in nmlgen.lint([path], select=["NML"]).errors] == ["NML002"]


@pytest.mark.parametrize(("mode", "sediment", "is_found"), [(0, "F", True), (1, "F", False), (0, "T", False)])
def test_an_ocean_that_makes_no_steps_needs_no_forcing(tmp_path, mode, sediment, is_found):
    (tmp_path / "icon_master.namelist").write_text(MASTER.replace("model_type = 1", "model_type = 2"))
    (tmp_path / "NAMELIST_atm").write_text(
        f"&run_nml\n modelTimeStep = 'PT1H'\n test_mode = {mode}\n/\n&grid_nml\n dynamics_grid_filename = 'g'\n/\n"
        "&ocean_dynamics_nml\n n_zlev = 2\n dzlev_m = 10., 20.\n/\n"
        f"&ocean_physics_nml\n lsediment_only = {sediment}\n/\n"
    )
    found = [finding.message for finding in nmlgen.lint([tmp_path], icon_release="2024.10").errors]
    assert any("the ocean has no forcing" in message for message in found) is is_found


@pytest.mark.parametrize(
    ("text", "column"),
    [("'PT6H', \"P01H\"", 26), ("'PT6H', 'P1D'", None), ("'P01Y'", None), ("'6 hours'", 18), ("''", None)],
)
def test_intervals_of_sums_and_extremes(text, column, tmp_path):
    path = tmp_path / "NAMELIST_atm"
    path.write_text(f"&run_nml\n iforcing = 3\n/\n&grid_nml\n/\n&io_nml\n maxt_interval = {text}\n/\n")
    found = [finding for finding in nmlgen.lint([path]).findings if finding.code == "TIM012"]
    assert [finding.column for finding in found] == ([] if column is None else [column])
    path.write_text(path.read_text().replace("iforcing = 3", "iforcing = 2"))
    assert "TIM012" not in codes(nmlgen.lint([path]))


@pytest.mark.parametrize(
    "group",
    [
        "&synradar_nml\n synradar_meta%itype_refl = 4\n/",  # a type of an external, which no registry has
        "&io_nml\n dt_checkpoint =\t\t$dtrestart ! filled in\n/",  # a template
        "&io_nml\n dt_checkpoint = $dtrestart\n/",
    ],
)
def test_what_only_others_know_is_no_error(group, tmp_path):
    (tmp_path / "NAMELIST_atm").write_text(f"&run_nml\n iforcing = 3\n/\n{group}\n")
    assert nmlgen.lint([tmp_path / "NAMELIST_atm"], icon_release="2024.10", select=["NML"]).errors == ()


@pytest.mark.parametrize("name", ["dbz_850", "dbz_cmax", "dbz_ctmax", "lapse_rate"])
def test_variables_that_are_there_because_they_are_asked_for(name, tmp_path):
    path = tmp_path / "NAMELIST_atm"
    path.write_text(
        "&run_nml\n iforcing = 3\n/\n&grid_nml\n/\n&io_nml\n output_nml_dict = ''\n/\n&nwp_phy_nml\n/\n"
        f"&output_nml\n output_filename = 'a'\n ml_varlist = '{name}'\n/\n"
    )
    assert "OUT027" not in codes(nmlgen.lint([path], icon_release="2024.10"))


def test_models_whose_names_only_a_run_knows_may_run_one_behind_the_other(tmp_path):
    script = tmp_path / "exp.two.run"
    stream = "&output_nml\n output_filename = 'same'\n file_interval = 'P1D'\n/\n"
    parts = [f"cat > $(name {number}) << EOF\n&nonhydrostatic_nml\n/\n{stream}EOF\nsrun icon\n" for number in (1, 2)]
    script.write_text("#!/bin/bash\n" + "".join(parts))
    assert not {"OUT041", "RST015"} & set(codes(nmlgen.lint([script])))


def test_a_template_of_python_is_not_yet_a_script(tmp_path):
    script = tmp_path / "job.sh"
    text = "#!/bin/bash\nmkdir -p {cfg.out}\nfail(){{\n  echo ${{1}}\n}}\n"
    script.write_text(text)
    assert nmlgen.lint([script]).errors == ()
    script.write_text(text.replace("{cfg.out}", "out"))
    assert codes(nmlgen.lint([script])) == ["SHL001"]
    (tmp_path / "templates").mkdir()
    for name in ("templates/job.sh", "Notes2_runs.bash"):
        (tmp_path / name).write_text(script.read_text())
        assert nmlgen.lint([tmp_path / name]).errors == ()
    for line in ("export RATE=your_rate(float)", "export NAME=<????>", "kill £(< pid)", "load <other stuff> \r"):
        script.write_text(f"#!/bin/bash\n{line}\n")
        assert nmlgen.lint([script]).errors == ()
    script.write_text("#!/bin/bash\nd=/scratch <7>\n")
    assert nmlgen.lint([script]).errors == ()
    script.write_text("#!/bin/bash\n<% if questions.name -%>\nsrun a\n<% end -%>\n")
    assert nmlgen.lint([script]).errors == ()


@pytest.mark.parametrize(
    ("name", "text", "number"),
    [
        ("job_header", "for i in 1 2; do\n date", 0),
        ("prologue.sh", "{\ndate", 0),
        ("job_footer.ksh", " date\ndone", 0),
        ("job_footer.ksh", "for i in 1 2; do\n date", 1),
        ("job_header", "date )\nfor i in 1 2; do\n date", 1),
        ("job_header", "for i in 1 2; do\n date\nfi", 1),
        ("ahead.sh", "for i in 1 2; do\n date", 1),
        ("job.sh", "for i in 1 2; do\n date", 1),
    ],
)
def test_a_block_goes_on_behind_the_beginning_of_a_script(name, text, number, tmp_path):
    (tmp_path / name).write_text(f"#!/bin/ksh\n{text}\n")
    report = nmlgen.lint([tmp_path / name])
    assert len(report.errors) == number
    assert "SHL001" in codes(report)


@pytest.mark.parametrize(("beginning", "number"), [("", 0), ("#!/bin/bash\n", 1), ("true\n" * 10, 1)])
def test_a_text_that_is_hardly_a_script(beginning, number, tmp_path):
    script = tmp_path / "job.sh"
    script.write_text(f"{beginning}f (x) = x\n# a remark\nbegin (a)\nend (a)\n")
    assert len(nmlgen.lint([script]).errors) == number


@pytest.mark.parametrize(
    ("name", "beginning", "number"),
    [
        ("plan", "", 0),
        ("plan.sh", "", 1),
        ("plan", "#!/bin/sh\n", 1),
        ("plan", "#SBATCH --nodes=1\n", 2),  # and sbatch wants a first line
        ("exp.plan", "", 1),
        ("plan", "cat >NAMELIST_plan <<EOF\n&run_nml\n dtime = 60.0\n/\nEOF\n", 1),
    ],
)
def test_a_text_is_taken_for_a_script_by_its_here_documents(name, beginning, number, tmp_path):
    (tmp_path / name).write_text(f"{beginning}cat <<EOF\nall of it\nEOF\nif a; then b\n")
    report = nmlgen.lint([tmp_path / name])
    assert len(report.errors) == number
    assert "SHL001" in codes(report)


@pytest.mark.parametrize(("first", "number"), [("#!/bin/ksh\t\t\t#!/bin/ksh", 0), ("#!/bin/ksh", 1)])
def test_two_scripts_side_by_side_are_none(first, number, tmp_path):
    script = tmp_path / "changes"
    script.write_text(f"{first}\nif a; then\t\t\t|\tif b; then\n  date\t\t\t\t  date\nfi\t\t\t\tfi\n")
    assert len(nmlgen.lint([script]).errors) == number


def test_of_what_a_shell_cannot_read_the_first_is_an_error(tmp_path):
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/bash\ntrue\n" * 20 + "a )\ntrue\nb )\nif c\n")
    found = [(finding.line, finding.severity.value) for finding in nmlgen.lint([script]).findings]
    assert found == [(41, "error"), (43, "warning"), (44, "warning")]


@pytest.mark.parametrize(("times", "number"), [(9, 1), (10, 0)])
def test_a_script_most_of_which_is_of_another_language(times, number, tmp_path):
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/bash\n" + "result <- f(x)\n" * times)
    report = nmlgen.lint([script])
    assert len(report.errors) == number
    assert "SHL001" in codes(report)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("true\n" * 10 + "For one (a):\n", 0),
        ("true\n" * 10 + "library(a)\n", 0),
        ("true\n" * 10 + "a<-f(b)\n", 0),
        ("true\n" * 10 + "2.5 / ( 3 )\n", 0),
        ('ls run\n <?xml version="1.1"?>\n', 0),
        ("ls run\n</fields>\n", 0),
        ('ls run\n<field id="a">\n', 0),
        ('#!/bin/sh\nls run\n<?xml version="1.1"?>\n', 1),
        ("ls run\n<in sort >\n", 1),
        ("#!/bin/sh\n2.5 / ( 3 )\n", 1),
        ("true\n" * 10 + "1) copy\n", 0),
        ("true\nStep 2)\n", 0),
        ("#!/bin/bash\n1) copy\n", 1),
        ("1) a;;\nesac\n", 1),
        ("ls run # and then\nif it is not a complete download will it say so\n", 0),
        ("#!/bin/sh\nls run\nif it is not a complete download will it say so\n", 1),
        ("if a\nls run\nif b; then\n", 1),
    ],
)
def test_a_text_that_does_not_say_that_it_is_a_script_may_be_for_people(text, number, tmp_path):
    script = tmp_path / "job.sh"
    script.write_text(text)
    assert len(nmlgen.lint([script]).errors) == number


SENTENCES = (
    "The runs of the last year are in another place.",
    "All of them have been moved there (but for two)",
    "If a run is not there it was never done",
)


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        (SENTENCES, 0),
        (SENTENCES[:2], 1),
        ((*SENTENCES[:1], "run (a)", *SENTENCES), 1),
        (("true",) * 20 + ("(base) [ann@login2 run (1)]$ sbatch job",), 0),
        (("true",) * 20 + ("ann@login2:~/run$ (cd a; ls) b",), 0),
        (("true",) * 20 + ("mysql> USE runs;", "mysql> ADD COLUMN name char(8);"), 0),
        (("true",) * 20 + ("$ for run in a b; do", "$ for run in a b; do", "> ls $run"), 0),
        (("true",) * 20 + ("$ for run in a b; do", "> ls $run"), 1),
        (("true",) * 20 + ("print> out (a)",), 1),
        (("true",) * 20 + ("grid=<path of the grid (as /pool/r2b4.nc)>",), 0),
        (("true",) * 20 + ("ls <of (a) >b",), 1),
        (("true",) * 20 + ("for i in $(echo #TABLE:site:key=servers:value# | wc)", "do ls", "done"), 0),
        (("true",) * 20 + ("for i in $(echo #TABLE: of servers | wc)", "do ls", "done"), 1),
    ],
)
def test_a_text_for_people_may_have_commands(lines, number, tmp_path):
    script = tmp_path / "job.sh"
    script.write_text("\n".join(("#!/bin/bash", "ls", *lines, "")))
    assert len(nmlgen.lint([script]).errors) == number


def test_carriage_returns_behind_numbers_for_programs_are_a_warning(tmp_path):
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/sh\npython3 sum.py 0\r\npython3 sum.py in 1.5\r\n")
    report = nmlgen.lint([script])
    assert (codes(report), report.errors) == (["SHL001"], ())
    script.write_text('#!/bin/sh\necho "all is done"\r\nexit\n')
    assert nmlgen.lint([script]).errors == ()
    for line in ("exit 0", "a=1", "sleep 5", "", "cat 2.txt", "if a; then", "echo a >b"):
        script.write_text(f"#!/bin/sh\npython3 sum.py 0\r\n{line}\r\n")
        assert [found.code for found in nmlgen.lint([script]).errors][:1] == ["SHL001"]


def test_files_of_which_no_name_is_known(tmp_path):
    """One may be the rest of another, and a copy of it lie in a directory."""
    script = tmp_path / "job.sh"
    text = 'echo "$(a)" >"$(b)_c/$(d)"\nlog=$(e)\nprogram >>$log\ncp $log $(f)/g/.\n'
    script.write_text(f"#!/bin/bash\n{text}")
    assert nmlgen.lint([script]).findings == ()


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("account=<your account>", 0),
        ("<modules>", 0),
        ("account=<<<account>>>", 0),
        ("account=<<account>>", 0),
        ("cd <run directory> && ls", 0),
        ("for step in <steps>\ndo\n  true\ndone", 0),
        ("srun <path/to/program> <input file> \\\n  > output", 0),
        ("sort <input >", 1),
        ("echo >", 1),
        ("for step in a >b\ndo\n  true\ndone", 1),
    ],
)
def test_where_somebody_writes_something_the_shell_has_not_seen_it_yet(line, number, tmp_path):
    script = tmp_path / "job.sh"
    script.write_text(f"#!/bin/bash\n{line}\n")
    report = nmlgen.lint([script])
    assert len(report.errors) == number
    assert "SHL001" in codes(report)


@pytest.mark.parametrize("preset", ["omip", "waves", "land", "coupled", "amip"])
def test_each_namelist_of_a_build_by_itself_is_clean(preset, tmp_path):
    given = [
        f"extends=icon/{preset}",
        "site=levante",
        "model.directory=/work/bb1234/icon",
        "model.executable=icon",
        "job.account=bb1234",
        "job.nodes=1",
        "darshan=false",
    ]
    nmlgen.build(nmlgen.load_spec({"nmlgen": 1, "name": preset}, given)).write(tmp_path)
    for path in sorted(tmp_path.glob("NAMELIST_*")):
        assert codes(nmlgen.lint([path], icon_release="2024.10")) == []


@pytest.mark.parametrize(
    ("made", "settings", "missing"),
    [
        ("out", "&output_nml output_filename = 'out/a', ml_varlist = 'u' /", []),
        ("x", "&output_nml output_filename = 'out/a', ml_varlist = 'u' /", ["out"]),
        ("x", "&output_nml output_filename = 'a', filename_format = 'f/<output_filename>_<jfile>' /", ["f"]),
        ("f", "&output_nml output_filename = 'a', filename_format = 'f/<output_filename>_<jfile>' /", []),
        ("out/", "&output_nml output_filename = './a', filename_format = 'out/<output_filename>_<jfile>' /", []),
        ("./out", "&output_nml output_filename = 'x/../out//a', ml_varlist = 'u' /", []),
        ("x", "&output_nml output_filename = 'a/b', filename_format = '<jfile>' /", []),
        ("x", "&run_nml modelTimeStep = 'PT2M', restart_filename = 'r/<mtype>_<rsttime>.nc' /", ["r"]),
        ("r", "&run_nml restart_filename = 'r/<mtype>_<rsttime>.nc' /", []),
        ("$x", "&run_nml restart_filename = 'r/<mtype>_<rsttime>.nc' /", []),
    ],
)
def test_directories_that_a_script_does_not_make(made: str, settings: str, missing: list[str], tmp_path: Path) -> None:
    script = tmp_path / "exp.run"
    script.write_text(_CHAIN.replace("MADE", made).replace("SETTINGS", settings))
    found = nmlgen.lint([script], select=["SHL004"]).findings
    assert [finding.message.split('"')[1] for finding in found] == missing


_CHAIN = """\
#!/bin/bash
mkdir -p MADE
cat >NAMELIST_atm <<EOF
&grid_nml dynamics_grid_filename = 'grid.nc' /
SETTINGS
EOF
cat >icon_master.namelist <<EOF
&master_nml lrestart = .false. /
&master_model_nml model_type = 1, model_name = 'atm', model_namelist_filename = 'NAMELIST_atm' /
&master_time_control_nml
  experimentStartDate = '2000-01-01T00:00:00Z', experimentStopDate = '2000-01-03T00:00:00Z',
  checkpointTimeIntval = 'P1D', restartTimeIntval = 'P2D' /
EOF
srun ./icon
"""


def test_a_release_that_knows_one_group_only(tmp_path):
    """As that of a tree with a part of ICON's sources."""
    groups = {"x_nml": {"component": "atmosphere", "variables": {"x": {"type": "integer"}}}}
    registry, path = tmp_path / "part.json", tmp_path / "NAMELIST_a"
    registry.write_text(json.dumps({"format": 1, "model": "icon", "release": "2025.04", "groups": groups}))
    path.write_text("&run_nml\n num_lev = 30\n/\n")
    found = nmlgen.lint([path], icon_release=str(registry)).findings
    assert [finding.message for finding in found if "mistake in nmlgen" in finding.message] == []
    assert "output_nml" not in editor_schema(read_registry(registry))["$defs"]


def test_namelists_of_other_programs_in_a_directory_are_passed_over(tmp_path):
    """WAVEWATCH III has groups that are called as ICON's are; a slip in a name is no other program."""
    other = "&spectrum_nml\n/\n&run_nml\n/\n&grid_nml\n/\n&rect_nml\n/\n"
    written(
        tmp_path, **{"ww3_grid.nml": other, "slip.nml": "&outptu_nml\n/\n", "more.nml": "&io_nml\n/\n&mine_nml\n/\n"}
    )
    report = nmlgen.lint([tmp_path])
    assert [finding.code for finding in report.findings] == ["NML001", "NML001"]
    assert "NML001" in codes(nmlgen.lint([tmp_path / "ww3_grid.nml"]))


def test_a_path_is_found_by_its_beginning_its_end_or_as_it_is() -> None:
    draw = random.Random(4)
    names = ["/".join(draw.choice("ab-") for _ in range(draw.randrange(1, 5))) for _ in range(400)]
    for number in range(0, 400, 8):
        made = names[number : number + 7]
        paths, sought = _Paths(made), names[number + 7]
        alike = [n == sought or n.startswith(f"{sought}/") or n.endswith(f"/{sought}") for n in made]
        assert paths.hold(sought) is any(alike)


def test_where_variables_are_given_a_value_first() -> None:
    text = "a=$b\nexport c=1 d=2 c=3\nfor e in $a; do x-f=1 $g=2 h=i=3; done\n"
    places = {name: text.index(f"{name}=") for name in "acdhi"} | {"e": text.index("for")}
    assert _first_given(text) == places
