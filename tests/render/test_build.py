"""A build depends on the spec and on nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from specs import MAPPING, TEXT, changed, load, unchecked_build

import nmlgen
from nmlgen import BuildError, load_spec
from nmlgen._version import __version__

MANIFEST = "nmlgen-manifest.json"
DIGESTS = """\
import hashlib, json, sys
from nmlgen.render.build import make_build
from nmlgen.spec.spec import load_spec
files = make_build(load_spec(sys.argv[1], sys.argv[2:]), ()).files
print(json.dumps({name: hashlib.sha256(data).hexdigest() for name, data in files.items()}))
"""
RICH = TEXT.replace("generic-slurm", "levante") + (
    "lustre: {output: {stripe_size: 4M, stripe_count: 4}, restart: {stripe_count: 8}}\n"
    "mpi: {hints: {cb_nodes: 4, romio_cb_write: enable}}\n"
    "environment: {Z: a, A: z, M: m}\n"
    "namelists: {run_nml: {z: 1, a: 2}, zz_nml: {x: 1}, aa_nml: {x: 1}}\n"
)


def digests(spec: Path | str, cwd: Path, **environment: str) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", DIGESTS, str(spec)],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_same_bytes_everywhere(tmp_path):
    here, there = tmp_path / "here", tmp_path / "elsewhere" / "deep"
    for directory in (here, there):
        directory.mkdir(parents=True)
        (directory / "spec.yaml").write_text(RICH)
    found = [
        digests("spec.yaml", here, PYTHONHASHSEED="0"),
        digests(there / "spec.yaml", there, PYTHONHASHSEED="1", TZ="Asia/Tokyo", LC_ALL="C", USER="other"),
        digests("../here/spec.yaml", tmp_path / "elsewhere", PYTHONHASHSEED="random", PYTHONUTF8="0"),
    ]
    assert found[0] == found[1] == found[2]
    (here / "spec.yaml").write_text(RICH.replace("nproma: 16", "nproma: 8"))
    assert digests("spec.yaml", here) != found[0]


def test_twice_in_one_process():
    assert unchecked_build(load()).files == unchecked_build(load()).files


def test_names_of_the_files():
    files = unchecked_build(load()).files
    assert sorted(files) == ["NAMELIST_wave", "icon_master.namelist", MANIFEST, "wave.sbatch"]
    files = unchecked_build(load(namelists={"master_model_nml": {"model_namelist_filename": "NAMELIST_atm"}})).files
    assert sorted(files) == ["NAMELIST_atm", "icon_master.namelist", MANIFEST, "wave.sbatch"]


def test_all_files_carry_one_mark():
    files = unchecked_build(load()).files
    mark = json.loads(files[MANIFEST])["build"]
    assert re.fullmatch("[0-9a-f]{12}", mark)
    for name, data in files.items():
        assert mark.encode() in data, name


@pytest.mark.parametrize(
    "change",
    [
        {"parallel": {"nproma": 8}},
        {"job": {"nodes": 3}},
        {"namelists": {"master_nml": {"lrestart_write_last": True}}},
    ],
)
def test_the_mark_follows_the_content(change):
    marks = {json.loads(unchecked_build(load(**c)).files[MANIFEST])["build"] for c in ({}, change)}
    assert len(marks) == 2


def test_no_clock_host_user_or_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yaml").write_text(TEXT)
    year = re.compile(r"\b20(2[4-9]|[3-9]\d)-\d\d-\d\d")
    for name, data in nmlgen.build(tmp_path / "spec.yaml").files.items():
        text = data.decode()
        assert str(tmp_path) not in text, name
        assert str(Path(nmlgen.__file__).parent.parent) not in text, name
        assert socket.gethostname() not in text, name
        assert not year.search(text), name
        assert not re.search(r"(?<![\w.])/home\b", text), name


def test_findings_in_the_manifest_hold_no_directory(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(TEXT + "ignore: {RST002: none}\n")
    build = nmlgen.build(path)
    manifest = json.loads(build.files[MANIFEST])
    assert "SPC009" in [finding["code"] for finding in manifest["findings"]]
    assert str(tmp_path) not in build.files[MANIFEST].decode()


def test_manifest(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(TEXT)
    build = nmlgen.build(path, overrides=["parallel.nproma=8"])
    manifest = json.loads(build.files[MANIFEST])
    assert list(manifest) == [
        "format",
        "nmlgen",
        "build",
        "name",
        "icon_release",
        "inputs",
        "overrides",
        "bytes_of_a_job",
        "files_of_a_job",
        "until",
        "but_for_the_end",
        "can_go_on",
        "findings",
        "outputs",
    ]
    assert (manifest["format"], manifest["nmlgen"], manifest["name"]) == (1, __version__, "wave")
    assert manifest["icon_release"] == "2024.10"
    assert manifest["overrides"] == ["parallel.nproma=8"]
    assert [document["document"] for document in manifest["inputs"]] == [
        "spec",
        "preset icon/jabw",
        "site generic-slurm",
    ]
    assert manifest["inputs"][0]["sha256"] == hashlib.sha256(TEXT.encode()).hexdigest()
    others = {name: data for name, data in build.files.items() if name != MANIFEST}
    assert manifest["outputs"] == {name: hashlib.sha256(data).hexdigest() for name, data in others.items()}


def test_stamp():
    build = nmlgen.build(MAPPING, stamp={"host": "there"})
    assert json.loads(build.files[MANIFEST])["stamp"] == {"host": "there"}
    same = nmlgen.build(MAPPING).files
    assert {n: d for n, d in build.files.items() if n != MANIFEST} == {n: d for n, d in same.items() if n != MANIFEST}


def test_lf_and_utf8_only():
    for data in unchecked_build(load(job={"comment": "Ünïcödé"})).files.values():
        assert b"\r" not in data
        assert data.endswith(b"\n")
        data.decode("utf-8")


def test_errors_stop_a_build():
    bad = changed(restart={"restart_write_mode": "sync", "num_restart_procs": 2})
    with pytest.raises(BuildError) as caught:
        nmlgen.build(bad)
    assert "RST001" in [finding.code for finding in caught.value.findings]
    assert "num_restart_procs" in str(caught.value)


def test_warnings_stop_a_build_when_strict():
    warned = changed(ignore={"RST002": "nothing"})
    assert nmlgen.build(warned).findings
    with pytest.raises(BuildError):
        nmlgen.build(warned, strict=True)


def test_a_loaded_spec_is_as_good():
    assert nmlgen.build(load_spec(MAPPING)).files == nmlgen.build(MAPPING).files
