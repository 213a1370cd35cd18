#!/bin/bash
# A template in a variable, filled in by substitution of strings.
template="&run_nml
 dtime = @dtime@
 nsteps = @nsteps@
/"
dtime=300
nsteps=10
filled=${template//@dtime@/$dtime}
filled=${filled/@nsteps@/$nsteps}
echo "$filled" > NAMELIST_template
echo $filled > NAMELIST_oneline
cat <<< "$filled" > NAMELIST_string
