#!/bin/bash
# changes: from run to run
# Dates by date -d from a given day; what depends on now is not known.
start=2008-09-01
stamp=2008-09-01T06:00:00
next=$(date -u -d "$start + 1 day" +%Y-%m-%d)
month=$(date -u -d "$start" +%m)
leap=$(date -u -d "2008-02-28 +1 day" +%Y%m%d)
seconds=$(date -u -d "$start" +%s)
back=$(date -u -d @$seconds +%Y-%m-%dT%H:%M:%SZ)
hours=$(date -u -d "$start 06:00 + 18 hours" +"%Y-%m-%d %H:%M")
year=$(date -u -d "$start" +%Y)
day=$(date -u --date="$start" '+%j %a %b')
later=$(date -u -d "${stamp}Z" +%H)
today=$(date +%Y-%m-%d)
epoch=`date +%s`
cat > icon_master.namelist << EOF
&master_time_control_nml
 experimentStartDate = "${start}T00:00:00Z"
 experimentStopDate  = "${next}T00:00:00Z"
/
! $month $leap $seconds $back [$hours] $year $day $later
! made on $today, second $epoch
EOF
