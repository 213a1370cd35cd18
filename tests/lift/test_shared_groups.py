"""What several ways of a script have in common is worked out once, and stays what it is on each of them."""

from __future__ import annotations

from nmlgen.lift.scripts import lift_script
from nmlgen.namelist.registry import load_registry

SCRIPT = """\
#!/bin/bash
interval=PT6H
cat >NAMELIST_a <<EOF
&run_nml
 num_lev = 30
/
EOF
for stream in a b; do
  cat >>NAMELIST_a <<EOF
&output_nml
 mode = 1
/
EOF
done
if [[ -f flag ]]; then
  cat >>NAMELIST_a <<EOF
&io_nml
 dt_diag = 7
/
EOF
else
  cat >>NAMELIST_a <<EOF
&io_nml
 dt_diag = 8
/
EOF
fi
cat >>NAMELIST_a <<EOF
&output_nml
 output_interval = '$interval'
 mode = 2
/
EOF
srun icon
"""


def test_groups_of_several_ways(tmp_path):
    path = tmp_path / "exp.run"
    path.write_text(SCRIPT)
    ways = lift_script(path, load_registry("2024.10")).ways
    assert len(ways) == 2
    components = [way.experiment.components[0] for way in ways]
    for component in components:
        assert component["run_nml", "num_lev"].span.line == 5
        assert [stream.settings["mode"].value for stream in component.streams] == [1, 1, 2]
        assert [stream.span.line for stream in component.streams] == [10, 10, 29]
        assert len({id(stream) for stream in component.streams}) == 3
        assert component.streams[2].settings["output_interval"].value == ["PT6H"]
    assert sorted(component["io_nml", "dt_diag"].value for component in components) == [7, 8]
