"""The placement of scripts that somebody wrote: programs, ranks, nodes and GPUs, as a spec says them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from placements import SITE
from specs import unchecked_build

from nmlgen import compare, import_spec, load_spec
from nmlgen.errors import InputError
from nmlgen.models.icon.placement import placement
from nmlgen.source import Source
from nmlgen.spec.document import read_text

NAMELISTS = """\
cat >icon_master.namelist <<EOF
&master_nml
 lrestart = .false.
/
&master_time_control_nml
 experimentStartDate = "2000-01-01T00:00:00Z"
 experimentStopDate = "2000-01-01T03:00:00Z"
/
&master_model_nml
 model_type = 1
 model_name = "atmo"
 model_namelist_filename = "NAMELIST_atm"
 model_min_rank = 0
 model_max_rank = $((atm_tasks - 1))
 model_inc_rank = 1
/
&master_model_nml
 model_type = 2
 model_name = "ocean"
 model_namelist_filename = "NAMELIST_oce"
 model_min_rank = $atm_tasks
 model_max_rank = $((atm_tasks + oce_tasks - 1))
/
EOF
cat >NAMELIST_atm <<EOF
&parallel_nml
 nblocks_c = 1
 num_io_procs = $atm_io
 num_prefetch_proc = 0
/
&grid_nml
 dynamics_grid_filename = "grid_G.nc"
/
&run_nml
 num_lev = 30
 modelTimeStep = "PT10M"
/
EOF
cat >NAMELIST_oce <<EOF
&parallel_nml
 nproma = 16
 num_io_procs = $oce_io
 num_prefetch_proc = 0
/
&grid_nml
 dynamics_grid_filename = "grid_O.nc"
/
&run_nml
 modelTimeStep = "PT10M"
/
EOF
ln -sf /pool/grid_G.nc .
ln -sf /pool/grid_O.nc .
"""
HEAD = """\
#!/bin/bash
#SBATCH --job-name=hybrid
#SBATCH --partition=compute
#SBATCH --nodes=3
#SBATCH --gpus-per-node=4
#SBATCH --mem=0
#SBATCH --time=01:00:00
"""
WRITTEN_WRAPPERS = """\
cat >atm_gpu.sh <<EOF
#!/bin/bash
export MPICH_GPU_SUPPORT_ENABLED=0
gpu=\\$((SLURM_LOCALID % 4))
export CUDA_VISIBLE_DEVICES=\\$gpu
numa=(1 1 0 0)
numactl --cpunodebind=\\${numa[\\$gpu]} --membind=\\${numa[\\$gpu]} ${MODEL_G}
EOF
cat >oce_cpu.sh <<EOF
#!/bin/bash
export OMP_STACKSIZE=256M
export OMP_NUM_THREADS=2
core=\\$((SLURM_LOCALID - $SLURM_GPUS_ON_NODE))
numactl --physcpubind=\\$core ${MODEL_C}
EOF
chmod +x atm_gpu.sh oce_cpu.sh
"""
HYBRID = (
    HEAD
    + """\
atm_io=0 oce_io=1 out=2
atm_tasks=$((SLURM_JOB_NUM_NODES * SLURM_GPUS_ON_NODE))
oce_tasks=$((SLURM_JOB_NUM_NODES * 3 - out))
total=$((atm_tasks + oce_tasks + out))
"""
    + NAMELISTS
    + WRITTEN_WRAPPERS
    + """\
export SLURM_HOSTFILE=hosts.$SLURM_JOB_ID
python3 make_hosts.py >$SLURM_HOSTFILE
first=$((atm_tasks + oce_tasks))
cat >programs.conf <<EOF
0-$((atm_tasks - 1)) ./atm_gpu.sh
$atm_tasks-$((first - 1)) ./oce_cpu.sh
$first $OUTPUT fine.yaml
$((first + 1)) $OUTPUT coarse.yaml
EOF
srun -l --mem=0 --distribution=arbitrary --nodes=${SLURM_JOB_NUM_NODES:-1} --ntasks=$total \\
  --cpus-per-task=4 --cpu-bind=v,none --overcommit --multi-prog programs.conf
