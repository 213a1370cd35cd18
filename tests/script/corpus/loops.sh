#!/bin/ksh
# Loops over lists, ranges and counters; break and continue with counts.
for dom in 1 2 3; do
  list="$list iconR2B$((dom + 3)).nc"
done
for dom in {1..3}; do range="$range$dom,"; done
for step in $(seq 0 6 24); do steps="$steps $step"; done
for member in `seq -w 8 11`; do members="$members $member"; done
i=0
while [ $i -lt 4 ]; do
  i=`expr $i + 1`
  [ $i -eq 2 ] && continue
  counted="$counted $i"
done
until (( i == 0 )); do (( i-- )); down="$down$i"; done
for (( j = 0; j < 10; j += 3 )); do columns="$columns $j"; done
for (( ; ; )); do (( j > 20 )) && break; (( j += 5 )); done
for a in 1 2 3; do
  for b in x y z; do
    [ $b = y ] && continue 2
    [ $a = 3 ] && break 2
    pairs="$pairs $a$b"
  done
done
while true; do
  while :; do break 2; done
  never=1
done
for level in 1000 850 500; do echo " p_level = $level" >> NAMELIST_loops; done
n=0
for word in one "two three" $(echo four five); do (( n += 1 )); done
cat >> NAMELIST_loops << EOF
&grid_nml
 names = '$list'
 ids = $range
/
! $steps | $members | $counted | $down | $columns | $j | $pairs | ${never-unset} | $n | $dom $level $word
EOF
