#!/bin/bash
# Braces that make one word of several parts.
v=a
set -- {1..1}$v {x,y}$v
cat > NAMELIST_a << EOF_A
 $1 $2 $3
EOF_A
