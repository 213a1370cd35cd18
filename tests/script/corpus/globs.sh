#!/bin/ksh
# File names by pattern: what is there decides, and an unmatched pattern stays.
echo "! a" > file_a.nml
echo "! b" > file_b.nml
names=$(echo file_*.nml)
for f in file_*.nml; do n=$((n + 1)); done
unmatched=$(echo nothing_*.xyz)
pattern="*.nml"
quoted=$(echo "$pattern")
cat file_?.nml > all.nml
cat file_[ab].nml >> all.nml
set -f
off=$(echo file_*)
set +f
echo "! $names $n $unmatched $quoted $off" > NAMELIST_globs
