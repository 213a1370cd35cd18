#!/bin/ksh
# Namelists by echo and printf: blocks, single lines, a group that spans two here-documents.
dtime=300
{
  echo "&run_nml"
  echo " dtime = $dtime"
  printf " %s = %s\n" nsteps 100 num_lev 90
  printf "/\n"
} > NAMELIST_echo
echo "&grid_nml" >> NAMELIST_echo
echo " name = 'x'" >> NAMELIST_echo
echo "/" >>NAMELIST_echo
cat > NAMELIST_span << EOF
&output_nml
 filetype = 4
EOF
if [ $dtime -eq 300 ]; then
  echo " output_interval = 'PT6H'" >> NAMELIST_span
fi
cat >> NAMELIST_span << EOF
 ml_varlist = 'u', 'v'
/
EOF
( echo "! one"; echo "! two" ) >> NAMELIST_span
for v in temp pres; do echo "! $v"; done > NAMELIST_loop
if true; then echo "! in if"; else echo "! in else"; fi >> NAMELIST_loop
printf "&empty_nml\n/\n" > NAMELIST_printf
printf '%s\n' "&a_nml" " x = 1" "/" >> NAMELIST_printf
printf "%5d|%-5d|%05.1f|%e|%s\n" 42 42 3.14159 1234.5 "end" >> NAMELIST_printf
printf "no newline" >> NAMELIST_printf
echo >> NAMELIST_printf
print_all() { echo "! $@"; echo "! $#"; }
print_all a "b c" >> NAMELIST_printf
> NAMELIST_empty
: > NAMELIST_colon
echo "! to stderr" 2>> NAMELIST_errors >&2
