#!/bin/ksh
# All default operators, on unset, empty and set variables.
# env:
# env: nproma=32 restart=
# env: nproma= restart=.true. dt_rad=1800
: ${nproma:=16}
: ${restart=".false."}
levels=47
empty=
io_procs=${io_procs:-2}
prefetch=${prefetch-1}
dt_conv=${dt_conv:-${dt_rad:-720}}
prefix=${empty:-none}
suffix=${empty-none}
order=${levels:+known}
plus=${empty:+known}
plain=${empty+set}
gone=${never_was_set_here+set}
checked=${levels:?no levels}
nested="${empty:-"$levels levels"}"
assigned="${empty:=filled in}"

cat > NAMELIST_defaults << EOF
&parallel_nml
 nproma       = $nproma
 num_io_procs = $io_procs
 num_prefetch_proc = $prefetch
/
&master_nml
 lrestart = $restart
/
&nwp_phy_nml
 dt_conv = $dt_conv
 dt_rad  = ${dt_rad:-"$dt_conv"}
/
! [$prefix] [$suffix] [$order] [$plus] [$plain] [$gone] [$checked]
! [$nested] [$assigned] [$empty] [${undefined_one:-}]
EOF
