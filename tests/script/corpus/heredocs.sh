#!/bin/ksh
# Here-documents: operators, quoted delimiters, tabs, several on a line, in a loop, a branch and a function.
dtime=300
cat > NAMELIST_a <<EOF
&run_nml dtime = $dtime /
EOF
cat << 'EOF' > NAMELIST_b
&run_nml dtime = $dtime ! `not` ${expanded} \$ \\
/
EOF
> NAMELIST_c cat << "EOF"
! $dtime
EOF
cat > NAMELIST_d <<-EOF
	&run_nml
		dtime = $dtime
	  /
	EOF
cat <<-\END >> NAMELIST_d
	! $dtime
	END
cat << ONE > NAMELIST_e; cat << TWO >> NAMELIST_e
! first $dtime
ONE
! second $dtime
TWO
cat << A - << B > NAMELIST_f
never read
A
! the last one wins
B
for dom in 1 2; do
cat >> NAMELIST_g << EOF

&grid_nml dom = $dom /

EOF
done
if [ $dtime -gt 100 ]; then
  cat > NAMELIST_h << EOF_H
&run_nml
 ltest = .true.
/
EOF_H
else
  cat > NAMELIST_h << EOF_H
&run_nml ltest = .false. /
EOF_H
fi
write() {
  cat << EOF
! in a function $1 $dtime
EOF
}
write x > NAMELIST_i
write y >> NAMELIST_i
dtime=600
write z >> NAMELIST_i
tee NAMELIST_j > /dev/null << EOF
! by tee
EOF
tee -a NAMELIST_j >/dev/null <<EOF
! appended
EOF
cat << EOF | tee NAMELIST_k > NAMELIST_l
! through a pipe $dtime
EOF
cat << E"O"F > NAMELIST_m
$dtime
EOF
cat > NAMELIST_n << EOF
EOF
cat > NAMELIST_o <<EOF && echo "! after" >> NAMELIST_o
! before
EOF
