#!/bin/sh
# Numbers by expr, with backticks and with $( ), as old scripts do.
nodes=10
mpi=64
dt=300
total=`expr $nodes \* $mpi`
io=`expr $total / 100 + 1`
compute=$(expr $total - $io)
rest=`expr $total % 7`
nested=`expr \`expr 1 + 2\` \* 3`
parentheses=`expr \( 1 + 2 \) \* \( 3 + 4 \)`
hours=`expr 86400 / $dt`
name=exp_R02B06_long
digits=`expr "$name" : '.*R\([0-9]*\)B'`
matched=`expr "$name" : 'exp_[A-Z]'`
unmatched=`expr "$name" : 'nothing'`
length=`expr length "$name"`
part=`expr substr "$name" 5 6`
position=`expr index "$name" B`
either=`expr "" \| fallback`
both=`expr 3 \& 4`
compared=`expr $total \> $compute`
words=`expr abc \< abd`
joined=`expr 2*3`
cat > NAMELIST_expr << EOF
&parallel_nml
 num_io_procs = ${io}
/
&run_nml
 nsteps = ${hours}
/
! $total $compute $rest $nested $parentheses $digits $matched $unmatched $length $part $position
! $either $both $compared $words $joined
EOF
