#!/bin/bash
# removes: first second third sub/fifth linked
# Files that are removed or renamed again; a file in a directory that is moved.
echo "&a_nml /" > first
echo "&b_nml /" > second
echo "&c_nml /" > third
rm first
rm -f second nothing_there
mv third fourth
mkdir sub
echo "&d_nml /" > sub/fifth
mv sub renamed
ln -s fourth linked
cat linked > copied
