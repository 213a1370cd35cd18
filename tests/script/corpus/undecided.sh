#!/bin/bash
# changes: from run to run
# Conditions only the machine can decide: files, the host, random numbers, the time.
# env:
# env: SLURM_JOB_ID=12345
# env: HOME=/tmp
if [ -f /etc/passwd ]; then machine=unix; else machine=none; fi
if [ -d /nowhere/at/all ]; then pool=/nowhere; else pool=/pool; fi
host=$(hostname)
case $host in
  levante*) site=dkrz ;;
  *)        site=local ;;
esac
if (( RANDOM % 2 )); then dice=1; else dice=2; fi
job=${SLURM_JOB_ID:-0}
if [[ $job -ne 0 ]]; then batch=.true.; else batch=.false.; fi
user=`whoami`
value=$(cat /proc/sys/kernel/ostype 2>/dev/null || echo none)
[ -x /usr/bin/no_such_program ] && tool=there || tool=missing
cat > NAMELIST_undecided << EOF
&run_nml
 machine = "$machine", "$pool", "$site", $dice, $batch, "$tool"
 host = "$host", "$user", "$value", "$HOME", "$PWD", $$, $SECONDS
/
EOF
if [ -s /etc/hosts ]; then echo "! hosts" >> NAMELIST_undecided; fi
if [ $dice -eq 1 ]; then
  cat > NAMELIST_one << EOF
! dice $dice
EOF
else
  echo "! dice $dice" > NAMELIST_two
fi
