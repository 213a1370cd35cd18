#!/bin/bash
# Tests of files the script wrote itself, and of numbers and strings in all spellings.
echo "! x" > written.txt
mkdir -p made
: > empty.txt
[ -e written.txt ] && a=exists
[ -s empty.txt ] || b=empty
[ -d made ] && c=directory
[ -f made ] || d=not_file
[[ -r written.txt && -w written.txt ]] && e=writable
[ ! -e missing.txt ] && f=missing
[ -n "x" ] && g=nonempty
[ x ] && h=word
[ "" ] || i=nothing
[ "(" = "(" ] && j=parenthesis
[ ! x = y ] && k=negated
[ 3 -lt 10 ] && l=number
[[ 3 < 10 ]] || m=string
[[ 3 -lt 10 ]] && n=number
[[ 2+1 -eq 3 ]] && o=expression
[ -L written.txt ] || p=no_link
[ "$undefined" = "" ] && q=unset
[ x"$undefined" != x ] || r=unset
test 1 -eq 1 -a 2 -eq 2 && s=and
[ a != b -o a = b ] && t=or
[ written.txt -nt missing.txt ] && u=newer
[ -z ] && v=one_argument
[[ -o errexit ]] || w=off
[ -t 0 ] && x=terminal || x=none
cat > NAMELIST_tests << EOF
! $a $b $c $d $e $f $g $h $i $j $k $l $m $n $o $p $q $r $s $t $u $v $w
EOF
