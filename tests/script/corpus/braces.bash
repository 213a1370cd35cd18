#!/bin/bash
# Brace expansion: ranges with steps and zeros, lists, nested ones, letters; none in quotes or from variables.
n=3
{
  echo "&output_nml"
  echo " ml_varlist = "{u,v,w}","
  echo " p_levels = "{1000..700..-100}
  echo " members = "m{08..11}
  echo " nested = "{a,b{1,2}}x
  echo " letters = "{a..e..2}
  echo " not = {a,b} "'{1..2}'" {1..$n} "{1..$n} {single} {}
  echo /
} > NAMELIST_braces
for file in NAMELIST_{atm,oce}; do echo "&run_nml name = '$file' /" > $file; done
