#!/bin/ksh
# shift, break, continue and return at their limits; loops that never turn; nested functions.
f() {
  for i in 1 2 3; do
    for j in 1 2 3; do
      if [ $i$j = 22 ]; then return 5; fi
      log="$log $i$j"
    done
  done
}
f
code=$?
for k in; do never=1; done
for l in $nothing; do never=2; done
outer() { inner() { echo "inner $1"; }; inner "$1$1"; }
text=$(outer x)
also=$(inner y 2>/dev/null || echo unknown)
outer z > /dev/null
now=$(inner y)
for m in a b c; do [ $m = b ] && break; done
n=0
while [ $n -lt 3 ]; do n=$(( n + 1 )); [ $n -eq 2 ] && continue; o="$o$n"; done
for p in 1 2; do p=9; q="$q$p"; done
set -- 1 2 3
for r do shift; s="$s$r$#"; done
until [ $n -eq 0 ]; do n=$(( n - 1 )); done
while read t; do break; done << EOF
first
second
EOF
for u in 1 2 3 4 5; do case $u in 2) continue ;; 4) break ;; esac; v="$v$u"; done
cat > NAMELIST_counted << EOF
! $code $log ${never-none} $text $also $now $m $n $o $q $s $t $u $v
EOF
