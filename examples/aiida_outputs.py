"""What a calculation of aiida-icon has to retrieve from a run: `python aiida_outputs.py RUN`."""

import json
import sys

import nmlgen


def outputs(run):
    """The names that ICON will give its files, by what they are."""
    experiment = nmlgen.read_namelists(run)
    found = {"finish_status": experiment.status_files}
    for model in experiment.models:
        if model.restart is not None:
            found[f"{model.name}: checkpoints"] = model.restart.patterns
            found[f"{model.name}: latest checkpoint"] = model.restart.links
        for stream in model.streams:
            found[f"{model.name}: output {stream.number} in {stream.directory}"] = stream.files
    return found


print(json.dumps(outputs(sys.argv[1]), indent=1))
