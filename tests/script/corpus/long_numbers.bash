#!/bin/bash
# Integers are 64 bits and wrap around, shifts count modulo 64, dividing rounds to zero.
largest=9223372036854775807
wrapped=$(( largest + 1 ))
shifted=$(( 1 << 62 )) too_far=$(( 1 << 64 )) negative=$(( -8 >> 1 ))
product=$(( 4294967296 * 4294967296 ))
quotient=$(( -7 / 2 )) rest=$(( -7 % 2 ))
cat > NAMELIST_numbers << EOF
&run_nml
 seed = $wrapped, $shifted, $too_far, $negative, $product, $quotient, $rest, $(( -largest - 1 ))
 big  = $(( 0x7fffffffffffffff )), $(( 2**62 )), $(( 3 ** 0 ))
/
EOF