"""
)
VARIABLES = {
    "SLURM_GPUS_ON_NODE": "4",
    "SLURM_JOB_ID": "1",
    "MODEL_G": "/model/icon-gpu",
    "MODEL_C": "/model/icon-cpu",
    "OUTPUT": "/model/writer",
}
HOSTS = [*["n1"] * 4, *["n2"] * 4, *["n3"] * 4, *["n1"] * 3, *["n2"] * 2, *["n3"] * 2, "n3", "n2"]


def imported(directory: Path, text: str, hosts: list[str] | None = None, **more: Any) -> tuple[Any, Any]:
    """What import makes of a script, and the experiment of its spec."""
    (directory / "site.yaml").write_text(SITE)
    script = directory / "hybrid.run"
    script.write_text(text)
    names = directory / "hosts.old"
    if hosts is not None:
        names.write_text("".join(f"{host}\n" for host in hosts))
    found = import_spec(
        script,
        site=str(directory / "site.yaml"),
        hosts=None if hosts is None else names,
        **{"variables": VARIABLES, **more},
    )
    document = read_text(Source("spec", found.text)).plain() | {"site": str(directory / "site.yaml")}
    return found, load_spec(document)


def nodes_of(experiment: Any) -> list[int]:
    return [seat.node for seat in placement(experiment)]


def numbered(hosts: list[str]) -> list[int]:
    return [int(host[1:]) - 1 for host in hosts]


def test_a_hybrid_script_comes_back(tmp_path: Path) -> None:
    """Wrappers that the script writes, a program of its own, and nodes that only a run knew."""
    found, spec = imported(tmp_path, HYBRID, HOSTS)
    assert found.remarks == ()
    experiment = spec.experiment
    assert [program.path for program in experiment.programs] == [
        "models.atmo",
        "models.ocean",
        "programs.writer",
        "programs.writer_2",
    ]
    assert nodes_of(experiment) == numbered(HOSTS)
    seats = placement(experiment)
    assert [seat.gpu for seat in seats[:12]] == [0, 1, 2, 3] * 3
    assert {seat.gpu for seat in seats[12:]} == {None}
    atm, oce, one, other = experiment.programs
    assert atm.said("executable") == "/model/icon-gpu"
    assert oce.said("executable") == "/model/icon-cpu"
    assert atm.said("seats") is None  # as every program on GPUs
    assert (oce.said("seats"), oce.said("tasks")) == (None, 7)  # as equal a share as can be
    assert (one.said("command"), other.said("command")) == ("/model/writer fine.yaml", "/model/writer coarse.yaml")
    assert one.said("seats") == "1 on 2"
    assert atm.environment["MPICH_GPU_SUPPORT_ENABLED"].value == "0"
    assert oce.environment["OMP_NUM_THREADS"].value == "2"
    assert "SLURM_HOSTFILE" not in experiment.environment
    build = tmp_path / "build"
    unchecked_build(spec).write(build)
    assert compare(spec, build).differences == ()


def test_what_a_spec_with_a_placement_asks_for_comes_back() -> None:
    """All of it, also what follows from its site: memory of whole nodes, signals, output."""
    found = import_spec(Path(__file__).parents[2] / "examples" / "aquaplanet_gpu.yaml")
    assert [remark for remark in found.remarks if "#SBATCH" in remark or "job." in remark] == []


def test_without_the_hosts_of_a_run(tmp_path: Path) -> None:
    found, spec = imported(tmp_path, HYBRID)
    assert [remark for remark in found.remarks if "--hosts" in remark] == list(found.remarks)
    assert len(found.remarks) == 1
    assert [len([s for s in placement(spec.experiment) if s.program == number]) for number in range(4)] == [12, 7, 1, 1]


def test_too_few_hosts(tmp_path: Path) -> None:
    found, _ = imported(tmp_path, HYBRID, HOSTS[:-1])
    assert any("the file of hosts names 20, and the job has 21 ranks" in remark for remark in found.remarks)


def test_a_file_that_names_no_hosts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no file of hosts"):
        imported(tmp_path, HYBRID, ["0-11 ./atm_gpu.sh"])


ATM_WRAPPER = """\
#!/bin/bash -l
sockets=$(nvidia-smi --list-gpus | wc -l)
export NUMA_NODE=$((SLURM_LOCALID % sockets))
export CUDA_VISIBLE_DEVICES=$NUMA_NODE
export OMP_NUM_THREADS=1
numactl --cpunodebind=$NUMA_NODE --membind=$NUMA_NODE bash -c "$@"
"""
OCE_WRAPPER = """\
#!/bin/bash -l
sockets=$(nvidia-smi --list-gpus | wc -l)
export NUMA_NODE=$(((SLURM_LOCALID - GPUS_EACH) / 1 % sockets))
export CUDA_VISIBLE_DEVICES=$NUMA_NODE
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
numactl --cpunodebind=$NUMA_NODE --membind=$NUMA_NODE bash -c "$@"
"""
BY_FUNCTIONS = (
    HEAD
    + """\
