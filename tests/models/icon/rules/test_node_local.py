"""The rules on node-local runs beyond their examples."""

from __future__ import annotations

import re

import pytest
from rules.test_examples import BASE, check

from nmlgen.checking import check_experiment
from nmlgen.spec.spec import load_spec

LARGE = 'grid: {name: R2B10}\njob: {signal: "B:USR1@600"}\n'


def codes(text, tmp_path):
    return [finding.code for finding in check(text, tmp_path).findings if finding.code.startswith("LOC")]


def test_default_signal_is_too_late(tmp_path):
    report = check("node_local: {file_system: beeond}\n", tmp_path)
    assert [(finding.code, finding.line, finding.column) for finding in report.findings] == [("LOC004", 1, 27)]


def test_a_placement_that_icon_refuses_has_no_volume(tmp_path):
    text = 'node_local: {file_system: beeond}\njob: {signal: "B:USR1@30"}\nparallel: {num_io_procs: 300}\n'
    assert codes(text, tmp_path) == ["LOC004"]
    assert "the results are copied" in check(text, tmp_path).findings[0].message


def test_whole_nodes_by_partition(tmp_path):
    job = 'job: {exclusive: false, signal: "B:USR1@600"}\n'
    assert codes(f"node_local: {{file_system: beeond}}\n{job}", tmp_path) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("output: {atm: {file_interval: P10D}}", True),
        ("output: {atm: {file_interval: P1D}}", False),
        ("output: {atm: {file_interval: P10D, filetype: 5}}", True),
        ("output: {atm: {file_interval: P10D, filetype: 2}}", False),  # packed: nobody knows how large
        ("output: {atm: {file_interval: P10D, remap: 1}}", False),  # on a grid of its own
        ("output: {atm: {file_interval: P10D, ml_varlist: [tot_prec, clct]}}", False),
    ],
)
def test_file_size(text, found, tmp_path):
    node_local = "node_local: {file_system: beeond, directory: stripe_1}\n"
    assert ("LOC003" in codes(f"{LARGE}{node_local}{text}\n", tmp_path)) is found


def test_striping_of_an_unknown_width(tmp_path):
    text = "node_local: {file_system: beeond, directory: stripe_default}\noutput: {atm: {file_interval: P10D}}\n"
    assert "LOC003" not in codes(LARGE + text, tmp_path)


FAST = """\
description: nodes with disks
machine:
  scheduler: slurm
  file_system: gpfs
  node_local:
    beeond:
      type: beegfs
      mount: "/mnt/odfs/%j"
      directory: stripe_default
      directories: [stripe_1, stripe_default, stripe_8, stripe_32]
      capacity_per_node: 750G
      bandwidth_per_node: 700M
defaults: {launch: {command: srun}}
"""


@pytest.fixture
def fast(tmp_path):
    """What is found of a node-local run, at a site that says how fast its disks are."""

    def find(text: str):
        (tmp_path / "site.yaml").write_text(FAST)
        (tmp_path / "spec.yaml").write_text(text)
        spec = load_spec(tmp_path / "spec.yaml", [f"extends={BASE}", f"site={tmp_path / 'site.yaml'}"])
        return [one for one in check_experiment(spec.experiment).findings if one.code.startswith("LOC")]

    return find


def seconds(findings) -> int:
    return int(re.search(r"USR1@(\d+)", findings[0].notes[0])[1])


def test_the_time_to_copy_follows_from_volume_and_bandwidth(fast):
    run = "node_local: {file_system: beeond}\ngrid: {name: R2B7}\n"
    (finding,) = found = fast(run)
    assert finding.code == "LOC004"
    needed = seconds(found)
    assert needed > 120
    assert fast(f'{run}job: {{signal: "B:USR1@{needed}"}}\n') == []
    assert [one.code for one in fast(f'{run}job: {{signal: "B:USR1@{needed - 1}"}}\n')] == ["LOC004"]
    assert seconds(fast(f"{run}output: {{atm: {{output_interval: PT30M}}}}\n")) > needed
    assert fast(f"{run}job: {{nodes: 16}}\n") == []  # eight times the bandwidth
    little = "node_local: {file_system: beeond}\noutput: {atm: {ml_varlist: [u]}}\n"
    assert fast(little) == []  # 120 s are enough


