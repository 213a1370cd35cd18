#!/bin/bash
# Continued lines, comments, semicolons, blank lines, functions on one line.
dtime=\
300 ; nlev=90 # a comment
long="one \
two"
single='one \
two'
list="a b" ; if [ $nlev -eq 90 ] ; then x=1 ; else x=2 ; fi
f() { y=1; }; f
for i in 1 \
         2 \
         3
do
  z=$z$i
done
true && \
  w=1
true |
  cat
case $nlev
in
  90)
    v=ninety
    ;;
esac
path=a#b
echo "! $dtime $long $single $x $y $z $w $v $path a#b" > NAMELIST_lines #comment
