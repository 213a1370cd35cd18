#!/bin/bash
# exec > file: everything that is printed afterwards lands there, until it is given back.
dtime=300
exec 3>&1
exec > NAMELIST_exec
echo "&run_nml"
echo " dtime = $dtime"
echo "/"
cat << EOF
! from a here-document
EOF
exec >&3
echo "not in the file"
exec 4> NAMELIST_four
echo "! through descriptor 4" >&4
cat >&4 << EOF
! dtime = $dtime
EOF
exec 4>&-
{ echo "! out"; echo "! err" >&2; } > NAMELIST_out 2> NAMELIST_err
echo "! both" > NAMELIST_both 2>&1
echo "! lost" > NAMELIST_lost > NAMELIST_kept
