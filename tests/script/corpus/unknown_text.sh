#!/bin/bash
# Unknown text goes through functions, operators, loops and conditions.
# env: EXP=alpha
# env: EXP=beta_R2B6_x
# env: EXP=
name=${EXP}_run
upper=$(echo "$name" | tr a-z A-Z)
short=${name%_run}
length=${#name}
count=$(( length + 1 ))
label() { echo "<$1>"; }
case $name in
  *R2B6*) dtime=180 ;;
  alpha*) dtime=360 ;;
  *)      dtime=720 ;;
esac
for part in a b; do parts="$parts $part-$short"; done
sub=${name:0:2}
[[ $name == alpha_run ]] && exact=.true.
set -- $EXP end
cat > NAMELIST_unknown << EOF
&run_nml
 name = "$name", "$upper", "$short", $length, $count, "$(label "$name")", $dtime, "$parts", "$sub", ${exact:-.false.}
 last = "${2:-$1}", $#
/
EOF
cat > "NAMELIST_${EXP:-default}" << EOF
! $EXP
EOF