if [[ $# -lt 1 ]]; then echo "which target?"; exit 1; fi
export TARGET=$1
export GPUS_EACH=4
EACH=9
atm_io=2 oce_io=3
atm_tasks=$((GPUS_EACH * SLURM_JOB_NUM_NODES + atm_io))
total=$((EACH * SLURM_JOB_NUM_NODES))
oce_tasks=$((total - atm_tasks))
programs() {
  cat >multi-prog.conf <<EOF
0-$((atm_tasks - 1)) ../wrappers/atm.sh ./icon_gpu
$atm_tasks-$((total - 1)) ../wrappers/oce.sh ./icon_cpu
EOF
}
run_model() {
  case $TARGET in
    hybrid) srun -l --distribution=arbitrary --hint=nomultithread --ntasks=$total --cpus-per-task=2 \\
      --multi-prog multi-prog.conf ;;
    cpu) srun -l --ntasks=$total ./icon_cpu ;;
  esac
}
"""
    + NAMELISTS
    + """\
programs
uv run create_hosts --output hosts-$SLURM_JOB_ID
export SLURM_HOSTFILE=$(pwd)/hosts-$SLURM_JOB_ID
ln -sf /model/build-cpu/bin/icon icon_cpu
ln -sf /model/build-gpu/bin/icon icon_gpu
run_model
"""
)
BALANCED = [
    *[host for host in ("n1", "n2", "n3") for _ in range(4)],
    *["n1", "n2"],
    *["n1"] * 3,
    *["n2"] * 3,
    *["n3"] * 4,
    *["n3", "n1", "n2"],
]


def test_wrappers_beside_and_a_target(tmp_path: Path) -> None:
    """The script wants to know what for; its wrappers lie beside it, and both show GPUs."""
    (tmp_path / "wrappers").mkdir()
    (tmp_path / "wrappers" / "atm.sh").write_text(ATM_WRAPPER)
    (tmp_path / "wrappers" / "oce.sh").write_text(OCE_WRAPPER)
    (tmp_path / "exp").mkdir()
    found, spec = imported(tmp_path / "exp", BY_FUNCTIONS, BALANCED, arguments=["hybrid"])
    assert found.remarks == ()
    experiment = spec.experiment
    assert nodes_of(experiment) == numbered(BALANCED)
    atm, oce = experiment.programs
    assert (atm.said("device"), oce.said("device")) == ("gpu", "cpu")
    assert (atm.said("executable"), oce.said("executable")) == (
        "/model/build-gpu/bin/icon",
        "/model/build-cpu/bin/icon",
    )
    assert oce.said("seats") == "3 on 0-1, 5 on 2, 1 on 0-1"
    assert oce.said("cpus_per_task") == 2
    assert {seat.gpu for seat in placement(experiment) if seat.kind == "io"} == {None}
    assert not [file for file in experiment.inputs if file.target.startswith("icon_")]


def test_more_threads_than_cores(tmp_path: Path) -> None:
    """A script may ask for more threads than a node has cores; a placement gives no core twice."""
    (tmp_path / "wrappers").mkdir()
    (tmp_path / "wrappers" / "atm.sh").write_text(ATM_WRAPPER)
    (tmp_path / "wrappers" / "oce.sh").write_text(OCE_WRAPPER)
    (tmp_path / "exp").mkdir()
    text = BY_FUNCTIONS.replace("--cpus-per-task=2", "--cpus-per-task=4")
    found, spec = imported(tmp_path / "exp", text, BALANCED, arguments=["hybrid"])
    assert any("each has one" in note for note in found.notes)
    assert nodes_of(spec.experiment) == numbered(BALANCED)
    assert spec.experiment.programs[1].said("cpus_per_task") is None


@pytest.mark.parametrize("target", ["cpu", None])
def test_another_target_has_no_placement(tmp_path: Path, target: str | None) -> None:
    arguments = [target] if target else []
    (tmp_path / "hybrid.run").write_text(BY_FUNCTIONS)
    if not target:
        with pytest.raises(InputError, match="writes no namelist"):
            import_spec(tmp_path / "hybrid.run", variables=VARIABLES, arguments=arguments)
        return
    found = import_spec(tmp_path / "hybrid.run", variables=VARIABLES, arguments=arguments)
    assert "device" not in found.text
    assert "seats" not in found.text


PARTS = (
    """\
