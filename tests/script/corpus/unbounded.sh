#!/bin/bash
# Loops whose number of turns only the run can tell.
# env: STEPS=3
# env: STEPS=0
# env:
n=0
while [ $n -lt ${STEPS:-2} ]; do
  echo "&output_nml number = $n /" >> NAMELIST_unbounded
  n=$((n + 1))
done
for file in /etc/host*; do found="$found x"; last=$file; done
for word in $WORDS; do words=$word; done
cat > NAMELIST_fixed << EOF
&run_nml n = $n, "$last", "${words:-none}" /
EOF
