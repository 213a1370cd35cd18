"""How many files checkpoints are, and the mode that is obsolete."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules.experiments import BASE, experiment_of, judge

from nmlgen.models.icon.rules import checkpoint_files
from nmlgen.models.icon.rules.checkpoint_files import ManyCheckpointFiles, ObsoleteAsync
from nmlgen.spec.spec import load_spec

FEW = "restart_write_mode: joint procs multifile, checkpointTimeIntval: P1D"
OFTEN = FEW.replace("P1D", "PT10M")


@pytest.mark.parametrize(
    ("restart", "count"),
    [
        ("restart_write_mode: async, num_restart_procs: 1", 1),
        ("restart_write_mode: async, num_restart_procs: 2", 0),  # more than domains
        ("restart_write_mode: async, num_restart_procs: 0", 0),
        ("restart_write_mode: dedicated procs multifile, num_restart_procs: 1", 0),
        ("restart_write_mode: async, num_restart_procs: 1, checkpointTimeIntval: null, restartTimeIntval: null", 0),
    ],
)
def test_async_is_obsolete(restart: str, count: int, tmp_path: Path) -> None:
    assert len(judge(experiment_of(f"restart: {{{restart}}}\n", tmp_path), [ObsoleteAsync])) == count


@pytest.mark.parametrize(
    ("restart", "most", "count"),
    [
        (FEW, 2531, 0),  # ten checkpoints of 253 files
        (FEW, 2530, 1),
        (OFTEN, 2531, 1),
        (f"{FEW}, keep_last: 1", 2530, 1),  # and all of the one job
        (FEW.replace("joint procs multifile", "sync"), 11, 0),
        (FEW.replace("joint procs multifile", "sync"), 10, 1),
        (FEW.replace("P1D", "null") + ", restartTimeIntval: null", 1, 0),
    ],
)
def test_many_files(restart: str, most: int, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_files, "MANY_FILES", most)
    assert len(judge(experiment_of(f"restart: {{{restart}}}\n", tmp_path), [ManyCheckpointFiles])) == count


@pytest.mark.parametrize(
    ("quota", "whose"),
    [
        (2531, None),
        (2530, "lets a project have 2530"),
        (2000, "lets a project have 2000"),
    ],
)
def test_what_a_site_lets_a_project_have(quota: int, whose: str | None, tmp_path: Path) -> None:
    site = BASE.with_name("example-site.yaml").read_text(encoding="utf-8")
    (tmp_path / "has-quota.yaml").write_text(site.replace("machine:\n", f"machine:\n  max_files: {quota}\n"))
    (tmp_path / "spec.yaml").write_text(f"restart: {{{FEW}}}\n")
    spec = load_spec(tmp_path / "spec.yaml", [f"extends={BASE}", f"site={tmp_path / 'has-quota.yaml'}"])
    messages = [finding.message for finding in judge(spec.experiment, [ManyCheckpointFiles])]
    assert len(messages) == (whose is not None)
    assert all(message.endswith(str(whose)) for message in messages)
    assert all(message.startswith("10 checkpoints of 253 files are 2530 files") for message in messages)


@pytest.mark.parametrize(
    ("mode", "advice"), [("joint procs multifile", True), ("dedicated procs multifile, num_restart_procs: 8", False)]
)
def test_fewer_writers_make_fewer_files(
    mode: str, advice: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint_files, "MANY_FILES", 10)
    text = f"restart: {{restart_write_mode: {mode}, checkpointTimeIntval: P1D}}\n"
    (finding,) = judge(experiment_of(text, tmp_path), [ManyCheckpointFiles])
    assert ("dedicated" in finding.notes[-1]) is advice
