#!/bin/ksh
# trap: at the end of the script, and replaced.
trap 'echo "! first" >> NAMELIST_traps' EXIT
echo "&run_nml /" > NAMELIST_traps
trap 'echo "! at the end $value" >> NAMELIST_traps' EXIT
trap '' INT
value=1
value=2
trap - INT
