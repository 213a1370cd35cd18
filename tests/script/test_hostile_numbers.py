"""Numbers of any length, and digits that are none, wherever a script may have a number."""

from __future__ import annotations

import pytest

import nmlgen

PLACES = """\
ulimit -s @
exit @
return @
for i in 1 2; do break @; done
set -- a b; shift @
set -- a b; export c=${@}
a=(1 2 3); a[@]=5; b=${a[-@]} c=${a[@]}
a=([@]=1 [2]=3); a+=(4)
declare -A a=([@]=1); a+=(4)
a=abc; b=${a:@} c=${a:1:@} d=${a: -@}
b=$((@)); c=$((@*@)); d=$((2**@)); e=$((1<<@)); f=$((16#@)); g=$((0x@)); h=$((0@)); let i=@+1; (( @ > 5 ))
typeset -Z@ a=5; typeset -i@ b=5; typeset -R@ c=5
a=$(seq @); b=$(seq 1 @ 2); c=$(seq -f %0@g 1 3)
a=$(printf %@d 1); b=$(printf %.@f 1); c=$(printf %d @); d=$(printf '\\@')
a=$(echo abc | head -n @); b=$(echo abc | tail -n +@); c=$(echo abc | head -c @); d=$(echo abc | cut -c 1-@)
a=$(echo abc | sed -n @p); b=$(echo abc | sed 's/a/b/@'); c=$(echo abc | sed 's/\\(a\\)/\\@/')
a=$(echo abc | grep -m @ a); b=$(echo abc | tr '\\@' b); c=$(echo a b | awk '{print $@}')
a=$(expr @ + 1); b=$(expr substr abc @ 2); c=$(echo "@ + 1" | bc); d=$(echo "scale=@; 1/3" | bc)
a=$(date -d @ +%Y); b=$(date -d '2008-01-01 +@ days' +%Y); c=$(date -d '@ seconds ago' +%s); d=$(date -d 2008-@-01)
a=$(echo {1..@}) b=$(echo {@..1..@})
if test @ -gt 1; then a=1; fi; if [[ @ -lt 5 ]]; then b=1; fi; if [[ @ < 5 ]]; then c=1; fi
OPTIND=@; getopts ab x
lfs setstripe -c @ -S @M output; lfs setstripe -o 0-@ output; lfs setstripe -E @ -c 1 -E -1 -c 4 output
export OMP_NUM_THREADS=@ OMP_STACKSIZE=@M
times=@; while (( times-- > 0 )); do echo; done; for ((i=0;i<@;i++)); do :; done
srun -n @ ./icon
srun -N @ --ntasks-per-node=@ -c @ ./icon
srun --het-group=@ ./a : --het-group=0 ./icon
srun --distribution=plane=@ --cpu-bind=map_cpu:0-@ --gpus-per-task=@ ./icon
srun -w n[0-@] ./icon
mpirun -np @ -ppn @ --map-by ppr:@:node:PE=@ ./icon
numactl --physcpubind=0-@ ./icon
#SBATCH --nodes=1-@
#SBATCH --array=0-@:@%@
#SBATCH --time=@-@:@:@
#SBATCH --mem=@G
#SBATCH --signal=B:@@@
#SBATCH --nice=@
#SBATCH --ntasks=@
#SBATCH --nodelist=n[0-@]
#SBATCH --gres=gpu:a:@
""".splitlines()
AFTER = """
cat > icon_master.namelist << E
&master_nml
 lrestart = .false.
/
&master_model_nml
 model_type = 1
 model_namelist_filename = 'NAMELIST_a'
/
E
cat > NAMELIST_a << E
&run_nml
 num_lev = $a
/
E
"""


@pytest.mark.parametrize(
    "number", ["9" * 5000, "0" * 5000 + "7", "9" * 20, "\u00b2"], ids=["long", "zeros", "beyond 64 bits", "raised"]
)
def test_a_number_is_read_or_refused(number, tmp_path):
    path = tmp_path / "exp.run"
    for place in PLACES:
        line = place.replace("@", number)
        end = line if place.startswith(("srun", "mpirun")) else "srun -n 4 ./icon"
        directives = "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=4\n"
        path.write_text(f"#!/bin/bash\n{directives}{line}{AFTER}{end}\n")
        found = nmlgen.lint([path], is_isolated=True).findings
        assert not any("mistake in nmlgen" in finding.message for finding in found), place
