#!/bin/ksh
# Associative arrays, by name of a domain.
typeset -A dtime levels
dtime[global]=360
dtime[nest]=180
levels=([global]=90 [nest]=60)
domain=nest
key=global
dtime[$key]=400
(( dtime[nest] /= 2 ))
for name in global nest; do
  cat >> NAMELIST_domains << EOF
&run_nml ! $name
 dtime   = ${dtime[$name]}
 num_lev = ${levels[$name]}
/
EOF
done
cat >> NAMELIST_domains << EOF
! ${#dtime[@]} ${dtime[$domain]} ${dtime[missing]:-none}
EOF
