#!/bin/bash
# differs: in ksh, typeset in a function that is defined with () is global
# What a function's variables do to those of the script.
level=global
posix_style() { typeset level=inside; inner; }
function ksh_style { typeset level=hidden; touched=yes; inner; }
inner() { seen=$level; }
posix_style
after_posix=$level
seen_posix=$seen
level=global
ksh_style
after_ksh=$level
seen_ksh=$seen
changes() { level=changed; }
changes
cat > NAMELIST_scopes << EOF
! $after_posix $seen_posix $after_ksh $seen_ksh $touched $level
EOF
