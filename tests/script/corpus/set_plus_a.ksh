#!/bin/ksh
# set +A leaves what stands behind the given elements, and makes an array of what was none.
set -A levels 90 60 47 31
set +A levels 91
set +A fresh a b
single=x
set +A single y z
set -A short 1 2 3
set -A short 4
set +A short 5 6 7 8
cat > NAMELIST_set << EOF
! ${levels[*]} ${fresh[*]} ${single[*]} ${short[*]} ${#short[*]}
EOF
