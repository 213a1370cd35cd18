#!/bin/ksh
# Patterns of ksh: extended ones always, regular ones in patterns, matches, print, and its own loops.
grid=icon_grid_0013_R02B04_G
[[ $grid == icon_@(grid|atm)_* ]] && kind=grid
[[ $grid == *_+([0-9])_* ]] && numbered=.true.
case $grid in *R02B@(04|05)*) coarse=.true. ;; *) coarse=.false. ;; esac
number=${grid##icon_grid_+(0)}
print "! $kind $numbered $coarse ${number%%_*}" > NAMELIST_matched
print -n "! one" >> NAMELIST_matched
print -r ' \n' >> NAMELIST_matched
print -- "-x" >> NAMELIST_matched
value=${ echo shared; side=effect; }
print "! $value $side" >> NAMELIST_matched
x=5
function shout { typeset -u text=$1; print "$text"; }
print "! $(shout quiet) ${x}" >> NAMELIST_matched
for i in 3 1 2; do print $i; done | sort >> NAMELIST_matched
