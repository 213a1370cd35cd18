#!/bin/bash
# set -u: an unset variable ends the script, a default does not.
set -eu
echo "! ${optional:-none}" > NAMELIST_nounset
optional=
echo "! [$optional]" >> NAMELIST_nounset
set -o nounset
set +u
echo "! [$nowhere_set]" >> NAMELIST_nounset
set -u
echo "! [$nowhere_set]" >> NAMELIST_nounset
echo "! never" >> NAMELIST_nounset
