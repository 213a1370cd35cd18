#!/bin/bash
# Arguments that vanish because they are unquoted and empty: those behind them move up.
component() {
  cat >> icon_master.namelist << EOF
&master_model_nml
 model_name     = "$1"
 model_type     = $2
 model_min_rank = $3
 model_max_rank = ${4:-65535}
/
EOF
}
type=
name="land model"
component atm 1 0 127
component oce $type 128 255
component oce "$type" 128 255
component $name 5 0
component "$name" 5 0
component "" 1 ""
list="a  b
c"
for word in $list; do echo "! <$word>" >> icon_master.namelist; done
for word in "$list"; do echo "! <$word>" >> icon_master.namelist; done
for word in $type; do echo "! never" >> icon_master.namelist; done
for word in "$type" ''; do echo "! <$word>" >> icon_master.namelist; done
