#!/bin/bash
# local: dynamic scope, declared without a value, in recursion, in subshells.
level=global
show() { echo "$level"; }
outer() { local level=outer; show; }
bare() { local level; echo "[${level-unset}]"; level=x; }
count_down() {
  local n=$1 rest=
  if (( n > 0 )); then rest=$(count_down $(( n - 1 ))); fi
  echo "$n $rest"
}
modify() { local dtime=10; change; echo $dtime; }
change() { dtime=$(( dtime * 2 )); }
dtime=7
{
  echo "! $(outer) $(show) $(bare)"
  bare
  show
  echo "! $(count_down 3)"
  modify
  change
  echo "&run_nml dtime = $dtime /"
} > NAMELIST_local
