#!/bin/bash
# Branches on what the environment says.
# env: MODE=test
# env: MODE=production NODES=64
# env:
# env: MODE=restart RESTART_FROM=old_run
# env: MODE=other NODES=
case ${MODE:-none} in
  test)       dtime=60  interval=PT1H ;;
  production) dtime=300 interval=P1D ;;
  restart)    dtime=300 interval=${RESTART_INTERVAL:-P10D}; lrestart=.true. ;;
  *)          dtime=120 interval=PT6H ;;
esac
if [ "${NODES:-1}" -gt 16 ]; then
  io_procs=8
else
  io_procs=1
fi
[[ -n $RESTART_FROM ]] && from="$RESTART_FROM" || from=nothing
cat > NAMELIST_environment << EOF
&run_nml
 dtime = $dtime
/
&parallel_nml
 num_io_procs = $io_procs
/
EOF
if [[ $MODE == restart ]]; then
  cat >> NAMELIST_environment << EOF
&initicon_nml
 from = "$from"
/
EOF
fi
cat > icon_master.namelist << EOF
&master_nml
 lrestart = ${lrestart:-.false.}
/
&master_time_control_nml
 restartTimeIntval = "$interval"
/
EOF
if [[ $MODE == production ]]; then
  echo "! only in production: $NODES" > NAMELIST_extra
fi
