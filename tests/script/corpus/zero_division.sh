#!/bin/bash
# differs: an error of arithmetic ends the command in bash, the script in ksh
# Arithmetic that fails.
echo "! before" > NAMELIST_division
nodes=0
dtime=$(( 10 / nodes ))
echo "! after [$dtime]" >> NAMELIST_division
month=08
next=$(( month + 1 ))
echo "! end [$next]" >> NAMELIST_division
