#!/bin/ksh
# Arrays the way of ksh 88: set -A, and set +A which overwrites only the first ones.
set -A levels 90 60 47 31
set -A grids -- iconR2B4 iconR2B5
set +A levels 91 61
integer last=${#levels[*]}-1
typeset -i octets=2
(( octets = octets ** 8 ))
float ratio=2.5
cat > NAMELIST_ksh << EOF
&run_nml
 num_lev = ${levels[0]}, ${levels[1]}, ${levels[2]}, ${levels[last]}
 grids = "${grids[0]}", "${grids[1]}"
 n = $last, $octets, ${ratio}
/
EOF
