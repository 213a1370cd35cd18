#!/bin/bash
# A here-document whose delimiter is mistyped takes the rest of the script for its text.
cat > NAMELIST_first << EOF
&run_nml dtime = 300 /
EOF
dtime=60
cat > NAMELIST_rest << EOF_ATM
&run_nml dtime = $dtime /
EOF
echo "! never a command"
 EOF_ATM
