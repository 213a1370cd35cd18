"""Run scripts in the ways that people write them."""

from __future__ import annotations

HEAD = """\
#!/bin/bash
#SBATCH --job-name=waves
#SBATCH --account=bb1234
#SBATCH --partition=compute
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=32
#SBATCH --time=02:00:00
"""

MASTER = """\
cat > icon_master.namelist << EOF
&master_nml
 lrestart = .false.
/
&master_time_control_nml
 experimentStartDate = "${start}"
 experimentStopDate = "2000-01-11T00:00:00Z"
 checkpointTimeIntval = 'P1D'
/
&master_model_nml
 model_type = 1
 model_name = 'atm'
 model_namelist_filename = "NAMELIST_${EXPNAME}"
/
EOF
"""

MODEL = """\
cat > NAMELIST_${EXPNAME} << EOF
&parallel_nml
 nproma = 16
 num_io_procs = $((nodes * 2))
/
&grid_nml
 dynamics_grid_filename = 'iconR02B04.nc'
/
&run_nml
 num_lev = 47
 modelTimeStep = 'PT5M'
 iforcing = 3
/
&nonhydrostatic_nml
 damp_height = 23.0d3
/
&output_nml
 output_filename = 'out/waves_2d'
 output_interval = 'PT6H'
 file_interval = 'P1D'
 output_start = "${start}"
 output_end = "2000-01-11T00:00:00Z"
 ml_varlist = 'tas', 'pr'
/
EOF
"""

COMPLETE = f"""{HEAD}
EXPNAME=waves
start=2000-01-01T00:00:00Z
nodes=$SLURM_JOB_NUM_NODES
module purge
module load intel-oneapi-mpi/2021.5.0
export I_MPI_EXTRA_FILESYSTEM=on
export OMP_NUM_THREADS=1
ulimit -s unlimited
rundir=/scratch/b/$EXPNAME
mkdir -p $rundir/out
cd $rundir
lfs setstripe -c 4 -S 4M out
lfs setstripe -c 1 $rundir
ln -sf /pool/grids/iconR02B04.nc .
cp /pool/data/ozone.nc o3_icon_DOM01.nc
{MASTER}{MODEL}
export DARSHAN_MODMEM=8
cat > hints <<HINTS
# for Lustre
cb_nodes 4
romio_cb_write enable
HINTS
export ROMIO_HINTS=$rundir/hints
LD_PRELOAD=/sw/lib/libdarshan.so srun -n 64 --cpu-bind=cores /work/bb1234/icon/bin/icon
"""
"""A complete one, of which everything is known."""

FRAGMENT = (
    """\
EXPNAME=waves
start=2000-01-01T00:00:00Z
nodes=${no_of_nodes}
"""
    + MODEL
)
"""A part of one: the header is another file."""

INTERVAL = "nodes=2\nif [ -f /pool/restart.nc ]; then touch marker; interval=P2D; else interval=P1D; fi"
APPENDED = """\
EOF
if [ -f /pool/restart.nc ]; then
cat >> NAMELIST_${EXPNAME} << EOF
&io_nml
 itype_pres_msl = 4
/
EOF
fi
cat >> NAMELIST_${EXPNAME} << EOF
&run_nml
"""

TWO_WAYS = (
    COMPLETE.replace("nodes=$SLURM_JOB_NUM_NODES", INTERVAL)
    .replace("checkpointTimeIntval = 'P1D'", "checkpointTimeIntval = '$interval'")
    .replace("&run_nml\n", APPENDED)
)
"""One that may go two ways."""

LOOP = COMPLETE.replace(
    MODEL,
    MODEL
    + """\
for kind in pl hl; do
cat >> NAMELIST_${EXPNAME} << EOF
&output_nml
 output_filename = 'out/waves_${kind}'
 output_interval = 'PT6H'
 file_interval = 'P1D'
 output_start = "${start}"
 output_end = "2000-01-11T00:00:00Z"
 ${kind}_varlist = 'temp'
/
EOF
done
""",
)
"""One that writes streams in a loop."""

ECHOES = COMPLETE.replace(
    MODEL,
    """\
{
  echo "&parallel_nml"
  echo " nproma = 16"
  echo "/"
  printf '&grid_nml dynamics_grid_filename = "%s" /\\n' iconR02B04.nc
  echo "&run_nml modelTimeStep = 'PT5M' num_lev = 47 /"
} > NAMELIST_$EXPNAME
""",
)
"""One that writes its namelist with echo."""

SETTINGS = "EXPNAME=waves\nstart=2000-01-01T00:00:00Z\n"
SOURCED = COMPLETE.replace("EXPNAME=waves\nstart=2000-01-01T00:00:00Z\n", ". ./settings\n")
"""One that reads a file beside it."""

UNKNOWN = COMPLETE.replace("num_io_procs = $((nodes * 2))", "num_io_procs = $(how_many_writers)").replace(
    "--time=02:00:00", "--time={{ time }}"
)
"""One of which not everything is known."""

SEVERAL = COMPLETE.replace(
    'model_namelist_filename = "NAMELIST_${EXPNAME}"\n/\n',
    "model_namelist_filename = \"NAMELIST_${EXPNAME}\"\n/\n&master_model_nml\n model_type = 2\n model_name = 'oce'\n"
    " model_namelist_filename = 'NAMELIST_oce'\n/\n",
).replace(MODEL, MODEL + "cat > NAMELIST_oce << EOF\n&ocean_dynamics_nml\n n_zlev = 40\n/\nEOF\n")
"""One that starts two models."""

ALL = {
    "complete": COMPLETE,
    "fragment": FRAGMENT,
    "two_ways": TWO_WAYS,
    "loop": LOOP,
    "echoes": ECHOES,
    "sourced": SOURCED,
    "unknown": UNKNOWN,
    "several": SEVERAL,
}
