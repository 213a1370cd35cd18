#!/bin/ksh
# differs: name=() is an empty compound variable in ksh
# Arrays with unknown and computed subscripts, empty ones, copies, arrays in arithmetic and defaults.
# env:
# env: INDEX=1
# env: INDEX=0 VALUE=x
a=(10 20 30)
b=()
i=2
sum=$(( a[0] + a[i] * a[i-1] ))
(( a[1]++ ))
a[${#a[@]}]=40
c=("${a[@]}" 50)
for x in "${b[@]}"; do never=1; done
none="${b[*]}" n=${#b[@]}
all="${a[*]}"
IFS=,
comma="${a[*]}"
unset IFS
d=(one "two three" four)
for x in "${d[@]}"; do y="$y<$x>"; done
for x in ${d[@]}; do z="$z<$x>"; done
e=${a[5]:-missing}
f=${a[@]:+filled}
for k in "${!d[@]}"; do keys="$keys $k"; done
unset "d[1]"
rest="${d[*]} ${#d[@]} ${!d[*]}"
d=()
emptied=${#d[@]}
g=$(echo ${a[*]} | wc -w)
a[${INDEX:-3}]=${VALUE:-0}
cat > NAMELIST_mixed << EOF
! $sum $all $comma $n [$none] ${c[4]} ${#c[@]} $y $z $e $f $keys $rest $emptied $(( g )) ${never-no}
! ${a[0]} ${a[1]} ${a[2]} ${a[3]} ${a[@]}
EOF
