#!/bin/bash
# The experiment is called what the script is called.
script=$0
EXPNAME=$(basename $0 .sh)
other=${0##*/}
stem=${other%.*}
cat > NAMELIST_$EXPNAME << EOF
&run_nml name = "$EXPNAME", "$stem", "$(basename "$0")" /
EOF
echo "! $# ${1:-none} [$*]" > NAMELIST_arguments
