"""Jobs of models that are not ICON, run by a real Slurm: a stand-in of the shell for the model."""

from __future__ import annotations

import pytest

import nmlgen

MODEL = """\
#!/bin/bash
[[ $(cat input/state) == "a state" ]] || exit 4
if (( SLURM_PROCID == 0 )); then sort -u namelist.input >seen; fi
echo "$SLURM_NODEID" >"rank.$SLURM_PROCID"
"""


@pytest.fixture
def spec(tmp_path):
    """A job of WRF on two nodes."""
    (tmp_path / "wrf.exe").write_text(MODEL)
    (tmp_path / "wrf.exe").chmod(0o755)
    (tmp_path / "state").write_text("a state\n")
    return {
        "nmlgen": 1,
        "name": "wave",
        "site": "generic-slurm",
        "model": {"name": "wrf", "directory": str(tmp_path), "executable": "wrf.exe"},
        "job": {"nodes": 2, "ntasks_per_node": 4, "time": "00:10:00"},
        "input_files": {"input/state": {"source": "state"}},
        "namelists": {
            "time_control": {"run_days": 5, "restart_interval": 1440},
            "domains": {"time_step": 600, "max_dom": 1, "e_we": 410, "e_sn": 810, "e_vert": 65, "dx": 1e5},
            "physics": {"mp_physics": 0, "sf_surface_physics": 0},
            "dynamics": {"diff_opt": 1, "km_opt": 1},
            "namelist_quilt": {"nio_tasks_per_group": 0},
        },
    }


def test_a_job_of_another_model_runs_once(cluster, spec, tmp_path):
    directory, run = tmp_path / "build", tmp_path / "build" / "run"
    nmlgen.build(spec).write(directory)
    first = cluster.submit(directory / "wave.sbatch", directory)
    cluster.wait_until_idle()
    assert cluster.job(first).state.name == "COMPLETED", (directory / f"wave.{first}.log").read_text()
    assert [(run / f"rank.{rank}").read_text() for rank in range(8)] == ["0\n"] * 4 + ["1\n"] * 4
    assert " restart_interval = 1440" in (run / "seen").read_text().splitlines()
    assert (run / "nmlgen.legs").read_text() == f"1 {first} OK\n"
    second = cluster.submit(directory / "wave.sbatch", directory)
    cluster.wait_until_idle()
    assert cluster.job(second).state.name == "FAILED"
    assert "the experiment has run to its end" in (directory / f"wave.{second}.log").read_text()


def test_what_the_model_returns_is_what_became_of_the_job(cluster, spec, tmp_path):
    directory = tmp_path / "build"
    (tmp_path / "state").write_text("another\n")
    nmlgen.build(spec).write(directory)
    job = cluster.submit(directory / "wave.sbatch", directory)
    cluster.wait_until_idle()
    assert (cluster.job(job).state.name, cluster.job(job).state.exit_code) == ("FAILED", 4)
    assert "error: WRF ended with exit code 4" in (directory / f"wave.{job}.log").read_text()
    (tmp_path / "state").write_text("a state\n")  # and it may be tried again
    again = cluster.submit(directory / "wave.sbatch", directory)
    cluster.wait_until_idle()
    assert cluster.job(again).state.name == "COMPLETED"


WRF = """\
#!/bin/bash
value() { sed -nE "s/^ *$1 *= *([0-9]+\\\\*)?([0-9]+).*/\\\\2/p" namelist.input | tail -n 1; }
if [[ $0 == */ideal.exe ]]; then
  if (( SLURM_NTASKS != 1 )); then exit 3; fi
  echo made >wrfinput_d01
elif (( SLURM_PROCID == 0 )); then
  [[ $(cat wrfinput_d01) == made ]] || exit 4
  if grep -q 'restart *= *.TRUE.' namelist.input; then
    [[ -f $(printf 'wrfrst_d01_0001-01-%02d_00:00:00' "$((10#$(value start_day)))") ]] || exit 5
  fi
  day=$(( 10#$(value start_day) + $(value run_days) ))
  echo "$day" >>days
  touch "$(printf 'wrfrst_d01_0001-01-%02d_00:00:00' "$day")"
fi
"""
PALM = """\
#!/bin/bash
(( SLURM_PROCID == 0 )) || exit 0
job=$(cat BININ 2>/dev/null) || job=0
grep -q "initializing_actions *= *'read_restart_data'" PARIN && read=yes || read=no
echo "$job $read" >>jobs
echo "$((job + 1))" >BINOUT
if (( job < 2 )); then touch CONTINUE_RUN; fi
"""
MPAS = """\
#!/bin/bash
(( SLURM_PROCID == 0 )) || exit 0
if [[ $0 == */init_atmosphere_model ]]; then cp namelist.init_atmosphere made; exit; fi
[[ -s made ]] || exit 4
start=$(sed -n "s/^ *config_start_time *= *'\\\\(.*\\\\)'/\\\\1/p" namelist.atmosphere | tail -n 1)
echo "$start $(sed -n 's/^ *config_do_restart *= *//p' namelist.atmosphere | tail -n 1)" >>starts
hour=${start:11:2}
printf ' 0000-01-01_%02d:00:00 \\n' "$((10#$hour + 2))" >restart_timestamp
"""


