#!/bin/bash
# Codes of return, $? after all kinds of commands, return without a number, pipelines.
fail() { return 4; }
last_status() { false; return; }
implicit() { [ 1 -eq 2 ]; }
fail; a=$?
last_status; b=$?
implicit; c=$?
true | false; d=$?
false | true; e=$?
! fail; f=$?
x=$(exit 7); g=$?
(exit 5); h=$?
if fail; then :; else i=$?; fi
fail || j=$?
[ 1 = 2 ]; k=$?
(( 0 )); l=$?
let "m = 0"; n=$?
for o in 1; do fail; done; p=$?
while false; do :; done; q=$?
if false; then :; fi; r=$?
case x in y) false ;; esac; s=$?
y=1; t=$?
echo "! $a $b $c $d $e $f $g $h $i $j $k $l $m $n $p $q $r $s $t" > NAMELIST_returns
