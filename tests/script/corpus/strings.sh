#!/bin/ksh
# String operators: prefixes, suffixes, substitution, substrings, lengths.
path=/pool/data/ICON/grids/public/mpim/0013/icon_grid_0013_R02B04_G.nc
file=${path##*/}
directory=${path%/*}
root=${path#/}
top=${path%%/data*}
extension=${file##*.}
base=${file%.nc}
stem=${base%%_G*}
info=${base}-grfinfo.nc
resolution=${file#*_R}
resolution=R${resolution%_G.nc}
nroot=${resolution:1:2}
bisections=${resolution#R*B}
first=${path/ICON/icon}
all=${file//_/-}
gone=${file//[0-9]/}
start=${file/#icon/coupled}
end=${file/%.nc/.grb}
none=${file/nothing/something}
tail=${file:10}
length=${#file}
date=20080901T000000Z
iso=${date:0:4}-${date:4:2}-${date:6:2}T${date:9:2}:${date:11:2}:${date:13:2}Z
quotes="'a', 'b'"
stripped=${quotes//\'/}
list=${stripped//,/}
star='*'
literal=${path%"$star"}
replaced=${list// /, }
question=${file/G?nc/X}
cat > NAMELIST_strings << EOF
&grid_nml
 dynamics_grid_filename = '$file'
 directory = '$directory', '$root', '$top', '$extension', '$base', '$stem', '$info'
/
&run_nml
 resolution = "$resolution", ${nroot#0}, ${bisections#0}, '$first', '$all', '$gone', '$start', '$end', '$none'
 parts = '$tail', $length, "$iso", "$stripped", "$list", "$literal", "$replaced", "$question"
 body  = "${file%.nc}_lonlat.nc", "${path%%/grids*}", "${file#icon_}", "${#path}"
/
EOF
