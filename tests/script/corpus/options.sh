#!/bin/bash
# An option parser over given arguments, with while, case and shift.
parse() {
  while [ $# -gt 0 ]; do
    case "$1" in
      -n|--nodes) nodes=$2; shift 2 ;;
      --dtime=*)  dtime=${1#*=}; shift ;;
      -v)         verbose=$(( ${verbose:-0} + 1 )); shift ;;
      --)         shift; break ;;
      -*)         unknown="$unknown $1"; shift ;;
      *)          rest="$rest $1"; shift ;;
    esac
  done
  last="$*"
}
parse -n 4 --dtime=300 -v file -v -q -- x y
OPTIND=1
flags=
set -- -a -b value rest
while getopts "ab:" option; do
  case $option in
    a) flags="${flags}a" ;;
    b) flags="${flags}b=$OPTARG" ;;
  esac
done
shift $((OPTIND - 1))
cat > NAMELIST_options << EOF
! $nodes $dtime $verbose [$unknown] [$rest] [$last] $flags [$*]
EOF
