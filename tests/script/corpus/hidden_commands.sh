#!/bin/bash
# Commands that are variables, and functions with the names of commands.
# env:
# env: COMMAND=set_it
dtime=300
set_it() { dtime=77; }
run="echo"
$run "! from a variable" > NAMELIST_commands
program="printf %s\n"
$program "! words" >> NAMELIST_commands
action=set_it
basename() { echo "mine $1"; }
said=$(basename /a/b)
unset -f basename
again=$(basename /a/b)
before=$dtime
$COMMAND
between=$dtime
$action
prefix=
$prefix echo "! nothing in front" >> NAMELIST_commands
$empty dtime=no_assignment 2> /dev/null
cat >> NAMELIST_commands << EOF
! $said $again $before $between $dtime
EOF
