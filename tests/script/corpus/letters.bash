#!/bin/bash
# The case of letters, indirection, quoting, substrings: what bash adds.
model=Icon
physics=AES
lower=${model,,}
upper=${model^^}
first=${physics,}
capital=${lower^}
some=${lower^^[co]}
name=model
indirect=${!name}
prefix_names=${!phys*}
last=${model: -2}
middle=${model:1:2}
without_end=${model:0:-1}
from_end=${model:(-3):2}
quoted=${model@Q}
upper_too=${model@U}
declare -u shouted=quiet
declare -l whispered=LOUD
declare -i counted=3+4
counted+=5
declare -r fixed=constant
declare -x exported=yes
printf -v padded '%04d' 42
cat > NAMELIST_letters <<EOF
&run_nml
 model = "${lower}", "${upper}", "$first", "$capital", "$some"
 parts = "$indirect", "$prefix_names", "$last", "$middle", "$without_end", "$from_end"
 other = $quoted, $upper_too, $shouted, $whispered, $counted, $fixed, $exported, $padded, ${#model}
/
EOF
