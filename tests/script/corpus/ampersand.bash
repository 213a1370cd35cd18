#!/bin/bash
# The ampersand in what is put in place of a pattern, quoted and not.
name=abc
new='<&>'
echo "! ${name/b/[\&]} ${name/b/"&"} ${name//[ac]/x}" > NAMELIST_ampersand
echo "! ${name/b/$new}" > NAMELIST_version
