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
echo "$template" | sed -e "s/@dtime@/$dtime/" -e "s/@nsteps@/$((nsteps * 2))/" > NAMELIST_sed
cat <<< "$filled" > NAMELIST_string
sed 's/\./,/;s/=/:/g' << EOF > NAMELIST_body
&run_nml x = 1.5 /
EOF
