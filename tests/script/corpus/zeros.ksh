#!/bin/ksh
# typeset -Z: numbers with leading zeros, and how arithmetic sees them.
typeset -Z2 month=7 day=3
typeset -Z4 year=850
typeset -i step
typeset -L5 left=abcdefgh
typeset -R3 right=abcdefgh
step=7/2
month=8
next=$(( month + 1 ))
day=$(( day + 9 ))
typeset -Z3 member
for member in 1 2; do
  echo "&ensemble_nml member = '$member' /" >> NAMELIST_zeros
done
typeset -u shouted=quiet
typeset -l whispered=LOUD
cat >> NAMELIST_zeros << EOF
&time_nml
 ini_datetime_string = "${year}-${month}-${day}T00:00:00Z"
/
! $step $next $left $right $shouted $whispered
EOF
