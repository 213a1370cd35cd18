#!/bin/ksh
# Substrings with computed offsets, beyond the end, and negative ones with a blank.
stamp=20080901T063000Z
n=4
year=${stamp:0:n}
month=${stamp:$n:2}
day=${stamp:n+2:2}
tail=${stamp: -3}
tail2=${stamp:(-6):4}
beyond=${stamp:99}
nothing=${stamp:2:0}
offset=$(( ${#stamp} - 1 ))
last=${stamp:offset}
default_not_substring=${stamp:-8}
set -- one two three four
args="${@:2:2}"
cat > NAMELIST_substrings << EOF
! $year $month $day $tail $tail2 [$beyond] [$nothing] $last $default_not_substring [$args] ${stamp:9:2}:${stamp:11:2}
EOF
