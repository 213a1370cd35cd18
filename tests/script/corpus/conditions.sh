#!/bin/ksh
# if, elif and else, with [ ], test and [[ ]] on strings and numbers.
grid=R2B6
nlev=90
restart=.true.
empty=
if [ "$grid" = R2B4 ]; then
  dtime=720
elif [ $grid = R2B6 -a $nlev -gt 60 ]; then
  dtime=180
else
  dtime=100
fi
if test "x$restart" = "x.true."; then lrestart=$restart; else lrestart=.false.; fi
if [[ $grid == R2B[4-6] && ( $nlev -ge 90 || -z $empty ) ]]; then match=yes; fi
if [[ ! -n $empty ]]; then nothing=empty; fi
if [[ $nlev -lt 100 && ! ($nlev -eq 47) ]]; then high=.true.; fi
if [ ! "$empty" ]; then not=not; fi
if [[ a < b ]]; then order=first; fi
if [[ abc > abd ]]; then order=second; fi
if [ "$nlev" -ne 90 ] || [ "$nlev" -le 10 ]; then wrong=1; else wrong=0; fi
if [ -z "$empty" -o -n "$grid" ]; then either=1; fi
if [[ "$grid" != "R2B*" ]]; then quoted_pattern=literal; fi
if [[ $grid == "R2B"* ]]; then half_quoted=pattern; fi
if [ 010 -eq 10 ]; then decimal=yes; else decimal=no; fi
if (( nlev > 60 )); then model=deep; fi
if ! [ $nlev -gt 100 ]; then small=.true.; fi
if true; then always=1; fi
if false; then never=1; fi
if : ; then colon=1; fi
cat > NAMELIST_conditions << EOF
&run_nml
 dtime = $dtime
 all = $lrestart, $match, $nothing, $high, $not, $order, $wrong, $either, $quoted_pattern, $half_quoted, $decimal
 more = $model, $small, $always, ${never:-0}, $colon
/
EOF
