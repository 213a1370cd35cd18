"""What a script can have wrong besides its namelists: the codes, their names and what they mean."""

from __future__ import annotations

from functools import partial

from nmlgen.pages import page

_page = partial(page, language="sh")


def _directives(text: str, bad: str, good: str) -> str:
    """The same for directives: the first line of the script and the commands need not be written out."""
    return _page(text, *(f"#!/bin/bash\n{lines.strip()}\nsrun bin/icon" for lines in (bad, good)))


def _pbs(text: str, bad: str, good: str) -> str:
    """The same for directives of PBS."""
    return _page(text, *(f"#!/bin/bash\n{lines.strip(' ')}\nmpirun bin/icon" for lines in (bad, good)))


PROBLEMS = {
    "SHL001": (
        "shell-syntax",
        _page(
            "The shell stops at this text, or takes it otherwise than it seems to say. Of several the first is an "
            "error, behind which the shell reads no further; the others, which are warnings, may follow from it.",
            """
if [ -d output ]; then
  ls output
""",
            """
if [ -d output ]; then
  ls output
fi
""",
        ),
    ),
    "SHL002": (
        "unterminated-heredoc",
        _page(
            "The delimiter of a here-document never comes on a line of its own: the rest of the script "
            "becomes part of the file, and none of it is run. A blank before or behind the delimiter is "
            "enough; `<<-` takes tabs before it, no blanks.",
            """
cat >NAMELIST_atm <<EOF
&run_nml
/
  EOF
srun bin/icon
""",
            """
cat >NAMELIST_atm <<EOF
&run_nml
/
EOF
srun bin/icon
""",
        ),
    ),
    "SHL003": (
        "unset-variable",
        _page(
            "Nothing sets a variable that goes into a namelist, or is the number of tasks of a launch. The shell puts"
            " nothing in its place, or 0 in an arithmetic expression, and says nothing of it. Where another script "
            "comes before this one, or it sources a file that is not there, what it never sets is not known to be "
            "unset, and neither is a name in capital letters, which the surroundings may set. But a name that stands "
            "in a whole script only once, is set nowhere in it and is one letter away from one that it sets is found "
            "anywhere, as in `cd $OUTDRI`, but not in `ROOT=$ROOTS/1`, where the other has no value yet. What else is "
            "wrong with such a value is a warning, as whoever starts the script may set it, unless the name is such a "
            "slip.",
            """
cat >NAMELIST_atm <<EOF
&run_nml
 num_lev = $((levels / 2))
/
&nonhydrostatic_nml
/
EOF
levels=90
""",
            """
levels=90
cat >NAMELIST_atm <<EOF
&run_nml
 num_lev = $((levels / 2))
/
&nonhydrostatic_nml
/
EOF
""",
        ),
    ),
    "SHL004": (
        "missing-output-directory",
        _page(
            "A stream writes into a directory that the script never makes, or checkpoints go there. ICON makes none: "
            "it stops when it opens the file.",
            """
cat >NAMELIST_atm <<EOF
&nonhydrostatic_nml
/
&output_nml
 output_filename = 'output/atm'
/
EOF
srun bin/icon
""",
            """
mkdir -p output
cat >NAMELIST_atm <<EOF
&nonhydrostatic_nml
/
&output_nml
 output_filename = 'output/atm'
/
EOF
srun bin/icon
""",
        ),
    ),
    "SHL005": (
        "inactive-namelist",
        _page(
            "A namelist that no way through the script comes to would stop the Fortran runtime if it were "
            "used. All else in it is left alone.",
            """
if false; then
  cat >NAMELIST_atm <<EOF
&run_nml
 output = 'nml
/
EOF
fi
""",
            """
if false; then
  cat >NAMELIST_atm <<EOF
&run_nml
 output = 'nml'
/
EOF
fi
""",
        ),
    ),
    "SHL006": (
        "script-ends-before",
        _page(
            "A command always fails, and with `set -e` the script ends there, before it has written its other "
            "namelists. `(( expression ))` and `let` fail where the value is 0.",
            """
set -e
(( io_procs = 4 - 4 ))
cat >NAMELIST_atm <<EOF
&parallel_nml
 num_io_procs = $io_procs
/
EOF
""",
            """
set -e
io_procs=$(( 4 - 4 ))
cat >NAMELIST_atm <<EOF
&parallel_nml
 num_io_procs = $io_procs
/
EOF
""",
        ),
    ),
    "SHL007": (
        "more-than-is-read",
        _page(
            "The script goes on for longer than it is followed: after 12 000 commands, those of loops counted in each "
            "turn, 200 000 words, or 5000 words of directives; earlier where thousands of questions stay open from "
            "command to command, arrays, variables and texts grow on and on, or commands with long texts, expressions "
            "or patterns come again and again. What it does behind that is not known, and not judged.",
            """
for i in $(seq 400); do
  for j in $(seq 400); do
    n=$((i * j))
  done
done
""",
            """
n=$((400 * 400))
""",
        ),
    ),
    "SHL008": (
        "exit-leaves-subshell",
        _page(
            "`( ...; exit 1 )` leaves the subshell that the parentheses make, and the script goes on, unless it "
            "has `set -e`, or `exit` comes next. Braces make none.",
            """
[ -f grid.nc ] || ( echo "no grid"; exit 1 )
srun bin/icon
""",
            """
[ -f grid.nc ] || { echo "no grid"; exit 1; }
srun bin/icon
""",
        ),
    ),
    "SHL009": (
        "second-default",
        _page(
            "A variable gets a default that it has got before on the same way: `${name:=value}` changes only "
            "what is not set or empty, so the first one holds.",
            """
: ${nproma:=8}
if [ "$use_gpu" = yes ]; then
  : ${nproma:=8000}
fi
srun bin/icon
""",
            """
if [ "$use_gpu" = yes ]; then
  : ${nproma:=8000}
fi
: ${nproma:=8}
srun bin/icon
""",
        ),
    ),
    "SHL010": (
        "set-for-function",
        _page(
            "`set word value` replaces the positional parameters; the script has a function `set_word`, which "
            "this does not call.",
            """
set_default() { eval ": \\${$1:=$2}"; }
set default nproma 48
srun bin/icon
""",
            """
set_default() { eval ": \\${$1:=$2}"; }
set_default nproma 48
srun bin/icon
""",
        ),
    ),
    "SHL011": (
        "blank-in-assignment",
        _page(
            "An assignment has no blanks round its equals sign: with one the shell takes the name for a command that "
            "does not exist, and the variable stays what it was.",
            """
nodes = 4
srun -N $nodes bin/icon
""",
            """
nodes=4
srun -N $nodes bin/icon
""",
        ),
    ),
    "SHL012": (
        "rm-of-directory",
        _page(
            "`rm`, with -f, too, takes no directory away without -r: it says so and fails, and what is in the "
            "directory stays there for what comes next. Told of directories that the script itself has made.",
            """
mkdir -p work
rm -f work
srun bin/icon
""",
            """
mkdir -p work
rm -rf work
srun bin/icon
""",
        ),
    ),
    "SBA001": (
        "ignored-directive",
        _directives(
            "The line looks like a directive, but Slurm takes it for a comment: it is indented, has a blank "
            "behind the #, is in lower case or misspelt. The job runs without what it asks for. Two # switch "
            "a directive off on purpose.",
            """
#SBATCH --time=08:00:00
# SBATCH --nodes=4
""",
            """
#SBATCH --time=08:00:00
#SBATCH --nodes=4
##SBATCH --exclusive
""",
        ),
    ),
    "SBA002": (
        "directive-after-command",
        _page(
            "Slurm reads directives up to the first line that is neither empty nor a comment; `set -e` and an "
            "assignment end them, too. This one comes later: the job runs without what it asks for.",
            """
#!/bin/bash
#SBATCH --nodes=4
set -e
#SBATCH --time=08:00:00
srun bin/icon
""",
            """
#!/bin/bash
#SBATCH --nodes=4
#SBATCH --time=08:00:00
set -e
srun bin/icon
""",
        ),
    ),
    "SBA003": (
        "duplicate-directive",
        _directives(
            "An option is given twice. The last one holds, and nothing is said. Only --mail-type adds up.",
            """
#SBATCH --partition=compute
#SBATCH -p gpu
""",
            """
#SBATCH --partition=gpu
""",
        ),
    ),
    "SBA004": (
        "unknown-option",
        _directives(
            "sbatch does not know the option, or cannot tell which of several it is short for, and refuses "
            "the job. Options such as --mpi and --cpu-bind are srun's; --workdir became --chdir.",
            """
#SBATCH --workdir=/scratch/run
""",
            """
#SBATCH --chdir=/scratch/run
""",
        ),
    ),
    "SBA005": (
        "stray-word",
        _directives(
            "A word belongs to no option, and sbatch refuses the job: a blank around the equals sign, a value "
            "with a blank and without quotes, or a quote that is never closed.",
            """
#SBATCH --comment=second try
""",
            """
#SBATCH --comment="second try"
""",
        ),
    ),
    "SBA006": (
        "value-refused",
        _directives(
            "sbatch cannot read the value and refuses the job, whatever the cluster. An empty `--output=` or `--error=`"
            " it takes, but the job fails before its first command. Of several mail types it skips those that it does"
            " not know, and with NONE among them it sends no mail. A word where a number has to be (`--nodes=numnodes`)"
            " is a warning, as something may put a number for it.",
            """
#SBATCH --time=8h
""",
            """
#SBATCH --time=08:00:00
""",
        ),
    ),
    "SBA007": (
        "value-cut",
        _directives(
            "The line ends earlier than it seems: a # ends it, even in the middle of a word, and so does an "
            "empty word. `--comment=a#b` is `a`. Quotes keep the #.",
            """
#SBATCH --comment=run#2 --nodes=4
""",
            """
#SBATCH --comment="run#2" --nodes=4
""",
        ),
    ),
    "SBA008": (
        "directive-not-expanded",
        _directives(
            "Slurm expands no shell variable, command substitution or ~ in a directive: the characters stay "
            "as they are.",
            """
#SBATCH --account=$PROJECT
""",
            """
#SBATCH --account=bb1234
""",
        ),
    ),
    "SBA009": (
        "option-and-value",
        _directives(
            "An option has no value and takes the next word for it, even the next option, or that of the next "
            "line; or it has a value and takes none; or `-J=a` has the equals sign in its value.",
            """
#SBATCH -J=amip
""",
            """
#SBATCH -J amip
""",
        ),
    ),
    "SBA010": (
        "exclusive-options",
        _directives(
            "Two options exclude each other, and sbatch refuses the job; so do a `--nodelist` and a `--nodes` with "
            "fewer nodes, and GPUs of a type beside GPUs of any: `--gpus=1` and `--gres=gpu:a100:1`.",
            """
#SBATCH --mem=4G
#SBATCH --mem-per-gpu=1G
""",
            """
#SBATCH --mem=4G
""",
        ),
    ),
    "SBA011": (
        "no-batch-script",
        _page(
            "sbatch refuses the whole script: its first line does not begin with #!, or its lines end as on DOS.",
            """
# amip
#SBATCH --nodes=4
srun bin/icon
""",
            """
#!/bin/bash
#SBATCH --nodes=4
srun bin/icon
""",
        ),
    ),
    "SBA012": (
        "foreign-directive",
        _page(
            "Slurm 22.05 obeys #PBS and #BSUB lines as well, wherever they stand, in a here-document, too, "
            "and after the #SBATCH lines: what they say replaces what those said.",
            """
#!/bin/bash
#SBATCH --nodes=4
srun bin/icon
#PBS -l nodes=2
""",
            """
#!/bin/bash
#SBATCH --nodes=4
srun bin/icon
""",
        ),
    ),
    "SBA013": (
        "option-not-inherited",
        _page(
            "A later part of a heterogeneous job does not say its partition or its constraint, and does not get those "
            "of the first: nodes, tasks, partition, constraint and GPUs belong to one part, job name, account and time "
            "to all.",
            """
#!/bin/bash
#SBATCH --time=08:00:00
#SBATCH --partition=gpu
#SBATCH --nodes=4
#SBATCH hetjob
#SBATCH --nodes=2
srun --het-group=0 bin/icon : --het-group=1 bin/icon
""",
            """
#!/bin/bash
#SBATCH --time=08:00:00
#SBATCH --partition=gpu
#SBATCH --nodes=4
#SBATCH hetjob
#SBATCH --partition=compute
#SBATCH --nodes=2
srun --het-group=0 bin/icon : --het-group=1 bin/icon
""",
        ),
    ),
    "SBA014": (
        "empty-part",
        _page(
            "`#SBATCH hetjob` stands before the first option or behind the last one: sbatch makes a part of one task "
            "of it, which nobody asked for.",
            """
#!/bin/bash
#SBATCH --nodes=4
#SBATCH hetjob
srun --het-group=0 bin/icon
""",
            """
#!/bin/bash
#SBATCH --nodes=4
#SBATCH hetjob
#SBATCH --nodes=2
srun --het-group=0,1 bin/icon
""",
        ),
    ),
    "LFS001": (
        "setstripe-refused",
        _page(
            "`lfs setstripe` does not know an option, or cannot read its value, and changes nothing: the "
            "files get the default layout.",
            """
lfs setstripe -c 4 -S 4MiBs output
""",
            """
lfs setstripe -c 4 -S 4M output
""",
        ),
    ),
    "LFS002": (
        "setstripe-open-end",
        _page(
            "The last component of a layout ends before the end of a file: a write beyond it fails.",
            """
lfs setstripe -E 64M -c 1 -E 1G -c 4 output
""",
            """
lfs setstripe -E 64M -c 1 -E -1 -c 4 output
""",
        ),
    ),
    "LFS003": (
        "setstripe-on-file",
        _page(
            "A layout is chosen when a file is made: `lfs setstripe` fails on a file that is there already. On a "
            "directory it sets the layout of new files; `lfs migrate` moves a file into another layout.",
            """
cp /pool/first_guess.nc first_guess.nc
lfs setstripe -c 4 first_guess.nc
srun bin/icon
""",
            """
lfs setstripe -c 4 first_guess.nc
cp /pool/first_guess.nc first_guess.nc
srun bin/icon
""",
        ),
    ),
    "LFS004": (
        "setstripe-before-mkdir",
        _page(
            "On a name that does not exist `lfs setstripe` makes an empty file, and the directory of that name cannot "
            "be made any more, unless it was there from an earlier run.",
            """
lfs setstripe -c 4 output
mkdir -p output
srun bin/icon
""",
            """
mkdir -p output
lfs setstripe -c 4 output
srun bin/icon
""",
        ),
    ),
    "LFS005": (
        "setstripe-after-run",
        _page(
            "The directory of an output stream or of checkpoints is striped when the model has ended: its files are "
            "there, and keep the layout they have.",
            """
mkdir -p output
cat >NAMELIST_atm <<EOF
&nonhydrostatic_nml
/
&output_nml
 output_filename = 'output/atm'
/
EOF
srun bin/icon
lfs setstripe -c 4 output
""",
            """
mkdir -p output
lfs setstripe -c 4 output
cat >NAMELIST_atm <<EOF
&nonhydrostatic_nml
/
&output_nml
 output_filename = 'output/atm'
/
EOF
srun bin/icon
""",
        ),
    ),
    "ENV001": (
        "variable-not-exported",
        _page(
            "A variable of the MPI library, of OpenMP or of Darshan, or LD_PRELOAD, is set in the script and not "
            "exported: the model does not get it.",
            """
I_MPI_EXTRA_FILESYSTEM=on
srun bin/icon
""",
            """
export I_MPI_EXTRA_FILESYSTEM=on
srun bin/icon
""",
        ),
    ),
    "ENV002": (
        "variable-too-late",
        _page(
            "A variable of the MPI library is set behind the launch of the model, which no other launch follows.",
            """
srun bin/icon
export I_MPI_EXTRA_FILESYSTEM=on
""",
            """
export I_MPI_EXTRA_FILESYSTEM=on
srun bin/icon
""",
        ),
    ),
    "LCH001": (
        "launch-refused",
        _page(
            "The launcher refuses the number of tasks or of nodes, so that the model does not start.",
            """
srun -n 0 bin/icon
""",
            """
srun -n 256 bin/icon
""",
        ),
    ),
    "LCH002": (
        "chain-without-checkpoint",
        _page(
            "The script submits itself again, and its model writes no checkpoint: there is neither restartTimeIntval, "
            "which ends a job and writes one, nor checkpointTimeIntval. The next job begins anew, or finds nothing to "
            "begin with. A script that goes on only if finish.status says RESTART is left alone.",
            """
cat >icon_master.namelist <<EOF
&master_model_nml
 model_name = 'atm'
 model_namelist_filename = 'NAMELIST_atm'
/
&master_time_control_nml
 experimentStartDate = '2000-01-01T00:00:00Z'
 experimentStopDate = '2001-01-01T00:00:00Z'
/
EOF
cat >NAMELIST_atm <<EOF
&nonhydrostatic_nml
/
EOF
srun bin/icon
sbatch "$0"
""",
            """
cat >icon_master.namelist <<EOF
&master_model_nml
 model_name = 'atm'
 model_namelist_filename = 'NAMELIST_atm'
/
&master_time_control_nml
 experimentStartDate = '2000-01-01T00:00:00Z'
 experimentStopDate = '2001-01-01T00:00:00Z'
 restartTimeIntval = 'P1M'
/
EOF
cat >NAMELIST_atm <<EOF
&nonhydrostatic_nml
/
EOF
srun bin/icon
sbatch "$0"
""",
        ),
    ),
    "LCH003": (
        "part-without-launch",
        _page(
            "In a heterogeneous job `srun` without `--het-group` starts its tasks in the first part only, and "
            "says nothing of it: the other parts are paid for and idle, and a model whose ranks would be there "
            "never starts. The same holds of a part that none of the launches of a script names.",
            """
#!/bin/bash
#SBATCH --nodes=4
#SBATCH hetjob
#SBATCH --nodes=2
srun bin/icon
""",
            """
#!/bin/bash
#SBATCH --nodes=4
#SBATCH hetjob
#SBATCH --nodes=2
srun --het-group=0,1 bin/icon
""",
        ),
    ),
    "LCH004": (
        "parts-out-of-order",
        _page(
            "Ranks are counted by the parts of a heterogeneous job, in whatever order a launch names them. The "
            "master namelist counts in the order of the launch: each model gets the nodes and the program of "
            "another one.",
            """
#!/bin/bash
#SBATCH --ntasks=4
#SBATCH hetjob
#SBATCH --ntasks=12
cat >icon_master.namelist <<EOF
&master_model_nml
 model_name = 'oce'
 model_namelist_filename = 'NAMELIST_oce'
 model_type = 2
 model_min_rank = 0
 model_max_rank = 11
/
&master_model_nml
 model_name = 'atm'
 model_namelist_filename = 'NAMELIST_atm'
 model_type = 1
 model_min_rank = 12
 model_max_rank = 15
/
EOF
srun --het-group=1 bin/ocean : --het-group=0 bin/icon
""",
            """
#!/bin/bash
#SBATCH --ntasks=4
#SBATCH hetjob
#SBATCH --ntasks=12
cat >icon_master.namelist <<EOF
&master_model_nml
 model_name = 'atm'
 model_namelist_filename = 'NAMELIST_atm'
 model_type = 1
 model_min_rank = 0
 model_max_rank = 3
/
&master_model_nml
 model_name = 'oce'
 model_namelist_filename = 'NAMELIST_oce'
 model_type = 2
 model_min_rank = 4
 model_max_rank = 15
/
EOF
srun --het-group=1 bin/ocean : --het-group=0 bin/icon
""",
        ),
    ),
    "LCH005": (
        "part-as-whole",
        _page(
            "In a heterogeneous job SLURM_NTASKS, SLURM_JOB_NUM_NODES and their like are those of the first "
            "part. Each part has its own, such as SLURM_NTASKS_HET_GROUP_1; together they are the whole.",
            """
#!/bin/bash
#SBATCH --ntasks=4
#SBATCH hetjob
#SBATCH --ntasks=12
tasks=$SLURM_NTASKS
srun --het-group=0,1 bin/icon
""",
            """
#!/bin/bash
#SBATCH --ntasks=4
#SBATCH hetjob
#SBATCH --ntasks=12
tasks=$(( SLURM_NTASKS_HET_GROUP_0 + SLURM_NTASKS_HET_GROUP_1 ))
srun --het-group=0,1 bin/icon
""",
        ),
    ),
    "LCH006": (
        "list-as-number",
        _page(
            "SLURM_TASKS_PER_NODE is a list: `4(x3)` for three nodes of four tasks, which is no number to the "
            "shell. On one node it looks like one.",
            """
#!/bin/bash
#SBATCH --ntasks-per-node=4
tasks=$(( SLURM_TASKS_PER_NODE * SLURM_JOB_NUM_NODES ))
srun -n $tasks bin/icon
""",
            """
#!/bin/bash
#SBATCH --ntasks-per-node=4
tasks=$(( SLURM_NTASKS_PER_NODE * SLURM_JOB_NUM_NODES ))
srun -n $tasks bin/icon
""",
        ),
    ),
    "LCH007": (
        "node-list-taken-apart",
        _page(
            "The script takes the list of nodes apart by itself: a single node has no brackets, and nodes of "
            "two names have two pairs of them. `scontrol show hostnames` knows them all.",
            """
prefix=${SLURM_JOB_NODELIST%%[*}
srun bin/icon
""",
            """
nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
srun bin/icon
""",
        ),
    ),
    "LCH008": (
        "stale-hostfile",
        _page(
            "Where SLURM_HOSTFILE is exported, srun places tasks by it even without `--distribution=arbitrary`, "
            "and sbatch hands it to the next job. What comes behind the model gets nodes that were meant for "
            "the model.",
            """
export SLURM_HOSTFILE=hosts
srun --distribution=arbitrary -n 8 bin/icon
sbatch post.sh
""",
            """
export SLURM_HOSTFILE=hosts
srun --distribution=arbitrary -n 8 bin/icon
unset SLURM_HOSTFILE
sbatch post.sh
""",
        ),
    ),
    "LCH009": (
        "more-hosts-than-tasks",
        _page(
            "The file of hosts has more lines than there are tasks: srun uses the first ones and says nothing "
            "of the others. With fewer lines it refuses the launch.",
            """
cat >hosts <<EOF
n1
n1
n2
EOF
export SLURM_HOSTFILE=hosts
srun --distribution=arbitrary -n 2 bin/icon
""",
            """
cat >hosts <<EOF
n1
n2
EOF
export SLURM_HOSTFILE=hosts
srun --distribution=arbitrary -n 2 bin/icon
""",
        ),
    ),
    "LCH010": (
        "cpus-not-handed-on",
        _page(
            "Since Slurm 22.05 srun does not take `--cpus-per-task` from the job: each task gets one core, and "
            "the threads of a rank share it.",
            """
#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=16
srun bin/icon
""",
            """
#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=16
srun --cpus-per-task=16 bin/icon
""",
        ),
    ),
    "LCH011": (
        "programs-unlike-models",
        _page(
            "The file for `srun --multi-prog`, or a part of a heterogeneous job, gives a program other ranks than the "
            "master namelist gives to the model in it. ICON stops, waits for ever, or runs a model with the program of "
            "another one.",
            """
cat >icon_master.namelist <<EOF
&master_model_nml
 model_name = 'atm'
 model_namelist_filename = 'NAMELIST_atm'
 model_type = 1
 model_min_rank = 0
 model_max_rank = 7
/
&master_model_nml
 model_name = 'oce'
 model_namelist_filename = 'NAMELIST_oce'
 model_type = 2
 model_min_rank = 8
 model_max_rank = 15
/
EOF
cat >programs <<EOF
0-5 bin/icon-gpu
6-15 bin/icon-cpu
EOF
srun -n 16 --multi-prog programs
""",
            """
cat >icon_master.namelist <<EOF
&master_model_nml
 model_name = 'atm'
 model_namelist_filename = 'NAMELIST_atm'
 model_type = 1
 model_min_rank = 0
 model_max_rank = 7
/
&master_model_nml
 model_name = 'oce'
 model_namelist_filename = 'NAMELIST_oce'
 model_type = 2
 model_min_rank = 8
 model_max_rank = 15
/
EOF
cat >programs <<EOF
0-7 bin/icon-gpu
8-15 bin/icon-cpu
EOF
srun -n 16 --multi-prog programs
""",
        ),
    ),
    "LCH012": (
        "wrapper-loses-arguments",
        _page(
            "The wrapper that the launch starts does not hand the arguments of the program on: `$executable` is "
            'the first word only, and `bash -c "$@"` takes what follows for words of the shell.',
            """
cat >wrap.sh <<'EOF'
#!/bin/bash
bash -c "$@"
EOF
chmod +x wrap.sh
cat >NAMELIST_atm <<EOF
&nonhydrostatic_nml
/
EOF
srun -n 8 ./wrap.sh bin/icon --verbose
""",
            """
cat >wrap.sh <<'EOF'
#!/bin/bash
exec "$@"
EOF
chmod +x wrap.sh
cat >NAMELIST_atm <<EOF
&nonhydrostatic_nml
/
EOF
srun -n 8 ./wrap.sh bin/icon --verbose
""",
        ),
    ),
    "LCH013": (
        "wrapper-binds-nowhere",
        _page(
            "For some rank the wrapper gives numactl nothing to bind to: the number of the rank on its node "
            "goes beyond the list.",
            """
#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=6
cat >wrap.sh <<'EOF'
#!/bin/bash
numa=(0 1 2 3)
exec numactl --cpunodebind=${numa[$SLURM_LOCALID]} "$@"
EOF
cat >NAMELIST_atm <<EOF
&nonhydrostatic_nml
/
EOF
srun -n 6 ./wrap.sh bin/icon
""",
            """
#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=6
cat >wrap.sh <<'EOF'
#!/bin/bash
numa=(0 1 2 3)
exec numactl --cpunodebind=${numa[$((SLURM_LOCALID % 4))]} "$@"
EOF
cat >NAMELIST_atm <<EOF
&nonhydrostatic_nml
/
EOF
srun -n 6 ./wrap.sh bin/icon
""",
        ),
    ),
    "LCH014": (
        "wrapper-without-rank",
        _page(
            "The wrapper asks Open MPI for the number of a rank, and srun starts it, which sets nothing of "
            "that: every rank takes itself for the first, and all use one GPU.",
            """
cat >wrap.sh <<'EOF'
#!/bin/bash
export CUDA_VISIBLE_DEVICES=$((OMPI_COMM_WORLD_LOCAL_RANK % 4))
exec "$@"
EOF
cat >NAMELIST_atm <<EOF
&nonhydrostatic_nml
/
EOF
srun -n 8 ./wrap.sh bin/icon
""",
            """
cat >wrap.sh <<'EOF'
#!/bin/bash
export CUDA_VISIBLE_DEVICES=$((${OMPI_COMM_WORLD_LOCAL_RANK:-$SLURM_LOCALID} % 4))
exec "$@"
EOF
cat >NAMELIST_atm <<EOF
&nonhydrostatic_nml
/
EOF
srun -n 8 ./wrap.sh bin/icon
""",
        ),
    ),
    "LCH015": (
        "wrapper-leaves-out-rank",
        _page(
            "The ranks that compute have the numbers below their count. One that is compared with one less is "
            "taken for a rank that writes, and gets no GPU.",
            """
cat >wrap.sh <<'EOF'
#!/bin/bash
if (( SLURM_PROCID < (compute_tasks - 1) )); then
  export CUDA_VISIBLE_DEVICES=$((SLURM_LOCALID % 4))
fi
exec "$@"
EOF
cat >NAMELIST_atm <<EOF
&nonhydrostatic_nml
/
EOF
srun -n 8 ./wrap.sh bin/icon
""",
            """
cat >wrap.sh <<'EOF'
#!/bin/bash
if (( SLURM_PROCID < compute_tasks )); then
  export CUDA_VISIBLE_DEVICES=$((SLURM_LOCALID % 4))
fi
exec "$@"
EOF
cat >NAMELIST_atm <<EOF
&nonhydrostatic_nml
/
EOF
srun -n 8 ./wrap.sh bin/icon
""",
        ),
    ),
    "PBS001": (
        "pbs-refused-directive",
        _pbs(
            "qsub of OpenPBS and PBS Pro does not know an option, an option lacks its value, or a word belongs to "
            "none, such as a remark behind a directive, or lines end as on DOS: it refuses the job. What Torque knows "
            "besides is a warning, and such a remark is one where an option or `nodes` is Torque's. Lines for NEC's "
            "NQSV, which begin with #PBS as well, are not judged.",
            "#PBS -l select=2:ncpus=64:mpiprocs=64\n#PBS -Y icon",
            "#PBS -l select=2:ncpus=64:mpiprocs=64\n#PBS -N icon",
        ),
    ),
    "PBS002": (
        "pbs-bad-value",
        _pbs(
            "qsub refuses the value of an option or of a resource: memory is `4gb`, times are `hours:minutes:seconds`, "
            "and beside `select` no `ncpus` or `mem` of the whole job is taken. qsub expands no variables; one in a "
            "value is a warning, and so is a word where a number has to be, as something may put one for it.",
            "#PBS -l select=2:ncpus=64:mem=200GiB\n#PBS -l walltime=1:08:00:00",
            "#PBS -l select=2:ncpus=64:mem=200gb\n#PBS -l walltime=32:00:00",
        ),
    ),
    "PBS003": (
        "pbs-unknown-resource",
        _pbs(
            "A resource looks like a misspelt one of PBS's own, and qsub refuses it (`Unknown resource`). Sites define "
            "resources; names that are like none of PBS's are not judged.",
            "#PBS -l select=2:ncpuss=64",
            "#PBS -l select=2:ncpus=64",
        ),
    ),
    "PBS004": (
        "pbs-directive-after-command",
        _page(
            "qsub reads its directives before the first command, and none behind it.",
            """
#!/bin/bash
#PBS -l select=2:ncpus=64
cd $PBS_O_WORKDIR
#PBS -l walltime=08:00:00
mpirun bin/icon
""",
            """
#!/bin/bash
#PBS -l select=2:ncpus=64
#PBS -l walltime=08:00:00
cd $PBS_O_WORKDIR
mpirun bin/icon
""",
        ),
    ),
}
"""Code to name and explanation."""

