"""Which word of a launcher's is a program."""

from __future__ import annotations

import pytest
from rows import rows
from specs import changed

import nmlgen
from nmlgen.experiment.launch_words import first_program


@rows(
    ("launcher", "words", "number"),
    [
        ("srun", [], None),
        ("srun", ["-l", "--cpu-bind=cores"], None),
        ("srun", ["true"], 0),
        ("srun", ["-"], 0),
        ("srun", ["-l", "true"], 1),
        ("srun", ["-n", "4"], None),
        ("srun", ["-n4", "true"], 1),
        ("srun", ["-ln", "4", "true"], 2),
        ("srun", ["--distribution", "block"], None),
        ("srun", ["--distribution=block", "block"], 1),
        ("srun", ["--distrib", "block"], None),
        ("srun", ["--label", "true"], 1),
        ("srun", ["--uenv", "icon"], None),  # a plug-in's: nobody knows
        ("srun", ["-!", "icon"], None),
        ("srun", ["--multi-prog", "programs.conf"], 1),
        ("srun", ["-l", "--", "--true"], 2),
        ("srun", ["-l", "--"], None),
        ("mpirun", ["--map-by", "core", "-report-bindings"], None),
        ("mpirun", ["--mca", "btl", "self", "true"], 3),
        ("mpirun", ["-l", "true"], 1),
        ("mpirun", ["-ppn", "4", "true"], 2),
        ("mpirun", ["--new", "true"], None),
        ("mpirun", ["--map-by=core", "true"], 1),
    ],
)
def test_the_first_program(launcher, words, number):
    assert first_program(launcher, words) == number


@pytest.mark.parametrize("options", [["true"], ["-l", "true"], ["-n", "4", "$(true)"], ["numactl "]])
def test_a_program_in_the_place_of_the_model_is_refused(options):
    with pytest.raises(nmlgen.SpecError, match="which srun would start in the model's place") as caught:
        nmlgen.load_spec(changed(launch={"options": options}))
    (finding,) = caught.value.findings
    assert (finding.code, "by its path" in finding.notes[0]) == ("SPC004", True)


@pytest.mark.parametrize(
    "options", [["-l"], ["--label", "./wrapper.sh"], ["numactl", "-l"], ["--multi-prog", "all.conf"], ["--odd", "word"]]
)
def test_options_their_values_and_what_starts_others_are_taken(options):
    launch = nmlgen.load_spec(changed(launch={"options": options})).experiment.launch
    assert [option.value for option in launch.options] == options
