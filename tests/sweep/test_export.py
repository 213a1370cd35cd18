"""Sweeps for workflow tools: what is written; tests/real has the tools themselves."""

from __future__ import annotations

import ast
import re
import subprocess
from xml.etree import ElementTree

import pytest
from ruamel.yaml import YAML
from specs import MAPPING, changed
from tools import require

from nmlgen import InputError, WriteError, expand, export_sweep, write_sweep
from nmlgen.sweep import export

GRID = {"parallel.num_io_procs": [1, 2], "job.nodes": [1, 2]}


def points_of_cylc(directory):
    text = (directory / "flow.cylc").read_text()
    return re.sub(r"[\\\s]", "", re.search(r"point =((?:.*\\\n)*.*)", text)[1]).split(",")


def parameters_of_jube(directory):
    root = ElementTree.parse(directory / "jube.xml").getroot()
    found = {parameter.get("name"): parameter.text for parameter in root.iter("parameter")}
    return {
        name: ast.literal_eval(text.removesuffix("[$number]").replace("$$", "$"))
        for name, text in found.items()
        if name != "number"
    }


@pytest.mark.parametrize(
    ("tool", "files"),
    [
        ("autosubmit", ("autosubmit.yml", "run_point.sh", "start_autosubmit.sh")),
        ("cylc", (".cylcignore", "flow.cylc", "run_point.sh")),
        ("ecflow", ("ecflow/leg1.ecf", "run_point.sh", "start_ecflow.sh", "sweep.def")),
        ("jube", ("jube.xml", "run_point.sh")),
        ("snakemake", ("Snakefile", "run_point.sh")),
    ],
)
def test_what_lies_there(tmp_path, tool, files):
    write_sweep(expand(MAPPING, grid=GRID), tmp_path)
    before = {path.name for path in tmp_path.iterdir()}
    assert tuple(sorted(export_sweep(tmp_path, tool))) == files
    assert {path.name for path in tmp_path.iterdir()} - before == {name.split("/")[0] for name in files}
    assert str(tmp_path.parent) not in "".join((tmp_path / name).read_text() for name in files)


def test_all_tools_in_one_directory(tmp_path):
    write_sweep(expand(MAPPING, grid=GRID), tmp_path)
    for tool in ("autosubmit", "cylc", "ecflow", "jube", "snakemake", "cylc"):
        export_sweep(tmp_path, tool)


