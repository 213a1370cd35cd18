#!/bin/bash
# Command substitution with commands that only compute: echo, printf, cut, basename, dirname, wc, head, tail.
path=/pool/data/ICON/grids/icon_grid_0013_R02B04_G.nc
list="u v w temp pres"
file=$(basename $path)
stem=$(basename $path .nc)
folder=`dirname $path`
fourth=$(echo $stem | cut -d_ -f4)
several=$(echo $stem | cut -d _ -f 1,3-)
letters=$(echo $stem | cut -c1-4)
words=$(echo $list | wc -w)
lines=$(printf 'a\nb\nc\n' | wc -l)
first=$(printf 'a\nb\nc\n' | head -n 1)
last=$(printf 'a\nb\nc\n' | tail -1)
numbers=$(seq 3)
joined=$(seq -s, 1 4)
found=$(printf 'dtime=300\nnlev=90\n' | grep nlev)
value=$(printf 'dtime=300\nnlev=90\n' | grep dtime | cut -d= -f2)
awked=$(echo "alpha beta gamma" | awk '{print $2}')
colon=$(echo "12:34:56" | awk -F: '{print $1 * 60 + $2}')
formatted=$(printf "%03d|%5.2f|%-4s|%s|%%|%x" 7 3.14159 ab "x y" 255)
repeated=$(printf "'%s'," $list)
sum=$(echo "3.5 * 2" | bc)
scaled=$(echo "scale=3; 10 / 4" | bc)
nested=$(echo $(basename $(dirname $path)))
from_body=$(cat << TEXT
line one $words
line two
TEXT
)
trailing=$(printf 'x\n\n\n')
sorted=$(printf 'b\na\n' | sort | head -1)
{
  echo "&run_nml"
  echo " a = $file, $stem, $folder, $fourth, $several, $letters"
  echo " b = $words, $lines, $first, $last" $numbers "$joined"
  echo " c = $found, $value, $awked, $colon, [$formatted], ${repeated%,}, $sum, $scaled, $nested, $from_body, [$trailing]"
  echo " d = $sorted, $(true) $(: nothing)"
  echo "/"
} > NAMELIST_commands
