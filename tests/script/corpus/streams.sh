#!/bin/bash
# Many output groups from one function, with optional lines.
output_group() {
  local_name=$1
  interval=$2
  shift 2
  vars=
  for v in "$@"; do vars="$vars'$v',"; done
  cat << EOF
&output_nml
 output_filename = "${EXPNAME}_${local_name}"
 output_interval = "$interval"
$( [ "$local_name" = 2d ] && echo " remap = 1" )
 ml_varlist = ${vars%,}
/
EOF
}
EXPNAME=streams
{
  output_group 2d PT1H pr tas "group:precip_vars"
  output_group 3d PT6H u v
  output_group fx P1D
} > NAMELIST_streams
