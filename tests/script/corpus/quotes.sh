#!/bin/ksh
# Quotes within quotes within substitutions.
a="x"
one="$(echo "in $(echo "deep $a") out")"
two="`echo "back \"$a\""`"
three='single $a `echo no` \n'
four=mixed"$a"'$a'\$a\"
five="escaped \$a \`a\` \\ \" \n '"
six="${a:-"not used"}"
seven="${none:-'kept'}"
eight=${none:-'gone'}
nine="a
b"
ten=$'tab\there\x41'
eleven=$(echo 'it'\''s')
twelve="$(printf '%s' '$a')"
cat > NAMELIST_quotes << EOF
! $one
! $two
! $three
! $four
! $five
! $six $seven $eight
! $nine
! $ten $eleven $twelve
! "$a" '$a' \$a \\ \` "${a}" '$(echo "$a")' "`echo '$a'`" \n \" '
! ${none:-"in quotes"} ${none:-'single'} ${none:-a b}
EOF
