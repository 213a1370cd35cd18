#!/bin/ksh
# What happens in ( ) stays there; { } keeps it.
dtime=300
( dtime=600; nlev=90 )
outside=$dtime
{ dtime=450; nlev=60; }
grouped=$dtime
( cd / ; : )
value=$(dtime=1; echo $dtime)
(
  dtime=77
  cat > NAMELIST_subshell << EOF
&run_nml dtime = $dtime /
EOF
)
( exit 3 )
code=$?
export inherited=yes
inner=$(inherited=no; ( echo $inherited ); echo $dtime)
f() ( dtime=5; echo "body in a subshell $dtime" )
text=$(f)
f > said.txt
cat >> NAMELIST_subshell << EOF
! $outside $grouped $nlev $value $dtime $code $inner $text
EOF