#!/bin/bash
#SBATCH --job-name=hybrid
#SBATCH --partition=compute
#SBATCH --nodes=2
#SBATCH --ntasks=8
#SBATCH --gpus-per-node=4
#SBATCH --time=01:00:00
#SBATCH hetjob
#SBATCH --partition=other
#SBATCH --nodes=2
#SBATCH --ntasks=5
atm_tasks=8 oce_tasks=5 atm_io=0 oce_io=1
"""
    + NAMELISTS
    + WRITTEN_WRAPPERS
    + """\
srun --het-group=0 ./atm_gpu.sh : --het-group=1 ./oce_cpu.sh
"""
)


def test_parts_of_a_heterogeneous_job(tmp_path: Path) -> None:
    found, spec = imported(tmp_path, PARTS)
    assert found.remarks == ()
    atm, oce = spec.experiment.programs
    assert nodes_of(spec.experiment) == [0] * 4 + [1] * 4 + [2] * 3 + [3] * 2
    assert (atm.said("device"), oce.said("device")) == ("gpu", "cpu")
    assert {name: setting.value for name, setting in oce.job.items()}.items() >= {("partition", "other"), ("nodes", 2)}


def test_slurms_own_distribution(tmp_path: Path) -> None:
    """Where no file names the hosts, the ranks sit where --distribution puts them."""
    text = HYBRID.replace("--distribution=arbitrary", "--distribution=plane=4").replace(
        "export SLURM_HOSTFILE", "HOSTS"
    )
    found, spec = imported(tmp_path, text)
    assert found.remarks == ()
    assert nodes_of(spec.experiment) == [rank // 4 % 3 for rank in range(21)]


def test_models_that_no_program_fits(tmp_path: Path) -> None:
    found, _ = imported(
        tmp_path, HYBRID.replace("model_max_rank = $((atm_tasks + oce_tasks - 1))", "model_max_rank = 17")
    )
    assert any("the models have 18 ranks" in remark for remark in found.remarks), found.remarks


def test_what_only_a_run_knows_can_be_told(tmp_path: Path) -> None:
    """A variable that the script sets by another program has the value that is given for it."""
    text = HYBRID.replace("total=$((", "out=$(uv run count_writers)\ntotal=$((")
    found, spec = imported(tmp_path, text, HOSTS, variables={**VARIABLES, "out": "2"})
    assert found.remarks == ()
    assert len(placement(spec.experiment)) == 21


def test_diff_knows_the_placement_of_a_script(tmp_path: Path) -> None:
    found, spec = imported(tmp_path, PARTS)
    names = {change.name for change in compare(spec, tmp_path / "hybrid.run", variables=VARIABLES).differences}
    assert not {name for name in names if "device" in name or "seats" in name}, found.text


def test_diff_takes_what_import_takes(tmp_path: Path) -> None:
    """The hosts of a run, the words of a script, and the machine, which a spec on the other side says."""
    text = HYBRID.replace("srun ", 'test -n "$1" || exit 1\nsrun ', 1)
    _, spec = imported(tmp_path, text, HOSTS, arguments=("hybrid",))
    script, told = tmp_path / "hybrid.run", {"variables": VARIABLES, "arguments": ("hybrid",)}
    assert compare(spec, script, hosts=tmp_path / "hosts.old", **told).differences == ()
    assert compare(script, spec, hosts=tmp_path / "hosts.old", **told).differences == ()
    site = str(tmp_path / "site.yaml")
    assert compare(script, script, site=site, hosts=tmp_path / "hosts.old", **told).differences == ()
    without = compare(spec, script, **told)
    assert any("--hosts" in remark for remark in without.remarks)
    others = [HOSTS[-1], *HOSTS[1:-1], HOSTS[0]]
    (tmp_path / "others").write_text("".join(f"{host}\n" for host in others))
    moved = compare(spec, script, hosts=tmp_path / "others", **told)
    assert {change.name.rpartition(".")[2] for change in moved.differences} >= {"seats"}


def test_very_many_programs_are_not_placed(tmp_path: Path) -> None:
    lines = "".join(f"{number} ./program{number}\n" for number in range(600))
    script = tmp_path / "exp.run"
    script.write_text(
        "#!/bin/bash\n#SBATCH --ntasks=600\ncat >NAMELIST_atm <<EOF\n&run_nml num_lev = 5 /\n&grid_nml /\n"
        "&dynamics_nml /\nEOF\n"
        f"cat >programs <<EOF\n{lines}EOF\nsrun --ntasks=600 --multi-prog programs\n"
    )
    found = import_spec(script)
    assert any("it starts 600 programs" in remark for remark in found.remarks)
