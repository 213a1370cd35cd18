#!/bin/ksh
# Directories made and entered; paths with variables.
EXPNAME=nest
basedir=experiments
EXPDIR=$basedir/$EXPNAME
mkdir -p $EXPDIR/output
cat > $EXPDIR/NAMELIST_before << EOF
&run_nml output = "none" /
EOF
cd $EXPDIR
cat > NAMELIST_atm << EOF
&run_nml output = "nml" /
EOF
mkdir outdata && cd outdata
echo "! below" > below.txt
cd ..
echo "! up" > ./up.txt
cd - > /dev/null
( cd ../output; echo "! in a subshell" > inside.txt )
cd ../../..
echo "! home" > home.txt
where=`basename \`pwd\``
here=$(cd $EXPDIR; basename $PWD)
echo "! $here" >> home.txt
