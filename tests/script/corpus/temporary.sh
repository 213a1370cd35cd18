#!/bin/bash
# differs: variables in front of eval and other special commands stay set in ksh
# Variables in front of a command are for that command only.
x=outer y=
x=inner eval 'y=$x'
export z=1
z=2 : ignored
x2=one x2=${x2}two
read_it() { seen=$x; }
x=given read_it
x=1 w=$x true
cat > NAMELIST_temporary << EOF
! $x $y $z $x2 $seen $w
EOF
