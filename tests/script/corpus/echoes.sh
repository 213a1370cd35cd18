#!/bin/bash
# differs: ksh's echo has no -E, and prints it
# Options and backslashes of echo.
echo -n "no newline" > NAMELIST_echo
echo " end" >> NAMELIST_echo
echo -e "a\tb\nc" >> NAMELIST_echo
echo "a\tb" >> NAMELIST_echo
echo -E "raw\n" >> NAMELIST_echo
echo "" >> NAMELIST_echo
echo -x "$(echo -n nothing)" >> NAMELIST_echo
echo a  b   "c  d" >> NAMELIST_echo
