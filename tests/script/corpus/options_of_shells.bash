#!/bin/bash
# shopt: nullglob, lastpipe, extglob, aliases; RANDOM and SECONDS that are set.
shopt -s lastpipe nullglob extglob expand_aliases
echo "a b" | read x y
none=$(echo nothing_*.xyz)
name=run007
alias say='echo "! alias"'
say > NAMELIST_options
SECONDS=100
echo "! $x $y [$none] ${name%%+([0-9])} ${name##+([a-z])} ${name/@(run|exp)/r}" >> NAMELIST_options
shopt -u nullglob
echo "! "nothing_*.xyz >> NAMELIST_options
RANDOM=42
[[ $RANDOM == 42 ]] && echo "! same" >> NAMELIST_options
LINENO=7
unset RANDOM
RANDOM=5
echo "! $RANDOM" >> NAMELIST_options
