#!/bin/bash
# Splitting by IFS: blanks, other letters, empty fields, quoted and not.
count() { echo $#; }
list="a b  c"
colons="a:b::c"
two=$(count $list)
one=$(count "$list")
echoed=$(echo $list)
kept=$(echo "$list")
OLDIFS=$IFS
IFS=:
by_colon=$(count $colons)
set -- $colons
second=$2 third=[$3]
for part in $colons; do parts="$parts<$part>"; done
IFS=' :'
mixed=$(count "a : b:c")
set -- ${colons}
n=$#
IFS=
none=$(count $list)
IFS=$OLDIFS
again=$(count $list)
IFS=, read -r x y z <<< "1,2,3,4"
cat > NAMELIST_splitting << EOF
! $two $one [$echoed] [$kept] $by_colon $second $third $parts $mixed $n $none $again $x $y $z
EOF
