"""Mistakes of jobs on GPUs and of several programs that are sure, each in a script made for it, with a correct twin.

The twins draw nothing at all.
"""

from __future__ import annotations

import pytest
from gpu_wrappers import LISTED, MODULO, RUN, TOLD
from rows import rows

import nmlgen

STREAM = """\
&output_nml
 output_filename = '{name}'
 output_start = "2000-01-01T00:00:00Z"
 output_end = "2000-01-02T00:00:00Z"
 output_interval = "PT1H"
 file_interval = "PT6H"
 include_last = .false.
 filename_format = "<output_filename>_DOM<physdom>_<datetime2>"
 ml_varlist = 'u'
/
"""


def job(
    launch: str = "srun -n 9 --distribution=plane=4 ./wrap.sh bin/icon",
    wrapper: str = MODULO + RUN,
    *,
    head: str = "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=5\n#SBATCH --gpus-per-node=4\n",
    before: str = "",
    behind: str = "",
    blocks: str = "nproma = 0\n nblocks_c = 1",
    io: int = 1,
    restart: int = 0,
    grid: str = "'grid.nc'",
    forcing: str = "0",
    more: str = "",
) -> str:
    """A script that starts an atmosphere by a wrapper, whose words those of a mistake take the place of."""
    mode = "dedicated procs multifile" if restart else "joint procs multifile"
    return f"""\
#!/bin/bash
{head}#SBATCH --time=01:00:00
{before}cat >wrap.sh <<'EOF'
#!/bin/bash
{wrapper}EOF
chmod +x wrap.sh
{one_model()}cat >NAMELIST_atm <<'EOF'
&parallel_nml
 num_prefetch_proc = 0
 {blocks}
 num_io_procs = {io}
 num_restart_procs = {restart}
/
&grid_nml
 dynamics_grid_filename = {grid}
/
&run_nml
 num_lev = 30
 modelTimeStep = "PT1M"
 iforcing = {forcing}
/
&nonhydrostatic_nml
/
&io_nml
 restart_write_mode = '{mode}'
/
{"".join(STREAM.format(name=f"stream{number}") for number in range(io))}{more}EOF
{launch}
{behind}"""


TIME = """\
&master_nml
 lrestart = .false.
/
&master_time_control_nml
 experimentStartDate = "2000-01-01T00:00:00Z"
 experimentStopDate = "2000-01-02T00:00:00Z"
/
"""
OWN = """\
cat >NAMELIST_atm <<EOF
&parallel_nml
 nproma = 16
 num_prefetch_proc = 0
/
&grid_nml
 dynamics_grid_filename = "grid_atm.nc"
/
&run_nml
 modelTimeStep = "PT1M"
/
EOF
cat >NAMELIST_oce <<EOF
&parallel_nml
 nproma = 16
 num_prefetch_proc = 0
/
&grid_nml
 dynamics_grid_filename = "grid_oce.nc"
/
&run_nml
 modelTimeStep = "PT1M"
/
&ocean_dynamics_nml
 n_zlev = 2
 dzlev_m = 10.0, 20.0
/
&ocean_forcing_nml
 iforc_oce = 10
/
EOF
"""
"""The namelists of an atmosphere and an ocean."""


def one_model() -> str:
    return f"""\
cat >icon_master.namelist <<'EOF'
{TIME}&master_model_nml
 model_name = 'atm'
 model_namelist_filename = 'NAMELIST_atm'
 model_type = 1
/
EOF
"""


def several(first: str, second: str, size: int, total: int = 16) -> str:
    """A master namelist of two models, the first of which has so many of all ranks."""
    kinds = {"atm": 1, "oce": 2}
    entries = [
        f"&master_model_nml\n model_name = '{name}'\n model_namelist_filename = 'NAMELIST_{name}'\n"
        f" model_type = {kinds[name]}\n model_min_rank = {start}\n model_max_rank = {end}\n/\n"
        for name, start, end in ((first, 0, size - 1), (second, size, total - 1))
    ]
    return f"cat >icon_master.namelist <<EOF\n{TIME}{''.join(entries)}EOF\n{OWN}"


