#!/bin/bash
# Which file is written depends on the environment, and so does whether it is cleared or continued.
# env:
# env: KIND=nested
# env: KIND=coupled APPEND=yes
case $KIND in
  nested)  file=NAMELIST_nested; domains="1 2" ;;
  coupled) file=NAMELIST_coupled; domains=1 ;;
  *)       file=NAMELIST_global; domains=1 ;;
esac
echo "! head" > $file
[ "$APPEND" = yes ] || : > $file
for d in $domains; do
  cat >> $file << EOF
&grid_nml dom = $d ! ${KIND:-global}
/
EOF
done
if [ "$KIND" = nested ]; then
  interval=PT1H
else
  interval=P1D
fi
echo "&output_nml output_interval = '$interval' /" >> $file
if [ "$KIND" = nested ]; then mv $file NAMELIST_moved; fi
