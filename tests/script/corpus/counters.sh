#!/bin/bash
# Sums and lists over arrays in loops, with nested arithmetic and array subscripts.
nodes=( 8 16 32 )
for (( i = 0; i < ${#nodes[@]}; i++ )); do
  (( total += nodes[i] ))
  procs[i]=$(( nodes[i] * 4 ))
  ranks="$ranks ${procs[$i]}"
done
i=0
while (( i++ < 3 )); do
  odd=$(( i % 2 ))
  if (( odd )); then odds="${odds:+$odds,}$i"; fi
done
maximum=0
for p in "${procs[@]}"; do (( p > maximum )) && maximum=$p; done
min_rank[0]=0
for k in 1 2; do min_rank[$k]=$(( ${min_rank[k-1]} + procs[k-1] )); done
cat > icon_master.namelist << EOF
&master_model_nml
 model_min_rank = ${min_rank[0]}, ${min_rank[1]}, ${min_rank[2]}
/
! $total $ranks $odds $maximum $i
EOF
