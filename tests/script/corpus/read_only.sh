#!/bin/bash
# differs: assigning to a read-only variable ends a script of ksh, in bash only the line
# Read-only variables.
readonly dtime=300
echo "! $dtime" > NAMELIST_readonly
dtime=60; echo "! same line" >> NAMELIST_readonly
echo "! $dtime" >> NAMELIST_readonly
export dtime
unset dtime
echo "! [$dtime]" >> NAMELIST_readonly
