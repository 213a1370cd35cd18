#!/bin/bash
# A sourced file whose name only the run knows: it may set whatever the script does not set itself.
# env:
# env: SETTINGS=./sourced/settings
# env: SETTINGS=./sourced/functions
if [ -n "$SETTINGS" ]; then . $SETTINGS; fi
cat > NAMELIST_source << EOF
&run_nml dtime = $dtime, num_lev = $nlev, model = "$model" /
EOF
dtime=60
echo "! $dtime $HOSTNAME" | grep -v nothing | cut -c1-4 >> NAMELIST_source
