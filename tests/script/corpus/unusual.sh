#!/bin/bash
# differs: ksh has no $[ ]
# Old and odd notations.
name=x
a=$name[0]
b=$[ 1 + 2 ]
c="$name"[1]
d=${name}{1}
e=`echo \`echo twice\``
f="`echo \"$name\"`"
echo "! $a $b $c $d $e $f" > NAMELIST_unusual
