#!/bin/ksh
# set -- and the positional parameters of the script itself.
set -- atm oce "land model" hd
n=$#
first=$1
third=$3
all="$*"
for component in "$@"; do echo "&master_model_nml model_name = '$component' /" >> icon_master.namelist; done
for word in $*; do words="$words<$word>"; done
shift
after=$1
shift 2
left=$#
last=${1}
IFS=,
joined="$*"
set -- a b c
comma="$*"
unset IFS
set -- $(echo 1 2 3 4 5 6 7 8 9 10 11)
tenth=${10} eleventh=${11} wrong=$11
set --
none=$#
cat >> icon_master.namelist << EOF
! $n $first $third [$all] $words $after $left $last [$joined] [$comma] $tenth $eleventh $wrong $none [${1-unset}]
EOF
