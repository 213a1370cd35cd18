#!/bin/bash
# The ampersand in what is put in place of a pattern, quoted and not, and in sed.
name=abc
new='<&>'
echo "! ${name/b/[\&]} ${name/b/"&"} ${name//[ac]/x}" > NAMELIST_ampersand
echo "! $(echo $name | sed 's/b/[&]/') $(echo $name | sed 's/b/[\&]/') $(echo $name | sed 's/\(.\)\(.\)/\2\1/')" >> NAMELIST_ampersand
echo "! ${name/b/$new}" > NAMELIST_version
