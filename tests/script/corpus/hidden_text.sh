#!/bin/bash
# Text of the environment that is evaluated: it may change every variable, function and file, and end the script.
# env:
# env: CODE="dtime=1; nlev=2"
# env: CODE="dtime=$((nlev * 2)); unset nlev"
# env: CODE="exit 1"
# env: CODE="echo more >> NAMELIST_hidden; rm -f nothing"
# env: CODE="f() { echo other; }; echo made > NAMELIST_by_text"
# env: CODE="mv NAMELIST_hidden NAMELIST_moved"
dtime=300 nlev=90
f() { echo original; }
echo "&first_nml dtime = $dtime /" > NAMELIST_hidden
eval "$CODE"
cat >> NAMELIST_hidden << EOF
&run_nml dtime = $dtime, num_lev = $nlev, `f` /
EOF
