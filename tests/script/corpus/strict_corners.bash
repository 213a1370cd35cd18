#!/bin/bash
# set -e where it does not act as one thinks: conditions, local, command substitution, pipes, pipefail, traps.
set -e
f() { false; echo "! went on" >> NAMELIST_strict; }
f || echo "! never" >> NAMELIST_strict
if f; then echo "! in if" >> NAMELIST_strict; fi
g() { local x=$(false); echo "! local hides" >> NAMELIST_strict; }
g
x=$(false; echo "substitution")
echo "! $x" >> NAMELIST_strict
false | true
echo "! pipe" >> NAMELIST_strict
while false; do :; done
until true; do :; done
[ 1 = 2 ] && echo "! never" >> NAMELIST_strict
! false
(( 1 )) && true
(set +e; false; echo "! subshell" >> NAMELIST_strict)
trap 'echo "! trapped $?" >> NAMELIST_strict' ERR
trap 'echo "! left" >> NAMELIST_strict' EXIT
set -o pipefail
true | true
y=$(echo a; false)
echo "! never" >> NAMELIST_strict