def programs(lines: str, launch: str = "srun -n 16 --multi-prog programs\n", *, first: int = 8, head: str = "") -> str:
    """A launch of two models by a file of programs."""
    master = several("atm", "oce", first)
    if "icon-gpu" in lines:
        master = master.replace("nproma = 16", "nproma = 0\n nblocks_c = 1", 1)
    return f"#!/bin/bash\n{head}{master}cat >programs <<'EOF'\n{lines}\nEOF\n{launch}"


def three(output: str = "12-15 bin/hiopy", *, ocean: str = "8-11", before: str = "", behind: str = "") -> str:
    """A launch of two models and of a program that is none, which the master namelist does not count."""
    coupled = "&coupling_mode_nml\n coupled_to_output = .true.\n/\n"
    master = several("atm", "oce", 8, 12).replace("&run_nml", coupled + "&run_nml")
    written = f"cat >programs <<EOF\n0-7 bin/icon-a\n{ocean} bin/icon-b\n{output}\nEOF\n"
    return f"#!/bin/bash\n{before}{master}{written}srun -n 16 --multi-prog programs\n{behind}"


def parts(
    launch: str = "srun --het-group=0 bin/icon : --het-group=1 bin/ocean\n",
    *,
    first: str = "#SBATCH --time=01:00:00\n#SBATCH --ntasks=4\n",
    second: str = "#SBATCH --time=01:00:00\n#SBATCH --ntasks=12\n",
    between: str = "#SBATCH hetjob\n",
    master: str = "",
) -> str:
    """A heterogeneous job."""
    return f"#!/bin/bash\n{first}{between}{second}{master}{launch}"


def hosts(lines: int, behind: str = "") -> str:
    names = "".join(f"n{number}\n" for number in range(lines))
    start = "export SLURM_HOSTFILE=hosts\nsrun --distribution=arbitrary -n 2 bin/icon\n"
    return f"#!/bin/bash\ncat >hosts <<'EOF'\n{names}EOF\n{start}{behind}"


LUMI = (
    "#SBATCH --account=p\n#SBATCH --partition=standard-g\n#SBATCH --nodes=2\n"
    "#SBATCH --ntasks-per-node=9\n#SBATCH --gpus-per-node=8\n"
)
LUMI_LAUNCH = "srun -n 17 --distribution=plane=8 ./wrap.sh bin/icon"
EIGHT = MODULO.replace("CUDA", "ROCR").replace("% 4", "% 8") + RUN
MANY = LUMI.replace("#SBATCH --gpus-per-node=8\n", "")
FIVE = "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=5\n#SBATCH --gpus-per-node=4\n"
FOUR = "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=4\n#SBATCH --gpus-per-node=4\n"
NESTS = "'a.nc', 'b.nc'"
LINES = "0-7 bin/icon\n8-15 bin/ocean"
WRAPPED = "0-{} ./wrap.sh bin/icon-gpu\n{}-15 bin/icon-cpu"
WRAPPED_LAUNCH = "srun -n 16 --distribution=cyclic --multi-prog programs\n"
EIGHT_TASKS = FOUR.replace("ntasks-per-node=4", "ntasks-per-node=8") + "#SBATCH --time=01:00:00\n"
WRITTEN = f"cat >wrap.sh <<'EOF'\n#!/bin/bash\n{MODULO}{RUN}EOF\nchmod +x wrap.sh\n"
SUPPORTED = f"export MPICH_GPU_SUPPORT_ENABLED=1\n{WRAPPED_LAUNCH}"
PYTHON = "python3 - <<'EOP'\nimport os\nnodes = os.environ['SLURM_JOB_NODELIST']\nprint({})\nEOP\n"
CLOUDS = "&nwp_phy_nml\n inwp_cldcover = {}\n/\n"
ONE_GPU = "#SBATCH --nodes=8\n#SBATCH --ntasks-per-node=1\n#SBATCH --gres=gpu:1\n"
ONE_EACH = "srun -n 8 bin/icon"


