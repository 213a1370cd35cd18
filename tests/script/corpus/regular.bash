#!/bin/bash
# [[ =~ ]] and what it leaves in BASH_REMATCH.
grid=icon_grid_0013_R02B04_G.nc
if [[ $grid =~ R([0-9]+)B([0-9]+) ]]; then
  nroot=${BASH_REMATCH[1]}
  bisections=${BASH_REMATCH[2]}
  whole=${BASH_REMATCH[0]}
fi
pattern='^icon_(grid|atm)_([0-9]{4})'
[[ $grid =~ $pattern ]] && kind=${BASH_REMATCH[1]} && number=${BASH_REMATCH[2]}
[[ 2008-09-01 =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] && date=valid
[[ 2008-9-1 =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] || other=invalid
[[ a.b =~ "a.b" ]] && quoted=literal
[[ axb =~ "a.b" ]] || unquoted=differs
[[ abc =~ B ]] && letters=equal || letters=unequal
count=${#BASH_REMATCH[@]}
cat > NAMELIST_regular << EOF
&grid_nml
 nroot = $((10#$nroot)), bisections = $((10#$bisections)), name = "$whole", "$kind", "$number"
/
! $date $other $quoted $unquoted $letters $count
EOF
