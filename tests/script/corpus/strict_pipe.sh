#!/bin/bash
# set -o pipefail and -e: the script ends at a pipe of which only the first command fails.
set -eo pipefail
echo "! before" > NAMELIST_pipefail
false | cat
echo "! never" >> NAMELIST_pipefail
