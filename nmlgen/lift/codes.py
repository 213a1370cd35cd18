"""What a text can have wrong, not a spec: the codes, their names and what they mean."""

from __future__ import annotations

from nmlgen.pages import page
from nmlgen.schedulers.codes import PROBLEMS as SCHEDULER_PROBLEMS
from nmlgen.script.problems import PROBLEMS as SCRIPT_PROBLEMS

PROBLEMS = {
    "NML011": (
        "namelist-syntax",
        "The Fortran runtime stops at this text, or reads something else than it seems to say. ICON reads its groups "
        "without looking for errors, so the job ends with the runtime's message, often about another place.",
    ),
    "NML012": (
        "hidden-group",
        "ICON looks for `&group` within the first 256 characters of a line, not behind a `!`, and finds only the first "
        "of that name on a line. A group that it does not find keeps its defaults, and nothing is said.",
    ),
    "NML013": (
        "second-copy",
        "Of several groups of one name ICON reads the first; the others are never looked at. Only output_nml, "
        "master_model_nml and jsb_model_nml are read as often as they stand there.",
    ),
    "NML014": (
        "missing-namelist-file",
        "The namelist file of a model is not there. ICON prints a message, goes on with its defaults, and stops at "
        "what has none: an atmosphere, waves and land at the grid, an ocean at its levels. Only a testbed runs on. Of "
        "a master namelist that lies alone, without other namelists and NetCDF files, it is a warning.",
    ),
    "NML015": (
        "set-twice",
        "A variable is given two different values in one group. The runtime keeps the later one and says nothing.",
    ),
    "MIG001": (
        "declaration-changed",
        "A newer release declares a variable otherwise: as another type, or with another number of elements. ICON "
        "still reads what stands there; whether it means the same is said beside it. `nmlgen migrate` looks for these.",
    ),
    **SCHEDULER_PROBLEMS,
    **SCRIPT_PROBLEMS,
    "MKX001": (
        "mkexp-syntax",
        page(
            "mkexp cannot read its configuration: a section or a key stands there twice, brackets or quotes do not "
            "match, or a line is none of section, key and comment. It stops, and makes no script.",
            "[namelists]\n  [[NAMELIST_atm]]\n    [[[io_nml]]\n      restart_file_type = 5",
            "[namelists]\n  [[NAMELIST_atm]]\n    [[[io_nml]]]\n      restart_file_type = 5",
            "ini",
        ),
    ),
    "MKX002": (
        "hiopy-plan",
        page(
            "The section `hiopy` of a configuration of mkexp says how many workers of hiopy write the output that ICON "
            "offers, and in which chunks. Without a worker nothing is written, or the script ends where it deals the "
            "ranks to them: that is an error. Chunks of less than an hour, or shards of no chunk, have no step in "
            "them, of which Zarr 3.1 makes no array. Of the zoom levels of a HEALPix grid each is made from the next "
            "finer one, so that none may be left out between the coarsest and the finest. Only plain numbers are "
            "looked at (`run/mkexp/defaults/hiopy` of ICON 2025.10).",
            "[namelists]\n[hiopy]\n  nr_of_workers = 0",
            "[namelists]\n[hiopy]\n  nr_of_workers = 4",
            "ini",
        ),
    ),
}
"""Code to name and explanation."""
