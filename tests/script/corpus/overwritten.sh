#!/bin/ksh
# One file written many times: the last > counts, with what is appended to it; another depends on a condition.
# env:
# env: DOUBLE=1
echo "! lost" > NAMELIST_over
cat > NAMELIST_over << EOF
! kept
EOF
cat >> NAMELIST_over << EOF
! appended
EOF
out=NAMELIST_over
echo "! through a variable" >> $out
echo "! quoted" >> "${out}"
echo "! with a path" >> ./NAMELIST_over
if [ -n "$DOUBLE" ]; then
  echo "! rewritten" > $out
fi
echo "! end" >> $out
