#!/bin/ksh
# cond && echo .T. || echo .F. and other chains, as shorthands for Fortran's logicals.
restart=yes
dtime=300
nodes=0
lrestart=$([[ $restart == yes ]] && echo .T. || echo .F.)
lhigh=`[ $dtime -lt 200 ] && echo .TRUE. || echo .FALSE.`
[ "$nodes" -gt 0 ] && io=2
[[ -n $restart ]] && [[ $dtime -gt 100 ]] && { first=1; second=2; }
false || fallback=taken
true || skipped=taken
false && never=taken
[ $dtime -eq 300 ] && false || third=after
! false && negated=yes
(( dtime > 400 )) || (( dtime = 400 ))
(( nodes )) && something=1 || something=0
test -z "" && test ! -z "x" && tested=1
cat > NAMELIST_chains << EOF
&master_nml
 lrestart = $lrestart
/
&run_nml
 lhigh = $lhigh
 ltiming = $( [ $dtime = 400 ] && echo ".true." || echo ".false." )
 list = ${io:-none}, $first, $second, $fallback, ${skipped-no}, ${never-no}, $third, $negated, $dtime, $something, $tested
/
EOF
