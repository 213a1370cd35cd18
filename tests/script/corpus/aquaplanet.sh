#!/bin/bash
# A plain run script: literals, copies of variables, one namelist of the master and one of the atmosphere.
EXPNAME=aquaplanet_r2b4
start_date="1979-01-01T00:00:00Z"
end_date='1979-02-01T00:00:00Z'
dtime=360
radiation_step=$dtime
nlev=47
grid=icon_grid_0013_R02B04_G.nc
title="$EXPNAME on "'"'"$grid"'"'

cat > icon_master.namelist << EOF
&master_nml
 lrestart = .false.
/
&master_time_control_nml
 experimentStartDate = "$start_date"
 experimentStopDate  = "${end_date}"
/
EOF

cat > NAMELIST_${EXPNAME}_atm << EOF
! $title
&grid_nml
 dynamics_grid_filename = '${grid}'
/
&run_nml
 num_lev = ${nlev}   ! levels
 dtime   = ${dtime}.
/
&aes_rad_nml
 dt_rad = ${radiation_step}
/
EOF
