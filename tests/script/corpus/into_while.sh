#!/bin/bash
# differs: the last command of a pipeline runs in a subshell in bash, and in the script's own shell in ksh
# Does a count made in a loop behind a pipe survive?
count=0
last=none
printf '%s\n' atm oce land | while read component; do
  count=$((count + 1))
  last=$component
done
echo 7 8 | read a b
inside=$(echo x | { read v; echo "<$v>"; })
while read component; do names="$names $component"; done << EOF
atm
oce
EOF
cat > NAMELIST_pipes << EOF
! $count $last ${a:-unset} ${b:-unset} $inside $names
EOF
