"""Wrappers of launches, followed for the ranks of a job: what they show, bind and start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from gpu_wrappers import LISTED, MODULO, RUN, TOLD
from rows import rows

import nmlgen
from nmlgen.lift.wrappers import alone
from nmlgen.script.parser import parse
from nmlgen.source import Source

SHARED = f"export CUDA_MPS_PIPE_DIRECTORY=/tmp/mps\n{MODULO}"
"""Several ranks use one GPU by intention."""


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


@rows(
    ("wrapper", "options", "more", "expected"),
    [
        (MODULO, "-n 9", {}, ["GPU004"]),  # rank 4 is the fifth of its node and shares GPU 0
        (LISTED, "-n 9", {}, ["GPU004"]),  # rank 4 gets none
        (MODULO, "-n 9 --distribution=plane=4", {}, []),
        (LISTED, "-n 9 --distribution=plane=4", {}, []),
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
    assert codes(script(TOLD, launch, restart=restart), tmp_path) == expected


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
        (TOLD, ["LCH012"]),
        ('if (( SLURM_PROCID < (work_tasks - 1) )); then export A=1; fi\nexec "$@"\n', ["LCH015"]),
    ):
        path.write_text(f"#!/bin/bash\n{text}")
        found = nmlgen.lint([path], is_isolated=True).findings
        assert [finding.code for finding in found] == expected


def programs(lines: str, tasks: int, *, atm: int, wrapper: str = MODULO, options: str = "", io: int = 0) -> str:
    """An atmosphere and an ocean, or the atmosphere alone where it has all ranks of ICON, and a file of programs."""
    entry = "&master_model_nml\n model_name = '{0}'\n model_namelist_filename = 'NAMELIST_{0}'\n model_type = {1}\n"
    ranks = " model_min_rank = {0}\n model_max_rank = {1}\n/\n"
    several = entry.format("atm", 1) + ranks.format(0, atm - 1) + entry.format("oce", 2) + ranks.format(atm, tasks - 1)
    master = several if "ocean" in lines else entry.format("atm", 1) + "/\n"
    text = script(wrapper + RUN, f"srun -n {tasks} {options} --multi-prog programs", io=io)
    start, end = text.index("&master_model_nml"), text.index("EOF\ncat >NAMELIST_atm")
    ocean = "cat >NAMELIST_oce <<'EOF'\n&parallel_nml\n num_io_procs = 0\n/\n&ocean_dynamics_nml\n/\nEOF\n"
    return text[:start] + master + text[end:].replace("srun", f"{ocean}cat >programs <<'EOF'\n{lines}\nEOF\nsrun", 1)


BOTH = "0-{0} ./wrap.sh bin/icon-gpu\n{1}-{2} bin/icon-cpu ocean"
SEEN = "--distribution=cyclic"
"""Even ranks on the first of two nodes, odd ones on the second."""


@rows(
    ("lines", "tasks", "atm", "more", "expected"),
    [
        (BOTH.format(7, 8, 11), 12, 8, {"options": SEEN}, []),  # four on each node
        (BOTH.format(9, 10, 11), 12, 10, {"options": SEEN}, ["GPU004"]),  # five on each node
        (BOTH.format(7, 8, 11), 12, 8, {}, ["GPU004"]),  # the first six on the first node
        (BOTH.format(7, 8, 11), 12, 8, {"options": "--distribution=arbitrary"}, []),  # where, nobody knows
        ("0-7 ./wrap.sh bin/icon-gpu\n8-15 ./wrap.sh bin/icon-cpu ocean", 16, 8, {"options": SEEN}, []),
        (
            "0-7 ./wrap.sh bin/icon\n8-17 ./wrap.sh bin/icon.ocean",
            18,
            8,
            {"options": SEEN},
            [],
        ),  # which computes where?
        ("0-7 ./wrap.sh bin/icon\n8-17 bin/icon.ocean", 18, 8, {"options": SEEN, "wrapper": LISTED}, []),
        ("0-9 ./wrap.sh bin/icon\n10-17 bin/icon.ocean", 18, 10, {"options": SEEN, "wrapper": LISTED}, ["GPU004"]),
        ("0-9 bash wrap.sh bin/icon\n10-17 bin/icon.ocean", 18, 10, {"options": SEEN}, ["GPU004"]),
        ("0-9 /opt/record ./wrap.sh bin/icon\n10-17 bin/icon.ocean", 18, 10, {"options": SEEN}, ["GPU004"]),
        ("0-9 bin/icon ./wrap.sh\n10-17 bin/icon.ocean", 18, 10, {"options": SEEN}, []),  # what ICON reads
        ("0-9 ./wrap.sh bin/icon %t\n10-17 bin/icon.ocean", 18, 10, {"options": SEEN}, ["GPU004"]),
        ("0-9 ./wrap.sh bin/icon\n10-11 ./ocean", 12, 8, {"options": SEEN}, ["LCH011"]),  # whose ranks are they?
        ("0-9 ./wrap.sh bin/icon\n10-11 bin/icon.ocean", 12, 10, {"options": SEEN, "wrapper": SHARED}, []),
        ("0-7 ./wrap.sh bin/icon\n8-11 ./post", 12, 8, {"options": SEEN}, []),  # no model of ICON
        ("0-9 ./wrap.sh bin/icon\n10-11 ./post", 12, 8, {"options": SEEN}, ["GPU004"]),
        ("0-9 ./wrap.sh bin/icon\n10-11 ./post", 12, 8, {"options": SEEN, "io": 2}, []),  # ranks 8 and 9 write
        ("0-7 ./wrap.sh bin/icon\n8-9 bin/icon\n10-11 ./post", 12, 8, {"options": SEEN, "io": 2}, []),
        ("0-1 ./post\n2-11 ./wrap.sh bin/icon", 12, 8, {"options": SEEN}, []),  # ICON's ranks are not the first
        ("0-9 ./wrap.sh bin/icon\n11 ./post", 12, 8, {"options": SEEN}, ["LCH001"]),
    ],
)
def test_programs(lines: str, tasks: int, atm: int, more: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    """What the wrapper of a program shows is followed for the ranks of that program."""
    assert codes(programs(lines, tasks, atm=atm, **more), tmp_path) == expected


@pytest.mark.parametrize(
    ("wrapper", "expected"),
    [
        ('bash -c "$@"\n', ["LCH012"]),
        ('numa=(0 1)\nexec numactl --cpunodebind=${numa[$SLURM_LOCALID]} "$@"\n', ["LCH013"]),
        ('numa=(0 1 2 3 4 5)\nexec numactl --cpunodebind=${numa[$SLURM_LOCALID]} "$@"\n', []),
        ('export CUDA_VISIBLE_DEVICES=$OMPI_COMM_WORLD_LOCAL_RANK\nexec "$@"\n', ["LCH014"]),
    ],
)
def test_the_start_of_programs(wrapper: str, expected: list[str], tmp_path: Path) -> None:
    lines = "0-7 ./wrap.sh bin/icon --one\n8-11 ./wrap.sh bin/icon.ocean --one"
    assert codes(programs(lines, 12, atm=8, wrapper=wrapper).replace(RUN, ""), tmp_path) == expected


def test_a_wrapper_of_a_program_that_names_it(tmp_path: Path) -> None:
    lines = "0-{} ./wrap.sh\n{}-11 bin/icon.ocean"
    for last, expected in ((7, []), (9, ["GPU004"])):
        text = programs(lines.format(last, last + 1), 12, atm=last + 1, options=SEEN).replace(RUN, "exec bin/icon\n")
        assert codes(text, tmp_path) == expected


def test_a_wrapper_of_a_program_that_lies_beside(tmp_path: Path) -> None:
    (tmp_path / "beside.sh").write_text(f"#!/bin/bash\n{LISTED}{RUN}")
    lines = "0-{} ./beside.sh bin/icon\n{}-11 bin/icon.ocean"
    for last, expected in ((7, []), (9, ["GPU004"])):
        assert codes(programs(lines.format(last, last + 1), 12, atm=last + 1, options=SEEN), tmp_path) == expected


@rows(
    ("program", "value", "options", "expected"),
    [
        ("bin/icon-cpu ocean", "1", "", ["GPU011"]),
        ("./cpu.sh bin/icon-cpu ocean", "1", "", ["GPU011"]),
        ("bin/icon-cpu ocean", "0", "", []),
        ("bin/icon-cpu ocean", "$(which one)", "", []),
        ("bin/icon-cpu ocean", "1", "--export=ALL,MPICH_GPU_SUPPORT_ENABLED=0", []),
        ("./zero.sh bin/icon-cpu ocean", "1", "", []),  # it takes it back
        ("./sourcing.sh bin/icon-cpu ocean", "1", "", []),  # it may
        ("./elsewhere.sh bin/icon-cpu ocean", "1", "", []),  # nobody knows
        ("./icon-cpu.sh ocean", "1", "", []),
        ("env MPICH_GPU_SUPPORT_ENABLED=0 bin/icon-cpu ocean", "1", "", []),
        ("env MPICH_GPU_SUPPORT_ENABLED=0 ./cpu.sh bin/icon-cpu ocean", "1", "", []),
        ("bin/icon ocean", "1", "", []),  # on what, nobody says
        ("gpu/bin/icon-cpu ocean", "1", "", []),
        ("bin/cpu-count ocean", "1", "", []),  # it may have no MPI
    ],
)
def test_gpu_support_for_programs(program: str, value: str, options: str, expected: list[str], tmp_path: Path) -> None:
    for name, text in (
        ("cpu", "export OMP_NUM_THREADS=2\n"),
        ("zero", "export MPICH_GPU_SUPPORT_ENABLED=0\n"),
        ("sourcing", "source setup\n"),
    ):
        (tmp_path / f"{name}.sh").write_text(f"#!/bin/bash\n{text}{RUN}")
    text = programs(f"0-7 ./wrap.sh bin/icon-gpu\n8-11 {program}", 12, atm=8, options=f"{SEEN} {options}")
    assert codes(text.replace("srun", f"export MPICH_GPU_SUPPORT_ENABLED={value}\nsrun", 1), tmp_path) == expected


def test_too_many_programs(tmp_path: Path) -> None:
    """Each is followed by itself: of more than a few no GPU is said."""
    for count, expected in ((15, ["GPU004"]), (16, [])):
        lines = "0-9 ./wrap.sh bin/icon\n" + "\n".join(f"{10 + number} ./post {number}" for number in range(count))
        assert codes(programs(lines, 10 + count, atm=8, options=SEEN), tmp_path) == expected


def test_a_script_that_starts_none_of_its_own_words_is_no_wrapper(monkeypatch):
    """It may loop for thousands of ranks: following it for each of 16 takes minutes."""
    followed = []
    monkeypatch.setattr("nmlgen.lift.wrappers.follow", lambda *given, **_: followed.append(given))
    text = '#!/bin/bash\ncd "$(dirname "$0")"\nfor ((i=SLURM_PROCID; i<6666; i++)); do\n  ./work $i\ndone\n'
    assert not list(alone(parse(Source("run.sh", text))))
    assert not followed
    assert not list(alone(parse(Source("wrapper.sh", text.replace("./work $i", '"$@"')))))
    assert followed
