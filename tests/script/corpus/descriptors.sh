#!/bin/bash
# Files that are opened once and read line by line; output that goes back and forth.
printf 'atm 1\noce 2\nland 3\n' > models.txt
exec 3< models.txt
read -u 3 name number
read -u 3 second rest
exec 3<&-
exec < models.txt
read first
read another
{
  read inner
  echo "! $inner"
} > NAMELIST_descriptors
echo "! [$name] [$number] [$second] [$rest] [$first] [$another]" >> NAMELIST_descriptors
while read a b; do sum=$(( sum + b )); names=$names$a; done < models.txt
echo "! $sum $names" >> NAMELIST_descriptors
f() { echo "! into its own file"; } >> NAMELIST_descriptors
f
f ignored
echo "! $(< models.txt)" >> NAMELIST_descriptors
n=$(wc -l < models.txt)
m=$(cat models.txt | wc -w)
echo "! $(( n )) $(( m ))" >> NAMELIST_descriptors