def test_finished_files_leave_little_for_the_end(fast):
    run = "node_local: {file_system: beeond, copy_while_running: %s}\ngrid: {name: R2B7}\n%s"
    few = "restart: {checkpointTimeIntval: P10D}\n"
    assert seconds(fast(run % ("false", few))) > 120
    assert fast(run % ("true", few)) == []


@pytest.mark.parametrize(("nodes", "is_full"), [(1, True), (2, True), (64, False)])
def test_the_volume_of_a_job_has_to_fit(nodes, is_full, fast):
    run = f'node_local: {{file_system: beeond}}\ngrid: {{name: R2B9}}\njob: {{nodes: {nodes}, signal: "B:USR1@3600"}}\n'
    found = [one for one in fast(run) if one.code == "LOC006"]
    assert bool(found) is is_full
    for one in found:
        least = int(re.search(r"(\d+) nodes or more", one.notes[0])[1])
        assert [o.code for o in fast(run.replace(f"nodes: {nodes}", f"nodes: {least}")) if o.code == "LOC006"] == []
        assert "LOC006" in [o.code for o in fast(run.replace(f"nodes: {nodes}", f"nodes: {least - 1}"))]


@pytest.mark.parametrize(
    ("directory", "nodes", "wide"),
    [
        ("stripe_1", 2, "stripe_default"),
        ("stripe_default", 2, None),
        ("stripe_default", 20, "stripe_32"),
        ("stripe_32", 20, None),
    ],
)
def test_a_shared_file_wants_the_nodes_of_the_job(directory, nodes, wide, fast):
    run = (
        f'node_local: {{file_system: beeond, directory: {directory}}}\njob: {{nodes: {nodes}, signal: "B:USR1@900"}}\n'
    )
    assert [one for one in fast(run) if one.code == "LOC007"] == []
    found = [one for one in fast(f"{run}parallel: {{pio_type: 2}}\n") if one.code == "LOC007"]
    assert [one.notes[0] for one in found] == ([f"expected: node_local.directory {wide}"] if wide else [])


@pytest.mark.parametrize(
    ("lead", "nodes", "codes"),
    [(300, 2, []), (299, 2, ["LOC004"]), (300, None, []), (299, None, ["LOC004"])],
)
def test_where_nobody_says_a_bandwidth_five_minutes_are_left(lead, nodes, codes, tmp_path):
    job = f'signal: "B:USR1@{lead}", nodes: {"null" if nodes is None else nodes}'
    job += ", ntasks: 4" if nodes is None else ""
    found = check(f"node_local: {{file_system: beeond}}\njob: {{{job}}}\n", tmp_path).findings
    assert [one.code for one in found if one.code in ("LOC004", "LOC006")] == codes


@pytest.mark.parametrize("more", ["", "directory: stripe_7", "directory: stripe_1", "constraint: X"])
def test_of_what_the_site_does_not_say_nothing_is_found(more, tmp_path):
    """Neither directories nor room, but that much is left before the end."""
    text = FAST.replace("      directories: [stripe_1, stripe_default, stripe_8, stripe_32]\n", "")
    (tmp_path / "site.yaml").write_text(text.replace("      capacity_per_node: 750G\n", ""))
    run = f'node_local: {{file_system: beeond, {more}}}\ngrid: {{name: R2B10}}\njob: {{signal: "B:USR1@30000"}}\n'
    (tmp_path / "spec.yaml").write_text(run)
    spec = load_spec(tmp_path / "spec.yaml", [f"extends={BASE}", f"site={tmp_path / 'site.yaml'}"])
    assert [one.code for one in check_experiment(spec.experiment).findings if one.code.startswith("LOC")] == []
