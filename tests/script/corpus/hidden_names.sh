#!/bin/bash
# Assignments to names that are themselves computed.
# env:
# env: NAME=dtime VALUE=17
# env: NAME=nlev LIST="levels=3 dtime=4"
dtime=300 nlev=90 levels=1
for name in a b; do
  export "${name}_x=$name"
  read ${name}_y << EOF
read $name
EOF
done
typeset target=levels
export $target=2
let "$target += 3"
unset_me=dtime2 dtime2=1
unset $unset_me
line="one=1 two=2"
export $line
if [ -n "$NAME" ]; then export $NAME=$VALUE; fi
export $LIST
cat > NAMELIST_hidden << EOF
&run_nml
 dtime = $dtime, $nlev, $levels, $a_x, $b_x, $a_y, $b_y, ${dtime2:-none}, $one, $two
/
EOF
