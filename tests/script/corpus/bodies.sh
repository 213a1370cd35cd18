#!/bin/bash
# What is expanded in a body, and what is not: continued lines, escapes, arithmetic, commands, tildes, stars.
dtime=300
name="a  b"
nothing=
cat > NAMELIST_bodies << EOF
&run_nml
 dtime = $((dtime * 2)) ! \$dtime \`x\` \\n \a \"
 long = 1, 2, \
3, 4
 name = "$name" '$name' $name ~ * {1,2}
 sum = `expr $dtime + 1`, $(( $dtime / 7 )), $(echo "$name")
 steps = $(for i in 1 2 3; do echo -n "$i, "; done) 4
 nested = ${nothing:-${name%% *}}, ${name#* }, ${#name}
 empty = '$nothing${nothing}' $ $. $% a$
/
# not a comment $dtime
$(cat << INNER
 inner = $dtime
INNER
)
 end = ${name/a/x}; ${name:0:1}$name[0] "quoted" 'single' $(echo '$dtime')
EOF
