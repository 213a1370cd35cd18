#!/bin/ksh
# set -C: > refuses a file that is there, >| does not.
echo "! first" > NAMELIST_noclobber
set -C
{ echo "! second" > NAMELIST_noclobber; } 2> /dev/null || refused=yes
echo "! appended $refused" >> NAMELIST_noclobber
echo "! new" > NAMELIST_new
echo "! forced" >| NAMELIST_new
set +C
echo "! again" > NAMELIST_again
