#!/bin/bash
# Integer arithmetic: precedence, comparisons, ternary, shifts, bits, bases, comma and assignment operators.
nodes=4
tasks_per_node=128
omp=4
(( mpi_procs = nodes * tasks_per_node / omp ))
(( io_procs = mpi_procs > 64 ? 8 : 2 ))
(( a = 7, b = -7, c = 2 ))
let "d = a % c" "e = b / c"
let f=b%c g=2**10
n=5
(( n += 3 )); (( n -= 1 )); (( n *= 6 )); (( n /= 4 )); (( n %= 7 ))
(( n <<= 4 )); (( n >>= 1 )); (( n |= 1 )); (( n &= 29 )); (( n ^= 6 ))
i=1
j=$(( i++ + ++i ))
k=$(( i-- - --i ))
power=$(( 2**3**2 ))
mixed=$(( 1 + 2 * 3 - 10 / 4 % 3 ))
grouped=$(( (1 + 2) * (3 - 10) / 4 ))
logic=$(( 3 > 2 && 2 >= 2 || 0 ))
bits=$(( 12 & 10 | 1 ^ 6 ))
other=$(( !a + ~c + -b ))
hexadecimal=$(( 0xff + 0X10 ))
based=$(( 2#1011 + 16#ff + 36#z ))
unset unset_one
zero=$(( unset_one + 0 ))
text=a+1
evaluated=$(( text * 2 ))
dtime=$(( 450 / (2 * c) ))
test_equal=$(( a == 7 )) test_unequal=$(( a != 7 )) less=$(( a < b )) lesser=$(( b <= a ))
comma=$(( x = 3, x * x ))
cat > NAMELIST_arithmetic << EOF
&parallel_nml
 num_io_procs = $io_procs  ! of $mpi_procs
/
&run_nml
 dtime  = $dtime
 nsteps = $((86400/dtime))
/
! $d $e $f $g $n $i $j $k $power $mixed $grouped $logic $bits $other $hexadecimal $based $zero
! $evaluated $test_equal $test_unequal $less $lesser $comma $(( nodes * $tasks_per_node ))
! $(( 1 == 1 ? 2 == 3 ? 10 : 20 : 30 )) $(( (a & 1) << 3 )) $(( a > 5 || (b = 100) )) $b
EOF
