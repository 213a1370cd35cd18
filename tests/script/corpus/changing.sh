#!/bin/bash
# A function is defined twice, in branches, and redefines another; unset -f; a command's own variables.
# env:
# env: KIND=b
group() { echo "&first_nml"; }
group > NAMELIST_changing
group() { echo "&second_nml"; }
group >> NAMELIST_changing
if [ "$KIND" = b ]; then
  choose() { echo "&b_nml"; }
else
  choose() { echo "&a_nml"; }
fi
choose >> NAMELIST_changing
define() { made() { echo "&made_nml $1"; }; }
define
made argument >> NAMELIST_changing
x=outer
show() { echo "! $x"; }
x=temporary true
echo "! $x" >> NAMELIST_changing
LC_ALL=C echo "! ok" >> NAMELIST_changing
unset -f group
group 2>/dev/null || echo "! no such function" >> NAMELIST_changing
alias ll='ls -l'
type show > /dev/null && echo "! known" >> NAMELIST_changing
