#!/bin/ksh
# Defaults within defaults, with operators, substitutions and arithmetic in them.
# env:
# env: grid=R2B9 levels=137
# env: levels=
resolution=${grid:-R2B${bisection:-4}}
nlev=${levels:-$(( 30 * ${factor:-3} ))}
lower=${nlev:-$(echo 47)}
number=${resolution#R2B}
suffix="${resolution:+_${resolution}}"
interval=${interval:-PT$(( number + 2 ))H}
file=${file:="icon_${resolution}${suffix:+-}${nlev}.nc"}
cat > NAMELIST_nested << EOF
&grid_nml name = "$file" /
&run_nml num_lev = $nlev, $lower ! ${interval} ${suffix} ${one:-${two:-${three:-"deep $nlev"}}}
/
EOF
