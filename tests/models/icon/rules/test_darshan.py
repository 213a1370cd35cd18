"""Darshan's rules beyond their examples."""

from __future__ import annotations

import pytest
from rules.test_examples import BASE, check

from nmlgen.checking import check_experiment
from nmlgen.linting import lint
from nmlgen.models.icon.rules import darshan
from nmlgen.spec.spec import load_spec

MANY_FILES = """
parallel: {num_io_procs: RANKS}
output: {atm: {output_interval: PT10M, file_interval: PT10M, stream_partitions_ml: PARTS}}
"""


def codes(text, tmp_path):
    return [finding.code for finding in check(text, tmp_path).findings if finding.code.startswith("DSH")]


def many_files(io, partitions):
    return MANY_FILES.replace("RANKS", str(io)).replace("PARTS", str(partitions))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (many_files(0, 1) + "darshan: true", True),  # work rank 0 writes them all
        (many_files(1, 1) + "darshan: true", True),
        (many_files(2, 2) + "darshan: true", False),
        (many_files(1, 2) + "darshan: true", True),
        (many_files(1, 1) + "darshan: {MAX_RECORDS: 1441}", False),
        (many_files(1, 1) + "darshan: {MAX_RECORDS: 1440}", True),
        (many_files(1, 1) + "darshan: true\nrestart: {restartTimeIntval: P5D}", False),  # a log for each job
        (many_files(1, 1) + "darshan: false", False),
        (many_files(1, 2_000_000_000) + "darshan: true", False),
    ],
)
def test_records(text, found, tmp_path):
    assert ("DSH006" in codes(text + "\n", tmp_path)) is found


@pytest.mark.parametrize(("most", "found"), [(1, False), (2, True)])
def test_so_many_partitions_are_counted(most, found, tmp_path, monkeypatch):
    monkeypatch.setattr(darshan, "_MOST_PARTITIONS", most)
    assert ("DSH006" in codes(many_files(1, 2) + "darshan: true\n", tmp_path)) is found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("environment: {DARSHAN_LOGFILE: /x}", []),  # without darshan the author looks after it
        ("environment: {DARSHAN_JOBID: '4711'}", ["DSH003"]),
        ("environment: {DXT_ENABLE_IO_TRACE: '1'}", ["DSH007"]),
        ("darshan: {library: /sw/lib/libdarshan.so.0.0.1}", []),
        ("darshan: {library: libdarshan}", ["DSH005"]),
    ],
)
def test_variables(text, expected, tmp_path):
    assert codes(text + "\n", tmp_path) == expected


def test_no_library_at_all(tmp_path):
    site = tmp_path / "site.yaml"
    site.write_text(
        "description: a site\nmachine: {scheduler: slurm, file_system: lustre}\ndefaults: {}\n", encoding="utf-8"
    )
    spec = tmp_path / "spec.yaml"
    spec.write_text("darshan: true\n", encoding="utf-8")
    experiment = load_spec(spec, [f"extends={BASE}", f"site={site}"]).experiment
    findings = check_experiment(experiment).findings
    assert [(finding.code, finding.line, finding.column) for finding in findings] == [("DSH005", 1, 10)]


EXPORTED = """\
#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH --time=00:10:00
EXPORT
cat >NAMELIST_atm <<END
&run_nml
 num_lev = 30
/
END
LAUNCH ./icon
"""


@pytest.mark.parametrize(
    ("export", "launch", "found"),
    [
        ("export LD_PRELOAD=/sw/libdarshan.so", "srun", True),
        ("LD_PRELOAD=/sw/libdarshan.so; export LD_PRELOAD", "srun", True),
        ("export LD_PRELOAD=/sw/libdarshan.so", "unset LD_PRELOAD; srun", False),
        ("", "LD_PRELOAD=/sw/libdarshan.so srun", False),
        ("", "srun env LD_PRELOAD=/sw/libdarshan.so", False),
        ("", "srun --export=ALL,LD_PRELOAD=/sw/libdarshan.so", False),
    ],
)
def test_preload_in_a_script(export, launch, found, tmp_path):
    path = tmp_path / "exp.run"
    path.write_text(EXPORTED.replace("EXPORT", export).replace("LAUNCH", launch), encoding="utf-8")
    assert ("DSH001" in [finding.code for finding in lint([path]).findings]) is found


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        (["DARSHAN_LOGPATH=/logs"], []),
        (["DARSHAN_LOGFILE=/logs/a.darshan"], []),
        (["DARSHAN_LOGFILE=/logs/a.darshan", "DARSHAN_LOGPATH=/logs"], ["DARSHAN_LOGPATH"]),
    ],
)
def test_who_names_the_log_in_a_script_chose_it(variables, found, tmp_path):
    path = tmp_path / "exp.run"
    export = "\n".join(f"export {variable}" for variable in variables)
    launch = "LD_PRELOAD=/sw/libdarshan.so srun"
    path.write_text(EXPORTED.replace("EXPORT", export).replace("LAUNCH", launch), encoding="utf-8")
    findings = [finding for finding in lint([path]).findings if finding.code == "DSH002"]
    assert [finding.message.partition(" ")[0] for finding in findings] == found


def test_no_hints_where_logs_are_lost(tmp_path):
    """Levante: unless the spec says others."""
    for said, expected in (("", ""), (', DARSHAN_LOGHINTS: "cb_nodes=2"', "cb_nodes=2")):
        path = tmp_path / "spec.yaml"
        path.write_text(f"nmlgen: 1\ndarshan: {{library: /sw/libdarshan.so{said}}}\n", encoding="utf-8")
        darshan = load_spec(path, [f"extends={BASE}", "site=levante"]).experiment.darshan
        assert darshan.environment["DARSHAN_LOGHINTS"].value == expected
