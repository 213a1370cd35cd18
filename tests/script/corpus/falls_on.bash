#!/bin/bash
# ;;& goes on testing; nocasematch; patterns from variables.
pattern='R2B*'
for grid in R2B4 R3B7 r2b4; do
  tags=
  case $grid in
    $pattern) tags+=" second" ;;&
    R*)       tags+=" upper" ;;&
    *4)       tags+=" four" ;;
    *)        tags+=" rest" ;;
  esac
  echo "! $grid:$tags" >> NAMELIST_tags
done
shopt -s nocasematch
[[ R2B4 == r2b4 ]] && same=.true. || same=.false.
case AES in aes) matched=.true. ;; *) matched=.false. ;; esac
shopt -u nocasematch
[[ R2B4 == r2b4 ]] && again=.true. || again=.false.
echo "&run_nml ltest = $same, $matched, $again /" >> NAMELIST_tags
