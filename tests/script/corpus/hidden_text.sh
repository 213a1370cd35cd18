#!/bin/bash
# Text of the environment that is evaluated: every variable may have changed afterwards.
# env:
# env: CODE="dtime=1; nlev=2"
# env: CODE="dtime=$((nlev * 2)); unset nlev"
dtime=300 nlev=90
f() { echo original; }
echo "&first_nml dtime = $dtime /" > NAMELIST_hidden
eval "$CODE"
cat >> NAMELIST_hidden << EOF
&run_nml dtime = $dtime, num_lev = $nlev, `f` /
EOF