CODES_OF_KINDS = {
    "ignored-directive": "SBA001",
    "directive-after-command": "SBA002",
    "duplicate-directive": "SBA003",
    "too-many-words": "SHL007",
    "empty-count": "SHL003",
    "unknown-option": "SBA004",
    "plugin-option": "SBA004",
    "removed-option": "SBA004",
    "srun-only-option": "SBA004",
    "ambiguous-option": "SBA004",
    "stray-word": "SBA005",
    "unmatched-quote": "SBA005",
    "bad-value": "SBA006",
    "value-cut": "SBA007",
    "not-expanded": "SBA008",
    "wants-value": "SBA009",
    "takes-no-value": "SBA009",
    "swallowed-option": "SBA009",
    "equals-sign": "SBA009",
    "exclusive-options": "SBA010",
    "memory-twice": "SBA010",
    "first-line": "SBA011",
    "dos-line-end": "SBA011",
    "foreign-directive": "SBA012",
    "pbs-unknown-option": "PBS001",
    "pbs-wants-value": "PBS001",
    "pbs-stray-word": "PBS001",
    "pbs-bad-value": "PBS002",
    "pbs-not-expanded": "PBS002",
    "pbs-unknown-resource": "PBS003",
    "pbs-after-command": "PBS004",
    "pbs-dos-line-end": "PBS001",
    "not-inherited": "SBA013",
    "empty-part": "SBA014",
    "setstripe-refused": "LFS001",
    "setstripe-open-end": "LFS002",
    "setstripe-on-file": "LFS003",
    "setstripe-before-mkdir": "LFS004",
    "setstripe-after-run": "LFS005",
    "variable-not-exported": "ENV001",
    "variable-too-late": "ENV002",
    "launch-refused": "LCH001",
    "chain-without-checkpoint": "LCH002",
    "part-without-launch": "LCH003",
    "parts-out-of-order": "LCH004",
    "part-as-whole": "LCH005",
    "list-as-number": "LCH006",
    "node-list-taken-apart": "LCH007",
    "stale-hostfile": "LCH008",
    "more-hosts-than-tasks": "LCH009",
    "cpus-not-handed-on": "LCH010",
    "programs-unlike-models": "LCH011",
    "exit-of-subshell": "SHL008",
    "second-default": "SHL009",
    "set-for-function": "SHL010",
    "blank-in-assignment": "SHL011",
    "rm-of-directory": "SHL012",
    "wrapper-loses-arguments": "LCH012",
    "wrapper-binds-nowhere": "LCH013",
    "wrapper-without-rank": "LCH014",
    "wrapper-leaves-out-rank": "LCH015",
}
"""The kind of a SyntaxProblem to the code that it has as a finding."""


def code_of(kind: str) -> str:
    """The code of a SyntaxProblem of the shell's own syntax."""
    return "SHL002" if kind == "unterminated-heredoc" else "SHL001"
