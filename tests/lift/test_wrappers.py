"""Wrappers of launches, followed for the ranks of a job: what they show, bind and start."""

from __future__ import annotations

from pathlib import Path

import pytest

import nmlgen

MODULO = "export CUDA_VISIBLE_DEVICES=$((SLURM_LOCALID % 4))\n"
FOUR = "gpus=(0 1 2 3)\nexport CUDA_VISIBLE_DEVICES=${gpus[$SLURM_LOCALID]}\n"
BY_RANK = """\
while getopts n:o:e: name; do
  case $name in
    n) total=$OPTARG;;
    o) io=$OPTARG;;
    e) program=$OPTARG;;
  esac
done
if (( SLURM_PROCID < total - io )); then
  export CUDA_VISIBLE_DEVICES=$((SLURM_LOCALID % 4))
fi
exec $program
"""
RUN = 'exec "$@"\n'


def script(wrapper: str, launch: str, *, nodes: int = 2, per_node: int = 5, io: int = 1, restart: int = 0) -> str:
    return f"""\
#!/bin/bash
#SBATCH --nodes={nodes}
#SBATCH --ntasks-per-node={per_node}
#SBATCH --gpus-per-node=4
cat >wrap.sh <<'EOF'
#!/bin/bash
{wrapper}EOF
chmod +x wrap.sh
cat >icon_master.namelist <<'EOF'
&master_model_nml
 model_name = 'atm'
 model_namelist_filename = 'NAMELIST_atm'
 model_type = 1
/
EOF
cat >NAMELIST_atm <<'EOF'
&parallel_nml
 num_prefetch_proc = 0
 nproma = 0
 nblocks_c = 1
 num_io_procs = {io}
 num_restart_procs = {restart}
/
&nonhydrostatic_nml
/
&io_nml
 restart_write_mode = '{"dedicated procs multifile" if restart else "joint procs multifile"}'
/
EOF
{launch}
"""


def codes(text: str, directory: Path) -> list[str]:
    path = directory / "exp.run"
    path.write_text(text)
    found = nmlgen.lint([path], is_isolated=True, is_fragment=False, select=["LCH", "GPU"]).findings
    return sorted(finding.code for finding in found)


@pytest.mark.parametrize(
    ("wrapper", "options", "more", "expected"),
    [
        (MODULO, "-n 9", {}, ["GPU004"]),  # rank 4 is the fifth of its node and shares GPU 0
        (FOUR, "-n 9", {}, ["GPU004"]),  # rank 4 gets none
        (MODULO, "-n 9 --distribution=plane=4", {}, []),
        (FOUR, "-n 9 --distribution=plane=4", {}, []),
        (MODULO, "-n 8", {"per_node": 4, "io": 0}, []),
        ("export CUDA_VISIBLE_DEVICES=0\n", "-n 8", {"per_node": 4, "io": 0}, ["GPU004"]),
        ("export ROCR_VISIBLE_DEVICES=$SLURM_LOCALID\n", "-n 8", {"per_node": 4, "io": 0}, []),
        ("export OMP_NUM_THREADS=1\n", "-n 8", {"per_node": 4, "io": 0}, ["GPU006"]),  # all see all
        ("export OMP_NUM_THREADS=1\n", "-n 8 --gpus-per-task=1", {"per_node": 4, "io": 0}, []),
        ("export CUDA_VISIBLE_DEVICES=$(pick)\n", "-n 9", {}, ["GPU004"]),  # counted as without one
        (MODULO, "-n 8", {"per_node": 4, "io": 2}, ["GPU005"]),
    ],
)
def test_which_gpu(wrapper: str, options: str, more: dict[str, int], expected: list[str], tmp_path: Path) -> None:
    assert codes(script(f"{wrapper}{RUN}", f"srun {options} ./wrap.sh bin/icon", **more), tmp_path) == expected


@pytest.mark.parametrize(
    ("told", "restart", "expected"),
    [
        (1, 0, []),
        (2, 1, []),
        (1, 1, ["GPU005"]),  # the restart rank is taken for one that computes
        (3, 1, ["GPU004"]),  # the last that computes is taken for one that writes
    ],
)
def test_ranks_that_a_wrapper_is_told(told: int, restart: int, expected: list[str], tmp_path: Path) -> None:
    count = 9 + restart
    launch = f"srun -n {count} --distribution=plane=4 ./wrap.sh -n {count} -o {told} -e bin/icon"
    assert codes(script(BY_RANK, launch, restart=restart), tmp_path) == expected


def test_the_build_behind_a_wrapper(tmp_path: Path) -> None:
    """Who gives each rank a GPU starts a build for GPUs: what that refuses is judged."""
    text = script(f"{MODULO}{RUN}", "srun -n 8 ./wrap.sh bin/icon", per_node=4, io=0)
    short = text.replace("nproma = 0\n nblocks_c = 1", "nproma = 32")
    assert codes(text, tmp_path) == []
    assert codes(short, tmp_path) == ["GPU003"]
    assert codes(short.replace(MODULO, ""), tmp_path) == ["GPU006"]


def test_without_wrapper(tmp_path: Path) -> None:
    """ICON itself chooses no GPU; of another program nobody knows."""
    four = {"per_node": 4, "io": 0}
    assert codes(script(RUN, "srun -n 8 bin/icon", **four), tmp_path) == ["GPU006"]
    assert codes(script(RUN, "srun -n 8 --gpu-bind=single:1 bin/icon", **four), tmp_path) == []
    assert codes(script(RUN, "srun -n 8 ./other.sh bin/icon", **four), tmp_path) == []
    assert codes(script(RUN, "srun -n 8 $OPTIONS bin/icon", **four), tmp_path) == []


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        ('exec "$@"\n', []),
        ('bash -c "$*"\n', []),
        ('bash -c "$@"\n', ["LCH012"]),
        ('exec "$1"\n', ["LCH012"]),
        ('numactl --cpunodebind=$((SLURM_LOCALID % 4)) "$@"\n', []),
        ('numactl --cpunodebind= "$@"\n', ["LCH013"]),
    ],
)
def test_the_start_of_the_program(ending: str, expected: list[str], tmp_path: Path) -> None:
    text = script(f"{MODULO}{ending}", "srun -n 8 ./wrap.sh bin/icon --one", per_node=4, io=0)
    assert codes(text, tmp_path) == expected


@pytest.mark.parametrize("place", ["wrap.sh", "run/wrap.sh"])
def test_a_wrapper_that_lies_beside(place: str, tmp_path: Path) -> None:
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/bash\n{MODULO}{RUN}")
    text = script("", f"srun -n 9 ${{basedir}}/{place} bin/icon").replace("cat >wrap.sh", "cat >other.sh")
    assert codes(text, tmp_path) == ["GPU004"]


def test_a_wrapper_by_itself(tmp_path: Path) -> None:
    """As a file of its own it is judged for nodes of 16 ranks, with words that it takes."""
    path = tmp_path / "wrap.sh"
    for text, expected in (
        ('exec numactl --cpunodebind=$((SLURM_LOCALID % 4)) "$@"\n', []),
        ('numa=(0 1 2 3)\nexec numactl --cpunodebind=${numa[$SLURM_LOCALID]} "$@"\n', ["LCH013"]),
        (BY_RANK, ["LCH012"]),
        ('if (( SLURM_PROCID < (work_tasks - 1) )); then export A=1; fi\nexec "$@"\n', ["LCH015"]),
    ):
        path.write_text(f"#!/bin/bash\n{text}")
        found = nmlgen.lint([path], is_isolated=True).findings
        assert [finding.code for finding in found] == expected
