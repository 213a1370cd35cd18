#!/bin/bash
# Real numbers by bc and awk.
dt=90
damp=$(echo "scale=2; $dt / 7" | bc)
whole=$(echo "$dt / 7" | bc)
rounded=$(echo "($dt + 0.5) / 1" | bc)
power=$(echo "2^10" | bc -l)
third=$(echo "1 / 3" | bc -l)
compared=$(echo "1.5 > 1.2" | bc)
small=$(bc <<< "scale=4; 1/8")
if [ $(echo "$damp > 10" | bc) -eq 1 ]; then large=.true.; else large=.false.; fi
awked=$(awk "BEGIN { print $dt * 1.5 }")
formatted=$(awk -v dt=$dt 'BEGIN { printf "%.3f", dt / 7 }')
cat > NAMELIST_real << EOF
&nonhydrostatic_nml
 damp_height = $damp, $whole, $rounded, $power, $third, $compared, $small, $large, $awked, $formatted
/
EOF
