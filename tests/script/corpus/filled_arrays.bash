#!/bin/bash
# read -a and mapfile -t: separators, empty lines, an end that is missing, what an array held before.
IFS=: read -ra parts <<< "12:34::56:"
read -r -a padded <<< "   one   two  "
read -a nothing <<< ""
old=(a b c d)
read -ra old <<< "x y"
declare -a kept=(1 2 3)
mapfile -t kept < /dev/null
mapfile -t text <<< $'first\n\nthird'
printf 'a\nb' > table.txt
readarray -t open < table.txt
mapfile -t << EOF
$((1 + 1))
EOF
mapfile with_ends <<< "1"
declare -i whole
declare -u upper
read -ra upper <<< "ab cd"
cat > NAMELIST_filled << EOF
! [${parts[*]}] ${#parts[@]} [${parts[2]}] [${padded[*]}] ${#padded[@]} ${#nothing[@]}
! [${old[*]}] ${#kept[@]} ${#text[@]} [${text[1]}] ${text[2]} ${open[1]} ${#open[@]} ${MAPFILE[0]} [${with_ends[0]}] ${upper[*]}
EOF