def on_parts(each: int, *, second_gpus: str = "", ocean: str = "bin/icon-cpu") -> str:
    """A heterogeneous job whose first part, two nodes with so many ranks each, is on GPUs."""
    first = 2 * each
    second = "#SBATCH --time=01:00:00\n#SBATCH --partition=gpu\n#SBATCH --nodes=1\n#SBATCH --ntasks-per-node=4\n"
    master = several("atm", "oce", first, first + 4).replace("nproma = 16", "nproma = 0\n nblocks_c = 1", 1)
    if ocean != "bin/icon-cpu":
        master = master.replace("nproma = 16", "nproma = 2000", 1)
    return parts(
        f"srun --het-group=0 ./wrap.sh bin/icon-gpu : --het-group=1 {ocean}\n",
        first=f"#SBATCH --time=01:00:00\n#SBATCH --partition=gpu\n#SBATCH --nodes=2\n"
        f"#SBATCH --ntasks-per-node={each}\n#SBATCH --gpus-per-node=4\n",
        second=second + second_gpus,
        master=master + WRITTEN,
    )


def of_hosts(lines: int) -> str:
    """A file of hosts whose names only a run knows, for two tasks."""
    written = "".join(f'echo "${{nodes[{number % 2}]}}"\n' for number in range(lines))
    known = 'mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")\n'
    start = "export SLURM_HOSTFILE=$PWD/hosts\nsrun --distribution=arbitrary -n 2 bin/icon\n"
    return f"#!/bin/bash\n{known}{{\n{written}}} >hosts\n{start}"


SHORT = WRITTEN.replace(MODULO, LISTED)

