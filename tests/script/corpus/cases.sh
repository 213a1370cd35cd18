#!/bin/bash
# case: alternatives, classes, ranges, quoted patterns, falling through, a default.
shopt -s extglob 2>/dev/null
for physics in nwp AES "held suarez" les-2 "*" 7 ; do
  forcing=none
  case $physics in
    nwp | NWP)   forcing=3 ;;
    [Aa][Ee][Ss]) forcing=2 ;;
    "held "*)    forcing=1 ;;
    les-[0-9])   forcing=4 ;;
    \*)          forcing=star ;;
    [!a-z])      forcing=other ;;
    *)           forcing=0 ;;
  esac
  echo "&run_nml iforcing = $forcing / ! $physics" >> NAMELIST_cases
done
case R2B6 in
  R2B6) a=fine ;&
  R2B7) b=through ;;
  R2B8) c=never ;;
esac
case "$(echo global)" in (global) d=parenthesis ;; esac
case nothing in some) e=1 ;; esac
case a.b in a?b) f=question ;; esac
case abab in +(ab)) g=several ;; esac
case x in @(x|y)) h=one ;; esac
case xyz in !(x*)) i=not ;; *) i=starts ;; esac
cat >> NAMELIST_cases << EOF
! $a $b ${c-} $d ${e-unset} $f $g $h $i
EOF
