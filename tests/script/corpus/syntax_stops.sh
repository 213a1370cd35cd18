#!/bin/bash
# A script that breaks off: what was written before the error is there.
echo "! before" > NAMELIST_before
for i in 1 2; do
  echo "! $i" >> NAMELIST_before
done
if [ 1 = 1 ]; then
  echo "! never" >> NAMELIST_before
fi fi
echo "! never either" >> NAMELIST_before
