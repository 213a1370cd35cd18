#!/bin/ksh
# differs: bash expands the redirections of a program in a process of its own, so that what they assign is lost
# Expansions that assign: in bodies, in redirections, in arguments, in conditions; those in subshells are lost.
i=0
cat > NAMELIST_effects << EOF
! $(( i++ )) $(( i++ )) ${first:=one} $first
EOF
echo "! $i" >> NAMELIST_effects
echo "! numbered" > file$(( i += 1 ))
: $(( j = 5 )) ${second:=$j}
: $( third=lost; : $(( i = 100 )) )
a[i]=x
b[$(( i++ ))]=y
if [ $(( i++ )) -gt 3 ]; then k=$i; fi
case $(( i++ )) in 5) l=five ;; esac
for v in $(( i++ )) $(( i++ )); do w="$w $v"; done
[[ $(( i++ )) -eq 8 ]] && n=$i
true || : $(( i = 50 ))
false && : $(( i = 60 ))
q=$(( i == 9 || (i = 70) ))
r=$(( i == 8 && (i = 80) ))
s=$(( i == 9 ? i : (i = 90) ))
( : $(( i = 40 )) )
echo "! $i $j $second ${third-unset} ${a[3]} ${b[3]} $k $l $w $n $q $r $s" >> NAMELIST_effects
