#!/bin/bash
# typeset -u, -l and -i, readonly and export with values, unset, several assignments on one line.
typeset -u component=atm
typeset -l grid=ICON_R2B4
typeset -i nodes=3+4
nodes=nodes*2
export EXPNAME=cases BASEDIR=/work/bb1234
readonly dtime=300 nlev=90
a=1 b=$a c=${b}2
component=oce
unset a
nodes+=1
text=1
text+=1
cat > NAMELIST_case << EOF
&run_nml
 name    = "${EXPNAME}", "${BASEDIR}/experiments", "$component", "$grid"
 numbers = $nodes, $dtime, $nlev, ${a:-gone}, $b, $c, $text
/
EOF
