#!/bin/bash
# exit in a branch: what comes behind is written only if the branch was not taken.
# env:
# env: CHECK=no
# env: CHECK=late
cat > NAMELIST_first << EOF
&run_nml dtime = 300 /
EOF
if [ "$CHECK" = no ]; then
  echo "! stopped" >> NAMELIST_first
  exit 0
fi
check() { [ "$1" = late ] && exit 3; return 0; }
check "$CHECK"
cat > NAMELIST_second << EOF
&grid_nml name = 'x' /
EOF
exit 0
cat > NAMELIST_never << EOF
&never_nml /
EOF
