#!/bin/bash
# removes: NAMELIST_copy NAMELIST_grep
# Namelists that are edited, copied and moved after they were written.
cat > NAMELIST_edited << EOF
&run_nml
 dtime = 300
 nsteps = @NSTEPS@
/
EOF
sed -i 's/@NSTEPS@/100/' NAMELIST_edited
cp NAMELIST_edited NAMELIST_copy
echo "! more" >> NAMELIST_copy
mv NAMELIST_copy NAMELIST_moved
cp NAMELIST_moved NAMELIST_sed
grep -v nsteps NAMELIST_sed > NAMELIST_grep
cat NAMELIST_grep NAMELIST_sed > NAMELIST_cat
rm -f NAMELIST_grep
mkdir -p experiment
cp NAMELIST_sed experiment/NAMELIST_in
sed -i -e '/dtime/d' -e '$a ! last' experiment/NAMELIST_in
n=$(grep -c nml NAMELIST_cat)
first=$(head -1 NAMELIST_cat)
echo "! $n $first" > NAMELIST_count
