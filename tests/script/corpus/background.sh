#!/bin/ksh
# Commands in the background and processes as files; none of them changes a variable.
dtime=300
dtime=600 &
wait
( echo "! background" > NAMELIST_background ) &
wait
cat <(echo "! from a process $dtime") > NAMELIST_process
read line < <(echo "one two")
echo "! [$line]" >> NAMELIST_process
