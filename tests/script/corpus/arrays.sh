#!/bin/ksh
# Indexed arrays: sparse, appended to, sliced, counted; written as lists into a namelist.
namelist_list[0]=NAMELIST_atm
namelist_list[1]=NAMELIST_oce
namelist_list[5]=NAMELIST_hd
grids=(iconR2B4 iconR2B5 "icon nest")
grids+=(iconR2B6)
levels=( 90 60 47 )
parents=(0 1 1)
n=${#namelist_list[@]}
subscripts="${!namelist_list[@]}"
last=${grids[3]}
count=${#grids[*]}
length=${#grids[2]}
slice="${grids[@]:1:2}"
copied=("${grids[@]}")
i=1
chosen=${grids[i+1]}
computed=${levels[$((i * 2))]}
levels[i]=65
(( levels[2] += 3 ))
first=$grids
unset parents[1]
left=${parents[*]}
unset copied
cat > NAMELIST_arrays << EOF
&grid_nml
 dynamics_grid_filename = "${grids[0]}.nc", "${grids[1]}.nc"
 grids = '${grids[*]}'
 n = $n, $count, $length
/
&run_nml
 num_lev = ${levels[0]}, ${levels[1]}, ${levels[2]}
/
! $subscripts | $last | $slice | $chosen | $computed | $first | $left | ${copied[0]:-none} | ${levels[9]}
! ${grids[@]%B*} | ${grids[@]#icon} | ${grids[@]/icon/} | ${levels[@]}
EOF
