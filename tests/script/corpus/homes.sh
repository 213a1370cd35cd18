#!/bin/ksh
# Tildes, HOME, PWD and other variables of the shell that a script sets itself.
# env:
# env: HOME=/users/x
# env: HOME=/users/x OLDPWD=/old
here=~/here
HOME=/home/b123456
a=~/work
b=~
c="~/quoted"
d=x~
e=$(echo ~/said)
PATH_LIST=~/bin:~/lib
f=~nobody_of_this_name/x
cat > NAMELIST_homes << EOF
! $a $b $c $d $e $PATH_LIST $f ~/body $here
EOF
PWD=/elsewhere
echo "! $PWD" >> NAMELIST_homes
