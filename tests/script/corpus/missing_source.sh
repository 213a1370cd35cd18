#!/bin/bash
# differs: a missing sourced file ends a script of ksh, bash goes on
# A sourced file that is not there, without a test in front.
dtime=300
echo "! before" > NAMELIST_missing
. ./sourced/not_there 2> /dev/null
echo "! after $dtime" >> NAMELIST_missing
