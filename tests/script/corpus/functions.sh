#!/bin/ksh
# Functions: arguments, return codes, shift, results by echo and by a variable, recursion.
function power {
  typeset base=$1 exponent=$2 result=1
  while (( exponent > 0 )); do
    (( result *= base )); (( exponent -= 1 ))
  done
  echo $result
}
factorial() {
  if [ $1 -le 1 ]; then echo 1; return; fi
  echo $(( $1 * $(factorial $(( $1 - 1 ))) ))
}
is_high() { [ "$1" -ge 90 ]; }
returns() { return $1; }
last() { while [ $# -gt 1 ]; do shift; done; result=$1; }
count() { n=$#; all="$*"; third=$3; }
function list {
  typeset name
  for name; do echo " '$name'"; done
}
write_group() {
  group=$1; shift
  echo "&$group"
  for setting in "$@"; do echo " $setting"; done
  echo "/"
}
is_high 90 && high=.true.
is_high 47 || low=.true.
returns 3; code=$?
returns 0 && zero=.true.
last a b c
count "one two" three
shift_two() { shift 2; rest="$@"; }
shift_two 1 2 3 4
{
  write_group run_nml "dtime = $(power 2 9)" "nsteps = $(factorial 5)"
  write_group grid_nml "names = `echo \`list a b\``"
  echo "! $high $low $code $zero $result $n [$all] [$third] [$rest]"
} > NAMELIST_functions
