#!/bin/ksh
# Arithmetic of ksh knows real numbers and functions.
dt=90.5
typeset -F2 half=$(( dt / 2 ))
(( whole = 7 / 2 ))
(( real = 7 / 2. ))
rounded=$(( int(3.7) ))
power=$(( pow(2, 0.5) > 1.4 ))
sum=$(( 0.25 + 0.5 ))
cat > NAMELIST_floats << EOF
&run_nml
 dtime = $half
 values = $whole, $real, $rounded, $power, $sum
/
EOF
