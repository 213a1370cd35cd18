#!/bin/bash
# set -e: the script ends at the first command that fails outside a condition.
set -e
dtime=300
if false; then :; fi
false || dtime=360
! true
false && dtime=1
cat > NAMELIST_strict << EOF
&run_nml dtime = $dtime /
EOF
set +e
false
echo "! survived" >> NAMELIST_strict
set -e
(( dtime - 360 )) || echo "! zero" >> NAMELIST_strict
check() { [ "$1" = x ]; }
if check y; then echo "! no" >> NAMELIST_strict; fi
check x
echo "! before" >> NAMELIST_strict
check y
echo "! never" >> NAMELIST_strict
