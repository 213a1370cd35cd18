#!/bin/ksh
#SBATCH --job-name=batch
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=32
# removes: NAMELIST_batch_test
# A whole run script in small: header, directories, namelists, master namelist, start of the model.
# env:
# env: SLURM_JOB_NUM_NODES=4 SLURM_NTASKS=128
# env: no_of_nodes=2 mpi_procs_pernode=64 restart=.true.
export OMP_NUM_THREADS=$((4 * 1))
: ${no_of_nodes:=${SLURM_JOB_NUM_NODES:=1}} ${mpi_procs_pernode:=$((128 / OMP_NUM_THREADS))}
((mpi_total_procs=no_of_nodes * mpi_procs_pernode))
nproma=32
basedir=$(pwd)
EXPNAME="batch_test"
experiments_dir="${experiments_dir:=experiments}"
START="srun --ntasks=$mpi_total_procs --cpus-per-task=${OMP_NUM_THREADS}"
MODEL=bin/icon
mkdir -p $experiments_dir/$EXPNAME
dtime=360
output_interval="PT$((dtime * 10 / 60))M"
atmo_namelist=NAMELIST_${EXPNAME}
cat > ${atmo_namelist} << EOF
&parallel_nml
 nproma       = ${nproma}
 num_io_procs = $((mpi_total_procs > 100 ? 4 : 0))
/
&output_nml
 output_interval = "$output_interval"
/
EOF
restart=${restart:=".false."}
if [ -f isRestartRun.sem ]; then restart=.true.; fi
master_namelist=icon_master.namelist
{
  echo "&master_nml"
  echo " lrestart = $restart"
  echo "/"
} > $master_namelist
namelist_list[0]=$atmo_namelist
modelname_list[0]=atm
if [ x$minrank_list = x ]; then minrank_list[0]=0; fi
no_of_models=${#namelist_list[*]}
j=0
while [ $j -lt ${no_of_models} ]; do
  cat >> $master_namelist << EOF
&master_model_nml
 model_name = "${modelname_list[$j]}", "${namelist_list[$j]}", ${minrank_list[$j]}
/
EOF
  j=`expr ${j} + 1`
done
mv $atmo_namelist $experiments_dir/$EXPNAME/
if [ -x $MODEL ]; then $START $MODEL; fi
echo "$START" > started
