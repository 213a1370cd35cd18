#!/bin/sh
# What looks like arithmetic and is not: missing blanks in expr, plain assignments, quotes.
n=3
joined=`expr $n+1`
glued=`expr "$n + 1"`
plain=$n+1
dotted=$n.5
string='$n'
product=$n*2
minus=$n-$n
colon=$n:$n
cat > NAMELIST_joined << EOF
&run_nml
 values = $joined, $glued, $plain, $dotted, $string, $product, $minus, $colon, $n$n, ${n}n, $n_undefined, ${n}_x
/
EOF
