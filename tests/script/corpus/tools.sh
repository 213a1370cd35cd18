#!/bin/bash
# The programs' less usual options.
{
  echo "! $(basename /a/b/) $(basename /) $(basename a.nc .nc) $(basename .nc .nc) $(basename -s .nc x.nc)"
  echo "! $(dirname a) $(dirname /a) $(dirname a/b/) $(dirname a//b) $(dirname /) $(dirname /a/b/c)"
  echo "! $(echo a-b | cut -d_ -f1) [$(echo a-b | cut -s -d_ -f1)] $(echo a,b,c,d | cut -d, -f2-3) $(echo abcdef | cut -c 2,4-)"
  echo "! $(seq 5 1) $(seq 3 -1 1) $(seq 1 2 6) $(seq -f '%02g' 1 3) $(seq 0.5 0.5 1.5) $(seq -s : 3)"
  echo "! $(printf '3\n10\n2\n' | sort -n | tail -n 1) $(printf 'b\na\nb\n' | sort -u | wc -l) $(printf '1\n2\n3\n' | tail -n +2)"
  echo "! $(printf 'x=1\ny=2\n' | awk -F= '/^x/ {print $2}') $(echo 'a b c' | awk '{print $NF, NF}')"
  echo "! $(printf 'x=1\ny=2\n' | grep -c =) $(echo R2B06 | grep -o '[0-9]*$') $(printf 'A\na\n' | grep -i a | wc -l) $(printf 'a\nb\n' | head -n -1)"
  echo "! $(expr 1 + 2 \* 3 - 4 / 2) $(expr 7 % 3) $(expr -5 / 2) $(expr abc : 'a\(.*\)') $(expr 3 = 3) $(expr a '<' b) $(expr 010 + 1)"
  echo "! $(echo '10 / 4; 10 % 4; 2 ^ 3' | bc) $(echo '1.10 * 2.0' | bc) $(echo 'scale=2; 2/3*3' | bc) $(echo '.5 + .25' | bc) $(echo '-7/2' | bc)"
  echo "! $(date -u -d 20080901 +%d/%m/%y)"
  echo "! $(echo "a:b" | { IFS=: read x y; echo $y$x; }) $(cat << EOF
text
EOF
)"
} > NAMELIST_tools
