#!/bin/ksh
# eval: names made of pieces, as in scripts for several domains.
dtime_1=360
dtime_2=180
for dom in 1 2; do
  eval dtime=\$dtime_$dom
  eval "level_$dom=$((dom * 30))"
  cat >> NAMELIST_eval << EOF
&run_nml ! $dom
 dtime = $dtime
/
EOF
done
eval value='"$level_2"'
command="echo hidden"
said=$(eval $command)
list=
eval 'list="$list x"; list="$list y"'
echo "! $level_1 $level_2 $value $said $list" >> NAMELIST_eval
