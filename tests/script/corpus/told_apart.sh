#!/bin/bash
# differs: names of names, lists and replacements in here-documents
# What bash and ksh make of a name of a name, of lists in here-documents, of what is not set, of a backslash.
name=value
value=5
text=a.b.c
list[0]=1
list[1]=2
list[2]=3
set -- 3 4
indirect=${!name}
quoted="${text/b/\/}"
prefixed=${nothing/#/x}
suffixed=${nothing/%/x}
begun=${nothing/#a/x}
short=b
last=${short: -2}
old_IFS=$IFS
IFS=_
cat > NAMELIST_a << EOF_A
 ${list[*]} $*
EOF_A
IFS=$old_IFS
cat > NAMELIST_b << EOF_B
 $indirect '$quoted' '${text/b/\/}' '$prefixed' '$suffixed' '$begun' '$last' '${nothing/%/x}'
EOF_B
