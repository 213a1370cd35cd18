#!/bin/ksh
# A namelist for every domain, with its name, its parent and a suffix, and a list in the master.
no_of_domains=3
atmo_dyn_grids=
start_offset=0
j=1
while [ $j -le $no_of_domains ]; do
  suffix=""
  [ $no_of_domains -gt 1 ] && suffix="_d${j}"
  parent=$(( j > 1 ? j - 1 : 0 ))
  grid="icon_DOM0${j}.nc"
  atmo_dyn_grids="${atmo_dyn_grids}${atmo_dyn_grids:+,}'$grid'"
  end_time[$j]=$(( j * 3600 ))
  cat > NAMELIST_jsbach${suffix} << EOF
&jsb_model_nml
 model_id = $j, parent = $parent
 usecase = "jsbach_lite"
/
EOF
  j=`expr $j + 1`
done
cat > NAMELIST_atm << EOF
&grid_nml
 dynamics_grid_filename = ${atmo_dyn_grids}
 end_time = ${end_time[1]}, ${end_time[2]}, ${end_time[3]}
 start_time = $(for k in 1 2 3; do printf '%d.,' $(( k * 100 )); done)
/
EOF
