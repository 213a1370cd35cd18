#!/bin/bash
# Settings from files beside the script: source and the dot, with a function, with arguments, one that is missing.
. ./sourced/settings
source ./sourced/functions
here=sourced
. ./$here/more
[ -f ./sourced/missing ] && . ./sourced/missing
if [ -r ./sourced/settings ]; then found=yes; fi
local_dtime=$(double $dtime)
cat > NAMELIST_sourced << EOF
&run_nml
 dtime = $dtime, $local_dtime
 num_lev = $nlev
 model = "$model"
/
! $more_than $found ${missing_setting:-default}
EOF
