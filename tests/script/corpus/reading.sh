#!/bin/bash
# while read: from a here-document, a here-string and a file; fields, the rest of a line, IFS.
while read name dtime levels rest; do
  cat >> NAMELIST_reading << EOF
&run_nml ! $name
 dtime = $dtime, num_lev = $levels ! [$rest]
/
EOF
done << TABLE
global 360 90 first of all
nest1 180 60
nest2 90
TABLE
read first second <<< "one two three"
IFS=: read -r h m s <<< "12:34:56"
while IFS='=' read -r key value; do
  echo " $key = $value" >> NAMELIST_reading
done << 'EOF'
lrestart=.true.
path=C:\dir=x
EOF
echo "  padded  line  " > table.txt
read line < table.txt
IFS= read -r whole < table.txt
n=0
while read word; do n=$((n + 1)); done << LIST
a
b

c
LIST
cat >> NAMELIST_reading << EOF
! $first | $second | $h | $m | $s | [$line] | [$whole] | $n | [${word}]
EOF
