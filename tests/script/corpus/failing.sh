#!/bin/bash
# Commands that fail where nothing stops the script.
set +e
cd /nowhere/at/all 2> /dev/null && there=yes || there=no
cat /nowhere/at/all > NAMELIST_failing 2> /dev/null
no_such_command_at_all 2> /dev/null
code=$?
ls nothing > /dev/null 2>&1; missing=$?
value=$(cat nothing 2> /dev/null)
test 1 -eq one 2> /dev/null || bad=wrong
echo "&run_nml there = $there, $code, $missing, [$value], $bad /" >> NAMELIST_failing
false > NAMELIST_false
if ! grep -q run_nml NAMELIST_failing; then found=no; else found=yes; fi
if echo R2B4_x | grep -q R2B4; then matched=yes; fi
echo "! $found $matched" >> NAMELIST_failing
exec 2> /dev/null
echo "! required" >> NAMELIST_failing
: ${required:?is not set}
echo "! never" >> NAMELIST_failing