def test_clean_under_shellcheck(tmp_path):
    require("shellcheck")
    write_sweep(expand(MAPPING, grid=GRID), tmp_path)
    export_sweep(tmp_path, "autosubmit")
    export_sweep(tmp_path, "ecflow")
    command = ["shellcheck", "-S", "style", *sorted(tmp_path.glob("*.sh"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_only_points_that_were_built(tmp_path):
    grid = {"parallel.num_io_procs": [64, 1]}
    write_sweep(expand(MAPPING, grid=grid, name="io{num_io_procs}"), tmp_path, invalid="skip")
    export_sweep(tmp_path, "cylc")
    export_sweep(tmp_path, "jube")
    assert points_of_cylc(tmp_path) == ["io1"]
    assert parameters_of_jube(tmp_path) == {"point": ["io1"], "parallel_num_io_procs": ["1"]}


def test_names_that_cylc_would_not_take(tmp_path):
    points = [{"name": name} for name in ("12", "r2b4.5-n1", "a+b", "1e5")]
    write_sweep(expand(MAPPING, points=points), tmp_path)
    export_sweep(tmp_path, "cylc")
    assert points_of_cylc(tmp_path) == ["@12", "r2b4@5-n1", "a+b", "1e5"]


def test_names_that_autosubmit_would_not_take(tmp_path):
    """It writes them in capitals, and takes what follows a hyphen for a distance."""
    points = [{"name": name} for name in ("12", "r2b4.5-n1", "a+b", "A.b", "e3")]
    write_sweep(expand(MAPPING, points=points), tmp_path)
    export_sweep(tmp_path, "autosubmit")
    jobs = YAML(typ="safe").load((tmp_path / "autosubmit.yml").read_text())["JOBS"]
    assert list(jobs) == ["P12_LEG1", "R2B4_5_N1_LEG1", "A_B_LEG1", "A_B__LEG1", "E3_LEG1"]
    assert jobs["A_B__LEG1"]["SCRIPT"] == "cd '@HERE@' && bash run_point.sh 'points/A.b' 1\n"


def test_values_that_jube_would_replace(tmp_path):
    points = [{"name": "a", "job.comment": "$HOME, <&\"'>", "job.nodes": 2}, {"name": "b"}]
    write_sweep(expand(MAPPING, points=points), tmp_path)
    export_sweep(tmp_path, "jube")
    assert parameters_of_jube(tmp_path) == {
        "point": ["a", "b"],
        "job_comment": ["$HOME, <&\"'>", ""],
        "job_nodes": ["2", ""],
    }


def test_keys_that_become_one_word(tmp_path):
    points = [{"name": "a", "darshan": False, "environment.A_B": "1", "environment.A": "2"}]
    write_sweep(expand(MAPPING, points=points), tmp_path)
    table = tmp_path / "points.csv"
    table.write_text(table.read_text().replace("environment.A_B", "number").replace("environment.A", "point"))
    export_sweep(tmp_path, "jube")
    assert list(parameters_of_jube(tmp_path)) == ["point", "darshan", "number_", "point_"]


def test_how_many_at_a_time(tmp_path):
    local = {key: value for key, value in changed(site="local").items() if key != "job"}
    local["job"] = {"nodes": 1, "ntasks_per_node": 32}
    for name, spec, expected in (("slurm", MAPPING, 16), ("local", local, 1)):
        write_sweep(expand(spec, grid={"parallel.nproma": [8, 16]}), tmp_path / name)
        export_sweep(tmp_path / name, "jube")
        assert f'procs="{expected}"' in (tmp_path / name / "jube.xml").read_text()


def test_files_that_are_there_already(tmp_path):
    write_sweep(expand(MAPPING, grid=GRID), tmp_path)
    export_sweep(tmp_path, "snakemake")
    export_sweep(tmp_path, "snakemake")
    (tmp_path / "Snakefile").write_text("mine")
    with pytest.raises(WriteError, match="Snakefile: there already"):
        export_sweep(tmp_path, "snakemake")
    assert (tmp_path / "Snakefile").read_text() == "mine"
    export_sweep(tmp_path, "snakemake", force=True)
    assert (tmp_path / "Snakefile").read_text() != "mine"


def test_very_many_legs(tmp_path, monkeypatch):
    write_sweep(expand(MAPPING, grid=GRID), tmp_path)
    for script in tmp_path.glob("shared/*.sbatch"):
        script.write_text(re.sub(r"readonly legs=\d+", "readonly legs=300", script.read_text()))
    rendered = []
    found = export.template
    monkeypatch.setattr(export, "template", lambda name: rendered.append(name) or found(name))
    export_sweep(tmp_path, "ecflow")
    assert len(rendered) == len(set(rendered))
    for leg in (tmp_path / "ecflow").iterdir():
        leg.write_text("mine")
    with pytest.raises(WriteError, match=r"ecflow/leg10.ecf and 290 more: there already"):
        export_sweep(tmp_path, "ecflow")


def test_what_is_no_sweep(tmp_path):
    with pytest.raises(InputError, match=r"nmlgen sweep SPEC -o .* writes a sweep"):
        export_sweep(tmp_path, "jube")
    (tmp_path / "points.csv").mkdir()
    with pytest.raises(InputError, match=r"points\.csv: is a directory"):
        export_sweep(tmp_path, "jube")
    with pytest.raises(InputError, match='no export for "make"'):
        export_sweep(tmp_path, "make")


def test_a_sweep_without_a_point(tmp_path):
    write_sweep(expand(MAPPING, grid={"parallel.num_io_procs": [64]}), tmp_path, invalid="skip")
    with pytest.raises(InputError, match=r"no point of .* was built"):
        export_sweep(tmp_path, "jube")


def test_names_that_ecflow_would_not_take(tmp_path):
    points = [{"name": name} for name in ("12", "a+b", "a-b")]
    write_sweep(expand(MAPPING, points=points), tmp_path)
    export_sweep(tmp_path, "ecflow")
    text = (tmp_path / "sweep.def").read_text()
    assert re.findall(r"family (\S+)\n +edit POINT '(\S+)'", text) == [
        ("12", "points/12"),
        ("a_b", "points/a+b"),
        ("a_b_", "points/a-b"),
    ]
