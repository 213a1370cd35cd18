#!/bin/bash
# differs: ksh expands aliases in scripts, bash does not
# Aliases.
say() { echo "! function"; }
alias say='echo "! alias"'
say > NAMELIST_alias
alias cat=false
cat >> NAMELIST_alias << EOF
&run_nml /
EOF
