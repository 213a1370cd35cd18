#!/bin/ksh
# set -e within a function that is called plainly ends the script.
set -e
prepare() {
  echo "! prepared" > NAMELIST_function
  false
  echo "! never" >> NAMELIST_function
}
prepare
echo "! never either" >> NAMELIST_function
