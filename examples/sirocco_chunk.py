"""One chunk of a workflow, as Sirocco makes ready: `python sirocco_chunk.py RUN START STOP [RUN_BEFORE]`."""

import sys
from fnmatch import fnmatch
from pathlib import Path

import nmlgen

run, (start, stop), before = Path(sys.argv[1]), sys.argv[2:4], [Path(name) for name in sys.argv[4:]]
master = run / "icon_master.namelist"
text = master.read_text()
for name, value in (("experimentStartDate", start), ("experimentStopDate", stop)):
    text = nmlgen.set_value(text, "master_time_control_nml", name, value)
master.write_text(nmlgen.set_value(text, "master_nml", "lrestart", bool(before)))
for model in nmlgen.read_namelists(run).models:
    for stream in model.streams:
        (run / stream.directory).mkdir(parents=True, exist_ok=True)
    if before and model.restart is not None:
        for link, pattern in zip(model.restart.links, model.restart.patterns, strict=True):
            newest = max(path for path in before[0].iterdir() if fnmatch(path.name, pattern))
            (run / link).symlink_to(newest.resolve())
            print(link, "->", newest.name)
