#!/bin/bash
# mapfile, read -a, shopt, arrays in loops, +=, here-strings, test -v: bash only.
mapfile -t lines << EOF
atm 1
oce 2
EOF
read -r -a fields <<< "1 2 3"
declare -A dt=([atm]=360 [oce]=1800)
dt[land]=3600
for key in atm oce; do order+=("$key=${dt[$key]}"); done
names=()
for line in "${lines[@]}"; do names+=("${line%% *}"); done
sum=0
for f in "${fields[@]}"; do (( sum += f )); done
[[ -v dt[atm] ]] && known=.true.
[[ -v nowhere ]] || unknown=.true.
text=abc
text+=def
fields[1]+=5
sparse=([2]=two [7]=seven eight)
function first { echo "${FUNCNAME[0]}"; }
cat > NAMELIST_operations << EOF
&run_nml
 lines = ${#lines[@]}, '${lines[1]}', ${fields[2]}, ${order[*]}, ${names[@]}, $sum, $known, $unknown, $text
 sparse = ${!sparse[@]}, ${sparse[8]}, ${fields[*]}, ${sparse[-1]}, ${#dt[@]}, ${names[@]:0:1}
/
EOF
echo "both" &> NAMELIST_all
echo "more" &>> NAMELIST_all
echo "x" |& cat >> NAMELIST_all
