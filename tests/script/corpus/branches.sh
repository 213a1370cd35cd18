#!/bin/bash
# Variables set differently in branches that depend on one another: some combinations never come about.
# env: component=atm
# env: component=oce
# env: component=atm fine=1
# env: component=
if [ "$component" = atm ]; then
  dtime=360 nlev=90 model=1
elif [ "$component" = oce ]; then
  dtime=1800 nlev=64 model=2
else
  dtime=0 nlev=0 model=99
fi
if [ -n "$fine" ]; then dtime=$(( dtime / 2 )); fi
if [ $model -eq 1 ]; then type=atmosphere; else type=other; fi
if [ "$component" = atm ]; then radiation=.true.; fi
cat > NAMELIST_branches << EOF
&run_nml
 dtime   = $dtime
 num_lev = $nlev
 type    = "$type", ${radiation:-.false.}, $model
/
EOF
case $model in
  1) cat >> NAMELIST_branches << EOF
&nwp_phy_nml
 dt_rad = $(( dtime * 2 ))
/
EOF
  ;;
  2) cat >> NAMELIST_branches << EOF
&ocean_dynamics_nml
 n_zlev = $nlev
/
EOF
  ;;
esac
