"""CPU time that the language server takes after a keystroke in a script of 1000 lines.

    python benchmarks/editor.py

Keys are typed at three places of two scripts: one with the namelists of a whole experiment and twelve streams, and one
with eighty streams in a loop, twice as many as anybody has. Each figure is the median, over several keystrokes, of the
time of this process from the new text to its diagnostics, and the least of them. The first look at a script, with the
loading of all that is needed, does not count.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from nmlgen.lsp.documents import Documents
from nmlgen.lsp.judging import judged
from nmlgen.namelist.registry import load_registry, releases

RUNS = 11
GROUPS = (
    *("parallel_nml", "grid_nml", "run_nml", "nonhydrostatic_nml", "nwp_phy_nml", "radiation_nml", "lnd_nml"),
    *("turbdiff_nml", "io_nml", "interpol_nml", "diffusion_nml", "dynamics_nml", "transport_nml", "initicon_nml"),
    *("extpar_nml", "nudging_nml", "gridref_nml", "nh_testcase_nml", "sleve_nml", "sso_nml"),
)
HEAD = """\
#!/bin/bash
#SBATCH --job-name=typed
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=128
#SBATCH --time=02:00:00
set -e
EXPNAME=typed
start=2020-01-01T00:00:00Z
stop=2020-01-11T00:00:00Z
interval=${interval:-PT6H}
basedir=/work/bb1234
nproma=16
mkdir -p run/output && cd run
cat >icon_master.namelist <<EOF
&master_nml
 lrestart = .false.
/
&master_time_control_nml
 experimentStartDate  = '$start'
 experimentStopDate   = '$stop'
 checkpointTimeIntval = 'P5D'
/
&master_model_nml
 model_type              = 1
 model_name              = 'atm'
 model_namelist_filename = 'NAMELIST_$EXPNAME'
/
EOF
"""
STREAM = """\
&output_nml
 filetype        = 4
 dom             = -1
 output_start    = '$start'
 output_end      = '$stop'
 output_interval = '$interval'
 file_interval   = 'P1D'
 output_filename = 'output/{name}'
 ml_varlist      = 'u', 'v', 'temp', 'group:precip_vars'
 remap           = 0
/
"""


def whole_experiment() -> str:
    """Links of input files, a namelist with nearly every variable at its default, twelve streams."""
    registry = load_registry(releases()[-1])
    lines = [HEAD.rstrip("\n")]
    for number in range(64):
        lines += [f"file{number}=$basedir/input_{number}.nc", f'[[ -f $file{number} ]] && ln -sf "$file{number}" .']
    lines.append("cat >NAMELIST_$EXPNAME <<EOF")
    for group in filter(registry.has_group, GROUPS):
        lines.append(f"&{group}")
        for name in registry.variables(group):
            variable = registry.variable(group, name)
            if variable is None or not isinstance(variable.default, (bool, int, float, str)) or "%" in name:
                continue
            value = (
                f".{str(variable.default).lower()}." if isinstance(variable.default, bool) else repr(variable.default)
            )
            lines.append(f" {name:<24} = {'$nproma' if name == 'nproma' else value}   ! what it is good for")
        lines.append("/")
    lines.append("EOF")
    for number in range(12):
        lines += ["cat >>NAMELIST_$EXPNAME <<EOF", STREAM.format(name=f"s{number}").rstrip("\n"), "EOF"]
    return "\n".join([*lines, "srun icon/bin/icon", ""])


def many_streams() -> str:
    """Forty streams written twice, in a loop."""
    streams = "".join(STREAM.format(name=f"${{set}}_{number}") for number in range(80))
    body = "&run_nml\n num_lev = 30\n iforcing = 3\n/\n&grid_nml\n dynamics_grid_filename = 'grid.nc'\n/\n"
    loop = f"for set in a b; do\ncat >>NAMELIST_$EXPNAME <<EOF\n{streams}EOF\ndone\n"
    return f"{HEAD}cat >NAMELIST_$EXPNAME <<EOF\n{body}EOF\n{loop}srun icon/bin/icon\n"


def milliseconds(documents: Documents, uri: str, text: str, place: str) -> tuple[float, float]:
    """The median and the least time of a keystroke at a place of a text."""
    from nmlgen.lsp.diagnostics import diagnostics_of

    at = text.index(place)
    taken, kept = [], None  # the server, too, throws away what it made before only when it has answered
    for number in range(RUNS + 1):
        typed = f"{text[:at]}{number % 10}{text[at:]}"
        before = time.process_time()
        analysis = judged(documents.put(uri, typed, number), documents.files())
        diagnostics_of(analysis, "utf-16")
        taken.append(time.process_time() - before)
        kept = analysis
    del kept
    return 1000 * statistics.median(taken[1:]), 1000 * min(taken[1:])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    print(f"CPython {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory() as directory:
        for title, text in (("a whole experiment", whole_experiment()), ("eighty streams", many_streams())):
            uri = (Path(directory) / "typed.run").as_uri()
            for kind, place in (("in a value", "-1\n"), ("in a comment", "\n"), ("in the shell", "/bb1234")):
                where = place if kind != "in a comment" else "#SBATCH --job-name"
                median, least = milliseconds(Documents(), uri, text, where)
                print(f"{title}, {text.count(chr(10))} lines, {kind:<14} {median:6.0f} ms CPU, at least {least:.0f}")


if __name__ == "__main__":
    main()
