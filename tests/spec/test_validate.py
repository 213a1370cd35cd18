"""Every mistake in a document is named: the key, the value, and what was expected."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from rows import rows
from specs import MAPPING, TEXT, changed, refused
from steps import grows_too_fast

from nmlgen import SpecError
from nmlgen.findings import Finding
from nmlgen.resources import schema
from nmlgen.source import Source
from nmlgen.spec.document import from_plain, read_text
from nmlgen.spec.validate import validate

SCHEMAS = ("spec", "site", "registry")


def findings_of(text: str, name: str = "spec"):
    with pytest.raises(SpecError) as caught:
        validate(read_text(Source("f", text)), name)
    return caught.value.findings


# --- Messages --------------------------------------------------------------------------------------------


@rows(
    ("text", "where", "message", "notes"),
    [
        ("jop: {nodes: 1}", "f:1:1", 'there is no key "jop" at the top', ('did you mean "job"?',)),
        ("job: {node: 1}", "f:1:7", 'there is no key "node" in job', ('did you mean "nodes"?',)),
        (
            "job: {ntasks-per-node: 1}",
            "f:1:7",
            'there is no key "ntasks-per-node" in job',
            ('did you mean "ntasks_per_node"?',),
        ),
        ("Name: x", "f:1:1", 'there is no key "Name" at the top', ('did you mean "name"?',)),
        ("grid: {qqqq: 1}", "f:1:8", 'there is no key "qqqq" in grid', ("known are file, name, cells, num_lev",)),
        (
            "lustre: {output: {stripe_cuont: 1}}",
            "f:1:19",
            'there is no key "stripe_cuont" in lustre.output',
            ('did you mean "stripe_count"?',),
        ),
        ("nmlgen: 2", "f:1:9", "nmlgen is the bare number 2", ("expected: 1",)),
        ("nmlgen: '1'", "f:1:9", 'nmlgen is "1"', ("expected: 1",)),
        ("job: 3", "f:1:6", "job is the bare number 3", ("expected: a mapping",)),
        ("job: [1]", "f:1:6", "job is a list", ("expected: a mapping",)),
        ("job: {nodes: two}", "f:1:14", 'job.nodes is "two"', ("expected: an integer",)),
        ("job: {nodes: 2.0}", "f:1:14", "job.nodes is the bare number 2.0", ("expected: an integer",)),
        ("job: {nodes: true}", "f:1:14", "job.nodes is true, a boolean", ("expected: an integer",)),
        ("job: {nodes: 0}", "f:1:14", "job.nodes is 0, less than 1", ("expected: 1 or more",)),
        ("job: {exclusive: 1}", "f:1:18", "job.exclusive is the bare number 1", ("expected: true or false",)),
        ("job: {exclusive: yes}", "f:1:18", 'job.exclusive is "yes"', ("expected: true or false",)),
        (
            "job: {time: 40}",
            "f:1:13",
            "job.time is the bare number 40",
            ('expected: a time limit with its unit clear, such as "00:40:00" or "1-12:00:00", or auto',),
        ),
        (
            "job: {mem: 4096}",
            "f:1:12",
            "job.mem is the bare number 4096",
            ("expected: a size with its unit, such as 4M or 1GiB",),
        ),
        (
            "job: {mem: 4MB}",
            "f:1:12",
            'job.mem is "4MB"',
            ("expected: a size with its unit, such as 4M or 1GiB",),
        ),
        (
            "lustre: {output: {stripe_size: 1048576}}",
            "f:1:32",
            "lustre.output.stripe_size is the bare number 1048576",
            ("expected: a size with its unit, such as 4M or 1GiB, or auto",),
        ),
        (
            "time: {modelTimeStep: 120}",
            "f:1:23",
            "time.modelTimeStep is the bare number 120",
            ("expected: an ISO 8601 duration such as PT12M or P10D",),
        ),
        (
            "time: {start: 2008}",
            "f:1:15",
            "time.start is the bare number 2008",
            ("expected: an ISO 8601 instant such as 2008-09-01T00:00:00Z",),
        ),
        (
            "model: {release: 2024.10}",
            "f:1:18",
            "model.release is the bare number 2024.1",
            ('expected: a release in quotes, such as "2024.10"',),
        ),
        (
            "mpi: {version: 2021.5}",
            "f:1:16",
            "mpi.version is the bare number 2021.5",
            ('expected: a version in quotes, such as "2021.5"',),
        ),
        (
            "mpi: {implementation: intell}",
            "f:1:23",
            'mpi.implementation is "intell"',
            ('did you mean "intel"?', "expected: one of openmpi, intel, mpich, cray-mpich, parastation"),
        ),
        (
            "model: {name: W R F}",
            "f:1:15",
            'model.name is "W R F"',
            ("expected: the name of a model, such as icon, wrf or generic",),
        ),
        (
            "time: {calendar: gregorian}",
            "f:1:18",
            'time.calendar is "gregorian"',
            (
                'did you mean "proleptic gregorian"?',
                "expected: one of proleptic gregorian, 365 day year, 360 day year",
            ),
        ),
        (
            "environment: {A: 1}",
            "f:1:18",
            "environment.A is the bare number 1",
            ("expected: a string; quote numbers and true or false",),
        ),
        ("modules: intel", "f:1:10", 'modules is "intel"', ("expected: a list",)),
        ("modules: [1]", "f:1:11", "modules.0 is the bare number 1", ("expected: text on one line",)),
        ("extends: []", "f:1:10", "extends is an empty list", ("expected: the name of a preset, or a list of names",)),
        (
            "output: {atm: {ml_varlist: []}}",
            "f:1:28",
            "output.atm.ml_varlist is an empty list",
            ("expected: a number, a text on one line, true or false, or a list of these",),
        ),
        (
            "output: {atm: {ml_varlist: [u, null]}}",
            "f:1:32",
            "output.atm.ml_varlist.1 is null",
            ("expected: a number, a text on one line, true or false",),
        ),
        (
            "output: {atm: {ml_varlist: {u: 1}}}",
            "f:1:16",
            "output.atm.ml_varlist is a mapping",
            ("expected: a number, a text on one line, true or false, or a list of these",),
        ),
        (
            'run_directory: "a\\nb"',
            "f:1:16",
            r'run_directory is "a\nb"',
            ("expected: text on one line",),
        ),
        ('name: "wave\\n"', "f:1:7", r'name is "wave\n"', None),
        ("name: ''", "f:1:7", "name is an empty string", None),
        ("name: $(touch x)", "f:1:7", 'name is "$(touch x)"', None),
        ("darshan: full", "f:1:10", 'darshan is "full"', ("expected: true, false or a mapping",)),
    ],
)
def test_messages(text, where, message, notes):
    (finding,) = findings_of(text)
    assert finding.message == message
    assert notes is None or finding.notes == notes
    assert finding.where == where


@rows(
    ("text", "word"),
    [
        ("output: {'a b': {}}", "a b"),
        ("environment: {A-B: x}", "A-B"),
        ("mpi: {hints: {'cb nodes': 1}}", "cb nodes"),
        ("namelists: {1nml: {}}", "1nml"),
        ("ignore: {'RST 001': why}", "RST 001"),
        ("input_files: {a/../b: {source: c}}", "a/../b"),
        ("input_files: {/a/b: {source: c}}", "/a/b"),
        ("input_files: {a//b: {source: c}}", "a//b"),
        ("input_files: {./b: {source: c}}", "./b"),
        ("input_files: {a/: {source: c}}", "a/"),
    ],
)
def test_names_that_cannot_be(text, word):
    (finding,) = findings_of(text)
    assert finding.code == "SPC003"
    assert finding.message == f'"{word}" cannot be a name here'
    assert finding.column in (text.index(word) + 1, text.index(word))
    assert finding.notes


def test_all_mistakes_in_order():
    found = findings_of("jop: 1\njob: {nodes: 0, tiem: x}\nrestart: {num_restart_procs: a}\n")
    assert [finding.line for finding in found] == [1, 2, 2, 3]


def test_null_says_nothing():
    validate(read_text(Source("f", "job: {nodes: null, time: ~}\nlustre:\nextends:\n")), "spec")


def test_site_lists_only_the_keys_that_are_wrong():
    site = 'description: x\nmachine:\n  scheduler: slurm\n  file_system: lustre\n  partitions: {good: {}, "ba d": {}}\n'
    (finding,) = findings_of(site, "site")
    assert finding.message == 'there is no key "ba d" in machine.partitions'


def test_site_says_what_is_missing():
    (finding,) = findings_of("description: x\nmachine: {scheduler: slurm}\n", "site")
    assert finding.message == "'file_system' is a required property in machine"
    assert finding.where == "f:2:1"


def test_spec_points_into_the_file(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(TEXT.replace("nodes: 2", "nodes: two"))
    (finding,) = refused(path)
    assert finding.where == f"{path}:8:31"


# --- The schemas themselves ------------------------------------------------------------------------------


def parts(document: Any) -> Iterator[dict[str, Any]]:
    if isinstance(document, dict):
        yield document
        for value in document.values():
            yield from parts(value)
    elif isinstance(document, list):
        for value in document:
            yield from parts(value)


def test_a_list_of_partitions_has_an_end():
    """Rules look at each of its names."""
    validate(read_text(Source("f", f"job: {{partition: {'a' * 1000}}}")), "spec")
    (finding,) = findings_of(f"job: {{partition: {'a' * 1001}}}")
    assert finding.notes == ("expected: text on one line, of 1000 characters at most",)


@pytest.mark.parametrize("name", SCHEMAS)
def test_schema_is_one(name):
    Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize("name", ["spec", "site"])
def test_schema_makes_no_choices(name):
    """The message for a value that matches none of several schemas would help nobody."""
    for part in parts(schema(name)):
        assert not {"anyOf", "oneOf", "not", "if", "allOf"} & part.keys()


@pytest.mark.parametrize("name", ["spec", "site"])
def test_schema_describes_every_key(name):
    for part in parts(schema(name)):
        for key, value in part.get("properties", {}).items():
            if isinstance(value, dict) and key not in ("properties", "items"):
                assert value.get("description"), key


def test_a_pattern_says_what_is_expected():
    for part in parts(schema("spec")):
        if "pattern" in part and "type" in part:
            assert part.get("expected"), part


# --- Agreement with jsonschema ---------------------------------------------------------------------------

RICH = changed(
    lustre={"output": {"stripe_count": 4, "stripe_size": "4M", "pool": "flash"}},
    mpi={"implementation": "intel", "version": "2021.5", "hints": {"cb_nodes": 4}},
    darshan={"library": "/x.so", "MAX_RECORDS": 1, "DARSHAN_MOD_ENABLE": "DXT_POSIX"},
    node_local={"file_system": "beeond"},
    input_files={"a": {"source": "b", "method": "copy"}},
    namelists={"run_nml": {"dtime": 1.5}},
    ignore={"RST001": "because"},
    environment={"A": "b"},
    launch={"command": "srun", "options": ["-l"]},
    shell={"limits": {"stack": 1}},
    modules=["a"],
    run_directory="run",
)


def paths(mapping: dict[str, Any], before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in mapping.items():
        yield (*before, key)
        if isinstance(value, dict):
            yield from paths(value, (*before, key))


scalars = st.one_of(
    st.booleans(),
    st.integers(-5, 3000),
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer()),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8),
    st.sampled_from(["PT1H", "4M", "2024.10", "R2B5", "srun", "intel", "2008-09-01", "00:10:00", "B:USR1@60", ""]),
)
words = st.sampled_from([*schema("spec")["properties"], "nodes", "stripe_count", "qqq", "a b", "RST001"])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=4,
)


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_we_and_jsonschema_agree(data):
    document = copy.deepcopy(RICH)
    path = data.draw(st.sampled_from(sorted(paths(RICH))))
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    if data.draw(st.booleans()):
        inner[path[-1]] = data.draw(values)
    else:
        inner[data.draw(words)] = data.draw(values)
    expected = Draft202012Validator(schema("spec")).is_valid(document)
    findings: tuple[Finding, ...] = ()
    try:
        validate(from_plain(document), "spec")
    except SpecError as error:
        findings = error.findings
    assert expected is not bool(findings)
    assert {finding.code for finding in findings} <= {"SPC003", "SPC004"}


def test_good_specs_are_valid():
    assert Draft202012Validator(schema("spec")).is_valid(MAPPING)
    assert Draft202012Validator(schema("spec")).is_valid(RICH)
    validate(from_plain(RICH), "spec")


def test_a_list_with_repetitions_is_looked_through_once():
    def work(number: int):
        points = [{"job.nodes": at} for at in range(number)]
        node = from_plain({**MAPPING, "sweep": {"points": points}, "bad": 1})

        def refuse() -> None:
            with pytest.raises(SpecError):
                validate(node, "spec")

        return refuse

    assert not grows_too_fast(work, 200)


@pytest.mark.parametrize(
    ("values", "is_refused"),
    [
        ([1, 1], True),
        ([1, True], False),
        ([{"a": [1]}, {"a": [1]}], True),
        ([{"a": [1]}, {"a": [True]}], False),
        ([1, "1", None, [1], {"a": 1}], False),
        ([1, 1.0], True),
    ],
)
def test_repetitions_beside_another_mistake(values, is_refused):
    document = {**MAPPING, "sweep": {"grid": {"job.nodes": values}}, "bad": 1}
    assert ("list without repetitions" in str(refused(document)) or len(refused(document)) > 1) is is_refused


def test_a_site_has_few_file_systems():
    systems = {f"/f{number}": {"type": "lustre"} for number in range(101)}
    site = {"description": "x", "machine": {"scheduler": "slurm", "file_system": "lustre", "file_systems": systems}}
    with pytest.raises(SpecError) as caught:
        validate(from_plain(site), "site")
    (finding,) = caught.value.findings
    assert finding.message == "machine.file_systems is a mapping of 101 keys"
    assert finding.notes == ("expected: a mapping of 100 keys at most",)
    del systems["/f0"]
    validate(from_plain(site), "site")


def test_a_path_in_the_run_directory_has_an_end():
    assert not refused_or_none({"a" * 4095: {"source": "x"}})
    (finding,) = refused_or_none({"a/" * 2047 + "aa": {"source": "x"}})
    assert finding.notes == ("expected: the path of a file within the run directory, of at most 4095 characters",)


def refused_or_none(files: dict[str, Any]) -> tuple[Finding, ...]:
    try:
        validate(from_plain(changed(input_files=files)), "spec")
    except SpecError as error:
        return error.findings
    return ()
