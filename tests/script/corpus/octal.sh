#!/bin/bash
# differs: a number that starts with 0 is octal in bash, decimal in ksh
# Months and hours with leading zeros in arithmetic.
hour=010
month=07
next=$(( month + 1 ))
octal=$(( 010 ))
padded=$(printf "%02d" $next)
minutes=$(( hour * 60 ))
safe=$(( 10#$hour * 60 ))
cat > NAMELIST_octal << EOF
&time_nml
 ini_datetime_string = "2008-${padded}-01T${hour}:00:00Z"
/
! $octal $minutes $safe $((0x1F)) $((017)) $(printf %d 011)
EOF