@pytest.fixture
def chain(cluster, tmp_path):
    """Run a chain of jobs of a preset's model; the directory of the run."""

    def run(preset, programs, jobs, **more):
        for name, text in programs.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
            (tmp_path / name).chmod(0o755)
        spec = {
            "nmlgen": 1,
            "name": "ideal",
            "extends": preset,
            "site": "generic-slurm",
            "model": {"directory": str(tmp_path)},
            "job": {"nodes": 1, "ntasks_per_node": 4, "time": "00:10:00"},
            "restart": {"jobs": jobs},
            **more,
        }
        build = tmp_path / "build"
        nmlgen.build(spec).write(build)
        first = cluster.submit(build / "ideal.sbatch", build)
        cluster.wait_until_idle()
        logs = "".join(path.read_text() for path in sorted(build.glob("*.log")))
        assert cluster.job(first).state.name == "COMPLETED", logs
        return build / "run"

    return run


def test_a_chain_of_wrf_goes_on_from_its_restart_files(chain, tmp_path):
    (tmp_path / "test/em_b_wave").mkdir(parents=True)
    (tmp_path / "test/em_b_wave/input_jet").touch()
    times = {"run_days": 2, "restart_interval": 2880}
    programs = {"main/wrf.exe": WRF, "main/ideal.exe": WRF}
    run = chain("wrf/b_wave", programs, 3, namelists={"time_control": times})
    assert (run / "days").read_text() == "3\n5\n7\n"
    assert [line.split()[2] for line in (run / "nmlgen.legs").read_text().splitlines()] == ["RESTART", "RESTART", "OK"]
    assert " start_month = 1*01" in (run / "namelist.input").read_text().splitlines()


def test_a_chain_of_palm_ends_where_palm_is_done(chain):
    asks = {
        "namelists": {"runtime_parameters": {"dt_restart": 600.0}},
        "namelist_files": {"ENVPAR": {"envpar": {"write_binary": True}}},
    }
    run = chain("palm/cbl", {"palm": PALM}, 5, **asks)
    assert (run / "jobs").read_text() == "0 no\n1 yes\n2 yes\n"
    assert [line.split()[2] for line in (run / "nmlgen.legs").read_text().splitlines()] == ["RESTART", "RESTART", "OK"]


def test_a_chain_of_mpas_begins_at_the_time_of_its_last_restart_file(chain, tmp_path):
    case = tmp_path / "supercell"
    case.mkdir()
    for name in ("supercell_grid.nc", "supercell.graph.info.part.4", "streams.init_atmosphere"):
        (case / name).touch()
    (tmp_path / "LANDUSE.TBL").touch()
    (case / "streams.atmosphere").write_text("<streams>\n</streams>\n")
    run = chain("mpas/supercell", {"atmosphere_model": MPAS, "init_atmosphere_model": MPAS}, 3)
    assert (run / "starts").read_text() == (
        "0000-01-01_00:00:00 .FALSE.\n0000-01-01_02:00:00 .true.\n0000-01-01_04:00:00 .true.\n"
    )


def test_what_makes_the_input_of_a_model_fails_the_job(cluster, spec, tmp_path):
    directory = tmp_path / "build"
    (tmp_path / "real.exe").write_text("#!/bin/bash\necho 'no met_em files' >rsl.error.0000\nexit 9\n")
    (tmp_path / "real.exe").chmod(0o755)
    nmlgen.build({**spec, "before": {"real": {"executable": "real.exe"}}}).write(directory)
    job = cluster.submit(directory / "wave.sbatch", directory)
    cluster.wait_until_idle()
    log = (directory / f"wave.{job}.log").read_text()
    assert cluster.job(job).state.exit_code == 70, log
    assert "no met_em files\n" in log
    assert "error: real ended with exit code 9; log: " in log
    assert not list((directory / "run").glob("rank.*"))