MISTAKES: dict[str, tuple[str, str, str]] = {
    "more work ranks than GPUs": (
        "GPU004",
        job("srun -n 10 --distribution=plane=5 ./wrap.sh bin/icon", io=0),
        job("srun -n 8 --distribution=plane=4 ./wrap.sh bin/icon", io=0, head=FOUR),
    ),
    "blocks of ranks put a work rank behind the GPUs": (
        "GPU004",
        job("srun -n 9 ./wrap.sh bin/icon", LISTED + RUN),
        job("srun -n 9 --distribution=plane=4 ./wrap.sh bin/icon", LISTED + RUN),
    ),
    "the wrapper of a program gives two work ranks a GPU": (
        "GPU004",
        programs(WRAPPED.format(9, 10), WRAPPED_LAUNCH, first=10, head=EIGHT_TASKS + WRITTEN),
        programs(WRAPPED.format(7, 8), WRAPPED_LAUNCH, head=EIGHT_TASKS + WRITTEN),
    ),
    "the wrapper of a program has a shorter list than its local ranks": (
        "GPU004",
        programs(WRAPPED.format(9, 10), WRAPPED_LAUNCH, first=10, head=EIGHT_TASKS + SHORT),
        programs(WRAPPED.format(7, 8), WRAPPED_LAUNCH, head=EIGHT_TASKS + SHORT),
    ),
    "nothing chooses a GPU": (
        "GPU006",
        job("srun -n 8 bin/icon", io=0, head=FOUR),
        job("srun -n 8 --gpus-per-task=1 bin/icon", io=0, head=FOUR),
    ),
    "I/O ranks hold GPUs": (
        "GPU005",
        job("srun -n 8 ./wrap.sh bin/icon", io=2, head=FOUR),
        job(
            "srun -n 10 --distribution=plane=4 ./wrap.sh bin/icon",
            io=2,
            head=FOUR.replace("=4\n#SBATCH --g", "=6\n#SBATCH --g"),
        ),
    ),
    "the wrapper is told of some helpers only": (
        "GPU005",
        job("srun -n 10 --distribution=plane=4 ./wrap.sh -n 10 -o 1 -e bin/icon", TOLD, restart=1),
        job("srun -n 10 --distribution=plane=4 ./wrap.sh -n 10 -o 2 -e bin/icon", TOLD, restart=1),
    ),
    "the last work rank is left out": (
        "LCH015",
        job(
            "srun -n 8 ./wrap.sh bin/icon",
            f"compute_tasks=8\nif (( SLURM_PROCID < compute_tasks - 1 )); then\n{MODULO}fi\n{RUN}",
            io=0,
            head=FOUR,
        ),
        job(
            "srun -n 8 ./wrap.sh bin/icon",
            f"compute_tasks=8\nif (( SLURM_PROCID < compute_tasks )); then\n{MODULO}fi\n{RUN}",
            io=0,
            head=FOUR,
        ),
    ),
    "a list that is shorter than the local ranks": (
        "LCH013",
        job(wrapper=f'{MODULO}numa=(3 1 7 5)\nexec numactl --cpunodebind=${{numa[$SLURM_LOCALID]}} "$@"\n'),
        job(wrapper=f'{MODULO}numa=(3 1 7 5)\nexec numactl --cpunodebind=${{numa[$((SLURM_LOCALID % 4))]}} "$@"\n'),
    ),
    "arguments that are lost": (
        "LCH012",
        job("srun -n 9 --distribution=plane=4 ./wrap.sh bin/icon --one", MODULO + 'bash -c "$@"\n'),
        job("srun -n 9 --distribution=plane=4 ./wrap.sh bin/icon --one", MODULO + RUN),
    ),
    "more GPUs than the job has": (
        "LCH001",
        job("srun -n 9 --gpus-per-node=5 --distribution=plane=4 ./wrap.sh bin/icon"),
        job("srun -n 9 --gpus-per-node=4 --distribution=plane=4 ./wrap.sh bin/icon"),
    ),
    "misspelt variables": (
        "ENV003",
        job(before="export FI_CXI_RX_MATCH_NODE=software\n"),
        job(before="export FI_CXI_RX_MATCH_MODE=software\n"),
    ),
    "both lengths of blocks": ("PAR010", job(blocks="nproma = 8000\n nblocks_c = 1"), job()),
    "a name that ICON does not have": (
        "NML002",
        job(forcing="2\n ntracer = 3", more="&aes_rad_nml\n aes_rad_config(1)%rrtmgp_columns_chunk = 64\n/\n"),
        job(forcing="2\n ntracer = 3", blocks="nproma = 0\n nblocks_c = 1\n nproma_sub = 64"),
    ),
    "no length of blocks": ("PAR011", job(blocks="nproma ="), job(blocks="nproma = 8000")),
    "one block with nests": (
        "PAR020",
        job(grid=NESTS),
        job(blocks="nproma = 8000", grid=NESTS),
    ),
    "what builds for GPUs refuse": (
        "GPU001",
        job(forcing="3", more="&nwp_phy_nml\n inwp_cldcover = 3\n/\n"),
        job(forcing="3", more="&nwp_phy_nml\n inwp_cldcover = 1\n/\n"),
    ),
    "NWP physics with an ocean": (
        "GPU001",
        job(
            forcing="3", more="&nwp_phy_nml\n inwp_cldcover = 1\n/\n&coupling_mode_nml\n coupled_to_ocean = .true.\n/\n"
        ),
        job(
            forcing="3",
            more="&nwp_phy_nml\n inwp_cldcover = 1\n/\n&coupling_mode_nml\n coupled_to_ocean = .false.\n/\n",
        ),
    ),
    "ranks of three programs": ("LCH001", three("13-15 bin/hiopy"), three()),
    "ranks by an array with names": (
        "LCH001",
        three("$((n[atm] + n[oce]))-14 bin/hiopy", before="declare -A n=([atm]=8 [oce]=4)\n"),
        three("$((n[atm] + n[oce]))-15 bin/hiopy", before="declare -A n=([atm]=8 [oce]=4)\n"),
    ),
    "programs beside output that are no models": (
        "LCH011",
        three(ocean="6-11").replace("0-7 bin", "0-5 bin"),
        three(),
    ),
    "programs behind one that is no model": (
        "LCH011",
        three("10-15 bin/icon-b", ocean="4-9").replace("0-7 bin/icon-a\n4-9 bin/icon-b", "0-3 hiopy\n4-9 bin/icon-a"),
        three("12-15 bin/icon-b", ocean="4-11").replace(
            "0-7 bin/icon-a\n4-11 bin/icon-b", "0-3 hiopy\n4-11 bin/icon-a"
        ),
    ),
    "parts and models of other sizes": (
        "LCH011",
        parts("srun --het-group=0 bin/icon-a : --het-group=1 bin/icon-b\n", master=several("oce", "atm", 12)),
        parts("srun --het-group=0 bin/icon-a : --het-group=1 bin/icon-b\n", master=several("oce", "atm", 4)),
    ),
    "two models of one executable beside output": (
        "LCH001",
        three("12-16 bin/hiopy").replace("0-7 bin/icon-a\n8-11 bin/icon-b", "0-11 bin/icon"),
        three().replace("0-7 bin/icon-a\n8-11 bin/icon-b", "0-11 bin/icon"),
    ),
    "a list of nodes by sed": (
        "LCH007",
        job(before='first=$(sed "s/,.*//" <<< "$SLURM_NODELIST")\n'),
        job(before='first=$(scontrol show hostnames "$SLURM_NODELIST" | sed -n 1p)\n'),
    ),
    "a list of tasks declared as a number": (
        "LCH006",
        job(before="declare -i n=SLURM_TASKS_PER_NODE*2\n"),
        job(before="declare -i n=SLURM_NTASKS_PER_NODE*2\n"),
    ),
    "a list of tasks compared": (
        "LCH006",
        job(before="if [[ ${SLURM_TASKS_PER_NODE} -gt 4 ]]; then echo many; fi\n"),
        job(before="if [[ ${SLURM_NTASKS_PER_NODE} -gt 4 ]]; then echo many; fi\n"),
    ),
    "kernels one by one before the program": (
        "GPU012",
        job(wrapper=MODULO + 'NVCOMPILER_ACC_SYNCHRONOUS=1 exec "$@"\n'),
        job(wrapper=MODULO + 'NVCOMPILER_ACC_SYNCHRONOUS=0 exec "$@"\n'),
    ),
    "arguments in the text for a shell": (
        "LCH012",
        job(launch="srun -n 9 --distribution=plane=4 ./wrap.sh bin/icon -v", wrapper=MODULO + 'bash -c "exec $@"\n'),
        job(launch="srun -n 9 --distribution=plane=4 ./wrap.sh bin/icon -v"),
    ),
    "cores of a part": (
        "GPU010",
        on_parts(4).replace("--het-group=0 ./", "--het-group=0 --cpu-bind=map_cpu:0,1 ./"),
        on_parts(4).replace("--het-group=0 ./", "--het-group=0 --cpu-bind=map_cpu:0,1,2,3 ./"),
    ),
    "a gap of the programs": ("LCH001", programs("0-7 bin/icon\n9-15 bin/ocean"), programs(LINES)),
    "ranks that are twice": ("LCH001", programs("0-8 bin/icon\n8-15 bin/ocean"), programs(LINES)),
    "ranks beyond the tasks": ("LCH001", programs("0-7 bin/icon\n8-16 bin/ocean"), programs(LINES)),
    "a stride of ranks": ("LCH001", programs("0-7:1 bin/icon\n8-15 bin/ocean"), programs(LINES)),
    "all others before some": ("LCH001", programs("* bin/icon\n8-15 bin/ocean"), programs("0-7 bin/icon\n* bin/ocean")),
    "double quotes of a program": ("LCH001", programs('0-7 "bin/icon"\n8-15 bin/ocean'), programs(LINES)),
    "programs unlike the master namelist": ("LCH011", programs("0-6 bin/icon\n7-15 bin/ocean"), programs(LINES)),
    "a file of programs for several parts": (
        "LCH001",
        parts("srun --het-group=0,1 --multi-prog programs\n"),
        parts(),
    ),
    "a part that nothing starts": ("LCH003", parts("srun bin/icon\n"), parts("srun --het-group=0,1 bin/icon\n")),
    "parts out of order": (
        "LCH004",
        parts("srun --het-group=1 bin/ocean : --het-group=0 bin/icon\n", master=several("oce", "atm", 12)),
        parts("srun --het-group=0 bin/icon : --het-group=1 bin/ocean\n", master=several("atm", "oce", 4)),
    ),
    "a partition for the first part alone": (
        "SBA013",
        parts(first="#SBATCH --partition=a\n#SBATCH --ntasks=4\n"),
        parts(
            first="#SBATCH --partition=a\n#SBATCH --ntasks=4\n", second="#SBATCH --partition=a\n#SBATCH --ntasks=12\n"
        ),
    ),
    "an array of parts": ("SBA010", parts(first="#SBATCH --array=1-2\n#SBATCH --ntasks=4\n"), parts()),
    "a part that asks for nothing": ("SBA014", parts(first=""), parts()),
    "figures of the first part": (
        "LCH005",
        parts("echo $SLURM_NTASKS\nsrun --het-group=0,1 bin/icon\n"),
        parts("echo $((SLURM_NTASKS_HET_GROUP_0 + SLURM_NTASKS_HET_GROUP_1))\nsrun --het-group=0,1 bin/icon\n"),
    ),
    "a list as a number": (
        "LCH006",
        job(before="echo $((SLURM_TASKS_PER_NODE * 2))\n"),
        job(before="echo $((SLURM_NTASKS_PER_NODE * 2))\n"),
    ),
    "a list of nodes that is taken apart": (
        "LCH007",
        job(before='echo "${SLURM_JOB_NODELIST%%[*}"\n'),
        job(before='scontrol show hostnames "$SLURM_JOB_NODELIST"\n'),
    ),
    "hosts that are left for the next job": (
        "LCH008",
        hosts(2, "sbatch post.sh\n"),
        hosts(2, "unset SLURM_HOSTFILE\nsbatch post.sh\n"),
    ),
    "too few hosts": ("LCH001", hosts(1), hosts(2)),
    "too many hosts": ("LCH009", hosts(3), hosts(2)),
    "cores that the step does not get": (
        "LCH010",
        job(
            "srun -n 9 --distribution=plane=4 ./wrap.sh bin/icon",
            head=FIVE + "#SBATCH --cpus-per-task=2\n",
        ),
        job(
            "srun -n 9 --cpus-per-task=2 --distribution=plane=4 ./wrap.sh bin/icon",
            head=FIVE + "#SBATCH --cpus-per-task=2\n",
        ),
    ),
    "a guard in a subshell": (
        "SHL008",
        job(before="[ -d data ] || ( echo no data; exit 1 )\n"),
        job(before="[ -d data ] || { echo no data; exit 1; }\n"),
    ),
    "more GPUs than a node has": (
        "GPU009",
        job(LUMI_LAUNCH, EIGHT, head=LUMI.replace("node=8", "node=9")),
        job(LUMI_LAUNCH, EIGHT, head=LUMI),
    ),
    "more tasks than usable cores": (
        "SLM005",
        job("srun -n 114 bin/icon", head=MANY.replace("node=9", "node=57"), blocks="nproma = 16"),
        job("srun -n 112 bin/icon", head=MANY.replace("node=9", "node=56"), blocks="nproma = 16"),
    ),
    "variables of another network": (
        "GPU008",
        job(LUMI_LAUNCH, EIGHT, head=LUMI, before="export UCX_TLS=rc\n"),
        job(LUMI_LAUNCH, EIGHT, head=LUMI, before="export FI_CXI_RX_MATCH_MODE=software\n"),
    ),
    "Cray's support of GPUs for a program without": (
        "GPU011",
        programs(WRAPPED.format(7, 8), SUPPORTED, head=EIGHT_TASKS + WRITTEN),
        programs(
            WRAPPED.format(7, 8),
            WRAPPED_LAUNCH,
            head=EIGHT_TASKS + WRITTEN.replace(MODULO, f"{MODULO}export MPICH_GPU_SUPPORT_ENABLED=1\n"),
        ),
    ),
    "the wrapper of a part gives two work ranks a GPU": (
        "GPU004",
        on_parts(8),
        on_parts(4),
    ),
    "a part without GPUs for a program that uses some": (
        "SBA013",
        on_parts(4, second_gpus="", ocean="./wrap.sh bin/icon-gpu"),
        on_parts(4, second_gpus="#SBATCH --gpus-per-node=4\n", ocean="./wrap.sh bin/icon-gpu"),
    ),
    "short blocks in the part on GPUs": (
        "GPU003",
        on_parts(4).replace("nproma = 0\n nblocks_c = 1", "nproma = 16"),
        on_parts(4),
    ),
    "a part that no launch names": (
        "LCH003",
        parts("srun --het-group=0 bin/icon\n"),
        parts("srun --het-group=0 bin/icon &\nsrun --het-group=1 bin/icon\nwait\n"),
    ),
    "figures of the first part, in arithmetic": (
        "LCH005",
        parts("echo $((SLURM_NTASKS - 1))\nsrun --het-group=0,1 bin/icon\n"),
        parts("echo $((SLURM_NTASKS_HET_GROUP_0 - 1))\nsrun --het-group=0,1 bin/icon\n"),
    ),
    "cores that the step in a part does not get": (
        "LCH010",
        parts(second="#SBATCH --time=01:00:00\n#SBATCH --ntasks=12\n#SBATCH --cpus-per-task=2\n"),
        parts(
            "srun --het-group=0 bin/icon : --het-group=1 -c 2 bin/ocean\n",
            second="#SBATCH --time=01:00:00\n#SBATCH --ntasks=12\n#SBATCH --cpus-per-task=2\n",
        ),
    ),
    "a list as a number, for let": (
        "LCH006",
        job(before="let total=SLURM_TASKS_PER_NODE*2\n"),
        job(before="let total=SLURM_NTASKS_PER_NODE*2\n"),
    ),
    "a list of nodes that is taken apart under another name": (
        "LCH007",
        job(before="list=$SLURM_JOB_NODELIST\necho ${list%%,*}\n"),
        job(before="list=$SLURM_JOB_NODELIST\nscontrol show hostnames $list\n"),
    ),
    "a list of nodes that Python takes apart": (
        "LCH007",
        job(before=PYTHON.format("nodes.split('[')[0]")),
        job(before=PYTHON.format("len(nodes)")),
    ),
    "too few hosts in a directory that only a run knows": (
        "LCH001",
        hosts(1).replace("cat", "cd $EXPDIR\ncat").replace("=hosts", "=$EXPDIR/hosts"),
        hosts(2).replace("cat", "cd $EXPDIR\ncat").replace("=hosts", "=$EXPDIR/hosts"),
    ),
    "too many hosts whose names only a run knows": ("LCH009", of_hosts(3), of_hosts(2)),
    "hosts that export -n takes back": (
        "LCH008",
        hosts(2, "sbatch post.sh\n"),
        hosts(2, "export -n SLURM_HOSTFILE\nsbatch post.sh\n"),
    ),
    "a gap of the programs in a directory that only a run knows": (
        "LCH001",
        programs("0-7 bin/icon\n9-15 bin/ocean").replace("cat >programs", "cd $EXPDIR\ncat >programs"),
        programs(LINES).replace("cat >programs", "cd $EXPDIR\ncat >programs"),
    ),
    "misspelt variables in a wrapper": (
        "ENV003",
        job(wrapper=f"{MODULO}export FI_CXI_RX_MATCH_NODE=software\n{RUN}"),
        job(wrapper=f"{MODULO}export FI_CXI_RX_MATCH_MODE=software\n{RUN}"),
    ),
    "braces in a wrapper": (
        "GPU004",
        job("srun -n 9 ./wrap.sh bin/icon", LISTED.replace("$SLURM_LOCALID", "${SLURM_LOCALID}") + RUN),
        job(
            "srun -n 9 --distribution=plane=4 ./wrap.sh bin/icon",
            LISTED.replace("$SLURM_LOCALID", "${SLURM_LOCALID}") + RUN,
        ),
    ),
    "a list of taskset that is shorter than the local ranks": (
        "LCH013",
        job(wrapper=f'{MODULO}cores=(0 1 2 3)\nexec taskset -c "${{cores[SLURM_LOCALID]}}" "$@"\n'),
        job(wrapper=f'{MODULO}cores=(0 1 2 3)\nexec taskset -c "${{cores[SLURM_LOCALID % 4]}}" "$@"\n'),
    ),
    "sets of cores for fewer ranks": (
        "GPU010",
        job("srun -n 9 --distribution=plane=4 --cpu-bind=mask_cpu:1,2,4,8 ./wrap.sh bin/icon"),
        job("srun -n 9 --distribution=plane=4 --cpu-bind=mask_cpu:1,2,4,8,10 ./wrap.sh bin/icon"),
    ),
    "more GPUs than the job has, as generic resources": (
        "LCH001",
        job("srun -n 9 --gres=gpu:5 --distribution=plane=4 ./wrap.sh bin/icon"),
        job("srun -n 9 --gres=gpu:4 --distribution=plane=4 ./wrap.sh bin/icon"),
    ),
    "what builds for GPUs refuse, without a wrapper": (
        "GPU001",
        job("srun -n 8 --gpus-per-task=1 bin/icon", io=0, head=FOUR, forcing="3", more=CLOUDS.format(3)),
        job("srun -n 8 --gpus-per-task=1 bin/icon", io=0, head=FOUR, forcing="3", more=CLOUDS.format(1)),
    ),
    "what builds for GPUs refuse, by the blocks of the model": (
        "GPU001",
        job(ONE_EACH, io=0, head=ONE_GPU, forcing="3", more=CLOUDS.format(3)),
        job(ONE_EACH, io=0, head=ONE_GPU.replace("#SBATCH --gres=gpu:1\n", ""), forcing="3", more=CLOUDS.format(3)),
    ),
    "a default in quotes that is there already": (
        "SHL009",
        job(before=': "${blocks:=8}"\n: "${blocks:=0}"\necho $blocks\n'),
        job(before=': "${blocks:=0}"\necho $blocks\n'),
    ),
    "set in the place of a function": (
        "SHL010",
        job(before='set_default() { eval ": \\${$1:=$2}"; }\nset default blocks 8\n'),
        job(before='set_default() { eval ": \\${$1:=$2}"; }\nset_default blocks 8\n'),
    ),
    "a default that is there already": (
        "SHL009",
        job(before=": ${blocks:=8}\n: ${blocks:=0}\necho $blocks\n"),
        job(before=": ${blocks:=0}\necho $blocks\n"),
    ),
}
"""By what is wrong: the rule that finds it, the script, its twin."""

SITES = {
    "more GPUs than a node has": "lumi",
    "more tasks than usable cores": "lumi",
    "variables of another network": "lumi",
}
"""The machines of what depends on one."""


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[str], list[str]]]:
    """What is found of each script and of its twin."""
    directory = tmp_path_factory.mktemp("mistakes")
    for number, (_, wrong, right) in enumerate(MISTAKES.values()):
        for name, text in (("wrong", wrong), ("right", right)):
            (directory / f"{number}.{name}").mkdir()
            (directory / f"{number}.{name}" / "exp.run").write_text(text)
    found: dict[str, tuple[list[str], list[str]]] = {}
    for number, name in enumerate(MISTAKES):
        both = []
        for kind in ("wrong", "right"):
            report = nmlgen.lint(
                [directory / f"{number}.{kind}" / "exp.run"], is_isolated=True, is_fragment=False, site=SITES.get(name)
            )
            both.append(sorted({finding.code for finding in report.findings}))
        found[name] = both[0], both[1]
    return found


@rows("name", MISTAKES)
def test_a_mistake_and_its_twin(name: str, findings: dict[str, tuple[list[str], list[str]]]) -> None:
    code = MISTAKES[name][0]
    wrong, right = findings[name]
    assert code in wrong
    assert right == []
