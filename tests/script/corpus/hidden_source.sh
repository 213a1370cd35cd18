#!/bin/bash
# A sourced file whose name only the run knows, and one that only exists sometimes.
# env:
# env: SETTINGS=./sourced/settings
# env: SETTINGS=./sourced/functions
dtime=1 nlev=2 model=none
if [ -n "$SETTINGS" ]; then . $SETTINGS; fi
cat > NAMELIST_source << EOF
&run_nml dtime = $dtime, num_lev = $nlev, model = "$model" /
EOF
dtime=60
echo "! $dtime $HOSTNAME" | grep -v nothing | cut -c1-4 >> NAMELIST_source
