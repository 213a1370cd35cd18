"""YAML with positions: what is refused is refused once, clearly and at the right place."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from backtracking import Matcher
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rows import rows
from specs import TEXT, changed, unchecked_build

from nmlgen import InputError, SpecError, load_spec
from nmlgen.findings import Finding
from nmlgen.source import Source
from nmlgen.spec.document import _WRITTEN_TAG, from_plain, read_file, read_text

# --- What is read ----------------------------------------------------------------------------------------


def plain(text: str):
    return read_text(Source("f", text)).plain()


@rows(
    ("written", "value"),
    [
        ("1", 1),
        ("-7", -7),
        ("+7", 7),
        ("007", 7),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("1.0E-3", 0.001),
        ("true", True),
        ("True", True),
        ("FALSE", False),
        ("tRuE", "tRuE"),
        ("yes", "yes"),
        ("on", "on"),
        ("n", "n"),
        ("null", None),
        ("Null", None),
        ("~", None),
        ("", None),
        ("1_000", "1_000"),
        ("00:40:00", "00:40:00"),
        ("190:20:30", "190:20:30"),
        ("2008-09-01", "2008-09-01"),
        ("2008-09-01T00:00:00Z", "2008-09-01T00:00:00Z"),
        ("0b101", "0b101"),
        ("1.2.3", "1.2.3"),
        ("1d0", "1d0"),
        ("=", "="),
        ("'1'", "1"),
        ('"true"', "true"),
        ('""', ""),
        ("!!str 1", "1"),
        ("&anchor !!str 1", "1"),
        ("!<tag:yaml.org,2002:str> 1", "1"),
        (r'"\u00e9\t"', "é\t"),
        ("Ünïcödé 漢字 🌍", "Ünïcödé 漢字 🌍"),
        ("a#b", "a#b"),
        ("a  # comment", "a"),
        ("[1, b, null]", [1, "b", None]),
        ("{b: 1, 2: c}", {"b": 1, "2": "c"}),
    ],
)
def test_scalars_follow_the_core_schema(written, value):
    found = plain(f"a: {written}\n")["a"]
    assert found == value
    assert type(found) is type(value)


def test_yaml_1_1_directive_changes_nothing():
    assert plain("%YAML 1.1\n---\na: yes\nb: 010\n") == {"a": "yes", "b": 10}


def test_numbers_and_null_as_keys_are_words():
    assert plain("1: a\ntrue: b\n~: c\n1.50: d\n") == {"1": "a", "true": "b", "~": "c", "1.50": "d"}


def test_multi_line_strings():
    assert plain("a: |\n  x\n  y\nb: >-\n  x\n  y\nc: 'x\n  y'\n") == {"a": "x\ny\n", "b": "x y", "c": "x y"}


def test_aliases_stand_for_what_they_name():
    assert plain("a: &x {b: 1}\nc: *x\nd: [*x, *x]\n") == {"a": {"b": 1}, "c": {"b": 1}, "d": [{"b": 1}, {"b": 1}]}


def test_line_ends_of_other_systems():
    for end in ("\n", "\r\n", "\r"):
        node = read_text(Source("f", f"a: 1{end}b:{end}  c: x{end}"))
        assert node.plain() == {"a": 1, "b": {"c": "x"}}
        assert str(node.value["b"].value["c"].span) == "f:3:6"
        assert node.span.source.line(3) == "  c: x"


def test_unicode_line_separators_are_no_line_ends():
    node = read_text(Source("f", 'a: "x\u2028y\x0b"\nb: 2\n'.replace("\x0b", "\x85")))
    assert str(node.value["b"].span) == "f:2:4"
    assert node.span.source.line(2) == "b: 2"


def test_byte_order_mark_takes_no_column(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\na: 2\n")
    with pytest.raises(SpecError) as caught:
        read_file(path, "f")
    assert [finding.where for finding in caught.value.findings] == ["f:2:1"]
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert str(read_file(path, "f").node.keys["a"]) == "f:1:1"


def test_every_key_and_value_has_its_position():
    node = read_text(Source("f", "job:\n  nodes: 12\n  output: [a, 'b c']\n"))
    job = node.value["job"]
    assert (str(node.keys["job"]), str(job.keys["nodes"]), str(job.value["nodes"].span)) == ("f:1:1", "f:2:3", "f:2:10")
    assert job.value["nodes"].span.end_column == 12
    assert job.keys["nodes"].end_column == 8
    assert [str(item.span) for item in job.value["output"].value] == ["f:3:12", "f:3:15"]
    assert job.value["output"].value[1].span.end_column == 20


def test_digest_is_that_of_the_bytes(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\n")
    assert read_file(path).sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_pipe_is_read_once():
    reading, writing = os.pipe()
    os.write(writing, TEXT.encode())
    os.close(writing)
    try:
        spec = load_spec(f"/dev/fd/{reading}")
    finally:
        os.close(reading)
    assert spec.experiment.name == "wave"
    assert spec.documents[0].sha256 == hashlib.sha256(TEXT.encode()).hexdigest()


# --- What is refused -------------------------------------------------------------------------------------

BILLION = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 10)}]\n" for old, new in zip("abcde", "bcdef", strict=True)
)

REFUSED = {
    "empty": ("", "SPC001", "1:1", "empty"),
    "only comments": ("# nothing\n\n", "SPC001", "1:1", "empty"),
    "only a marker": ("---\n", "SPC001", "2:1", "a mapping of keys to values is expected"),
    "null": ("null\n", "SPC001", "1:1", "a mapping of keys to values is expected"),
    "list at the top": ("- a\n- b\n", "SPC001", "1:1", "a mapping of keys to values is expected"),
    "scalar at the top": ("\n\nhello\n", "SPC001", "3:1", "a mapping of keys to values is expected"),
    "duplicate key": ("a: 1\nb: 2\na: 3\n", "SPC002", "3:1", '"a" stands here a second time'),
    "duplicate key inside": ("a:\n  b: 1\n  b: 1\n", "SPC002", "3:3", '"b" stands here a second time'),
    "duplicate key in braces": ("x: {a: 1, 'a': 2}\n", "SPC002", "1:11", '"a" stands here a second time'),
    "duplicate number": ("1: a\n'1': b\n", "SPC002", "2:1", '"1" stands here a second time'),
    "merge key": ("a: &x {b: 1}\nc:\n  <<: *x\n", "SPC001", "3:3", "merge keys"),
    "merge key in braces": ("a: &x {b: 1}\nc: {<<: *x}\n", "SPC001", "2:5", "merge keys"),
    "own tag": ("a: !foo 1\n", "SPC001", "1:4", "the tag !foo"),
    "tag of a mapping": ("a: !foo\n  b: 1\n", "SPC001", "1:4", "the tag !foo"),
    "tag of the document": ("!foo\na: 1\n", "SPC001", "1:1", "the tag !foo"),
    "tag of a key": ("!foo a: 1\n", "SPC001", "1:1", "the tag !foo"),
    "tag of a list": ("a: !foo [1]\n", "SPC001", "1:4", "the tag !foo"),
    "tag behind an anchor": ("a: &x !foo 1\n", "SPC001", "1:4", "the tag !foo"),
    "non-specific tag": ("a: ! 1\n", "SPC001", "1:4", "the tag !"),
    "!!int": ("a: !!int '3'\n", "SPC001", "1:4", "the tag !!int"),
    "!!binary": ("a: !!binary aGk=\n", "SPC001", "1:4", "the tag !!binary"),
    "!!set": ("a: !!set {x, y}\n", "SPC001", "1:4", "the tag !!set"),
    "!!map of a text": ("a: !!map b\n", "SPC001", "1:4", "the tag !!map"),
    "!!map of a list": ("a: !!map [b]\n", "SPC001", "1:4", "the tag !!map"),
    "!!seq of a mapping": ("a: !!seq {b: 1}\n", "SPC001", "1:4", "the tag !!seq"),
    "!!str of a list": ("a: !!str [b]\n", "SPC001", "1:4", "the tag !!str"),
    "!!omap": ("a: !!omap [x: 1]\n", "SPC001", "1:4", "the tag !!omap"),
    "!!timestamp": ("a: !!timestamp 2008-09-01\n", "SPC001", "1:4", "the tag !!timestamp"),
    "python": ("a: !!python/object/apply:os.system [id]\n", "SPC001", "1:4", "the tag !!python/object/apply:os.system"),
    "tag directive": ("%TAG ! tag:x,2000:\n---\na: !y 1\n", "SPC001", "3:4", "the tag !y"),
    "unknown tag prefix": ("a: !x!y 1\n", "SPC001", "1:4", "tag"),
    "nan": ("a: .nan\n", "SPC004", "1:4", ".nan is not a number"),
    "inf": ("a: [1, -.Inf]\n", "SPC004", "1:8", "-.Inf is not a number"),
    "beyond double precision": ("a: 1e400\n", "SPC004", "1:4", "1e400 is larger than any number"),
    "huge integer": ("a: " + "9" * 5000 + "\n", "SPC004", "1:4", "that many digits"),
    "huge hexadecimal": ("a: 0x" + "f" * 5000 + "\n", "SPC004", "1:4", "that many digits"),
    "huge octal": ("a: 0o" + "7" * 9999 + "\n", "SPC004", "1:4", "that many digits"),
    "huge float": ("a: 1" + "0" * 5000 + ".5\n", "SPC004", "1:4", "larger than any number"),
    "two documents": ("a: 1\n---\nb: 2\n", "SPC001", "2:1", "a second document begins here"),
    "text after the end": ("a: 1\n...\nb\n", "SPC001", "3:1", "a second document begins here"),
    "tab as indent": ("a:\n\tb: 1\n", "SPC001", "2:1", "tab"),
    "tab before a key": ("a: 1\n\tb: 1\n", "SPC001", "2:1", "tab"),
    "deep brackets": ("a: " + "[" * 1000 + "]" * 1000 + "\n", "SPC001", "1:34", "levels of nesting"),
    "deep, not closed": ("a: " + "[" * 1000 + "\n", "SPC001", "1:34", "levels of nesting"),
    "rather deep": ("a: " + "[" * 40 + "]" * 40 + "\n", "SPC001", "1:34", "levels of nesting"),
    "deep blocks": ("".join(" " * i + "a:\n" for i in range(2000)), "SPC001", "32:32", "levels of nesting"),
    "a key that is a whole text": (f"a:\n  ? {'k' * 4097}\n  : 1\n", "SPC001", "2:5", "more than 4096 characters"),
    "billion laughs": (BILLION, "SPC006", "1:26", "aliases"),
    "alias of itself": ("a: &x [1, *x]\n", "SPC006", "1:4", "aliases"),
    "alias of the document": ("&x\na: *x\n", "SPC006", "1:1", "aliases"),
    "unknown alias": ("a: *x\n", "SPC001", "1:4", "undefined alias"),
    "empty key": ('"": 1\n', "SPC001", "1:1", "a key is a word"),
    "no key": (": 1\n", "SPC001", "1:1", "a key is a word"),
    "list as key": ("[a]: 1\n", "SPC001", "1:1", "a key is a word"),
    "mapping as key": ("? {a: b}\n: 1\n", "SPC001", "1:3", "a key is a word"),
    "key on two lines": ('"a\\nb": 1\n', "SPC001", "1:1", "a word on one line"),
    "half a character": ('a: "\\ud800"\n', "SPC004", "1:4", "U+D800"),
    "NUL": ('a: "\\0"\n', "SPC004", "1:4", "U+0000"),
    "control character": ("a: b\nc: d\x01\n", "SPC001", "2:5", "U+0001"),
    "escape": ("a: \x1b[31m\n", "SPC001", "1:4", "U+001B"),
    "open quotes": ('b: 1\na: "b\nc: 1\n', "SPC001", "2:4", "does not end"),
    "open braces": ("a: {b: 1\n", "SPC001", "1:4", "does not end"),
    "two colons": ("a: b: c\n", "SPC001", "1:5", "mapping values are not allowed here"),
    "reserved character": ("a: @b\n", "SPC001", "1:4", "'@'"),
    "wrong indent": ("a: 1\n b: 2\n", "SPC001", "2:3", "mapping values are not allowed here"),
    "YAML 3": ("%YAML 3.0\n---\na: 1\n", "SPC001", "1:1", "incompatible"),
    "YAML 1.3": ("# a\n%YAML 1.3\n---\na: 1\n", "SPC001", "2:1", "1.1 and 1.2"),
    "a version within a document": ("---\n%YAML 0.3\na: 1\n", "SPC001", "2:1", "1.1 and 1.2"),
    "YAML of too many digits": ("# a\n%YAML " + "1" * 5000 + ".2\n---\na: 1\n", "SPC001", "2:7", "no version"),
    "character beyond all": ('b: 1\na: "x\\U00110000"\n', "SPC001", "2:8", "no character"),
    "character beyond all integers": ('b: 1\na: "x\\UFFFFFFFF"\n', "SPC001", "2:8", "no character"),
    "twice the directive": ("%YAML 1.2\n%YAML 1.2\n---\na: 1\n", "SPC001", "2:1", "duplicate"),
    "wide characters before": ("漢字: {é: 1, é: 2}\n", "SPC002", "1:12", '"é" stands here a second time'),
}


@rows("case", REFUSED)
def test_refused_once_and_where_it_is(case):
    text, code, where, words = REFUSED[case]
    with pytest.raises(SpecError) as caught:
        read_text(Source("f", text))
    (finding,) = caught.value.findings
    assert (finding.code, finding.where) == (code, f"f:{where}"), finding.message
    assert words in finding.message
    assert finding.message[0].islower() or not finding.message[0].isalpha() or finding.message[:2] in ("U+", "YA")


def test_every_mistake_is_reported():
    with pytest.raises(SpecError) as caught:
        read_text(Source("f", "a: 1\na: 2\nb: .nan\nc: !x 1\n"))
    assert [finding.where for finding in caught.value.findings] == ["f:2:1", "f:3:4", "f:4:4"]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_bytes_that_are_not_utf8(mark, tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_bytes(mark + "a: 1\nb: é".encode() + b"\xe9\n")
    with pytest.raises(SpecError) as caught:
        read_file(path, "f")
    (finding,) = caught.value.findings
    assert (finding.code, finding.where, finding.message) == ("SPC001", "f:2:5", "byte 0xe9 is not UTF-8")
    assert finding.span.source.line(2) == "b: é\ufffd"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_other_encodings(encoding, tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_bytes("a: 1\n".encode(encoding))
    with pytest.raises(SpecError) as caught:
        read_file(path)
    assert len(caught.value.findings) == 1


# --- Files that are none ---------------------------------------------------------------------------------


def test_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"nope\.yaml: there is no such file"):
        read_file(tmp_path / "nope.yaml")


def test_directory(tmp_path):
    with pytest.raises(InputError, match="is a directory; a YAML file is expected"):
        read_file(tmp_path)


def test_file_as_directory(tmp_path):
    (tmp_path / "a").write_text("")
    with pytest.raises(InputError, match="not a directory"):
        read_file(tmp_path / "a" / "b")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_unreadable_file(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(TEXT)
    path.chmod(0)
    with pytest.raises(InputError, match="permission denied"):
        read_file(path)


def test_disk_that_refuses(tmp_path, monkeypatch):
    def refuse(path, name):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("nmlgen.files.read_bytes", refuse)
    with pytest.raises(InputError, match=r"^f: permission denied$"):
        read_file(tmp_path / "spec.yaml", "f")


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000])
def test_impossible_names(name):
    with pytest.raises(InputError):
        load_spec(name)


# --- Mappings of a program -------------------------------------------------------------------------------


def endless():
    value: dict[str, object] = {}
    value["a"] = value
    return value


@rows(
    ("value", "words"),
    [
        ({"a": float("nan")}, "spec.a: nan is not a value"),
        ({"a": {"b": [1, float("inf")]}}, "spec.a.b: inf is not a value"),
        ({"a": b"x"}, "spec.a: b'x' is not a value"),
        ({"a": {1, 2}}, "spec.a: {1, 2} is not a value"),
        ({1: "a"}, "spec: the key 1 is not a word"),
        ({"a": {None: 1}}, "spec.a: the key None is not a word"),
        ({"": 1}, "spec: the key '' is not a word"),
        ({"a\n": 1}, r"spec: the key 'a\n' is not a word"),
        ({"a": "\ud800"}, "spec.a: U+D800"),
        ({"a": "x\0"}, "spec.a: U+0000"),
        ({"a": 10**5000}, "spec.a: no setting takes a number of that many digits"),
        (endless(), "levels of nesting"),
    ],
)
def test_values_that_no_document_could_hold(value, words):
    with pytest.raises(SpecError) as caught:
        from_plain(value)
    (finding,) = caught.value.findings
    assert words in finding.message
    assert finding.span is None


def test_a_mapping_is_read_as_it_is():
    value = {"a": [1, 2.5, "x", True, None, (1, 2)], "b": {"c": {}}}
    assert from_plain(value).plain() == {"a": [1, 2.5, "x", True, None, [1, 2]], "b": {"c": {}}}


# --- Whatever comes --------------------------------------------------------------------------------------

quickly = settings(max_examples=60, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def spec_file(tmp_path_factory):
    return tmp_path_factory.mktemp("document") / "spec.yaml"


def only_our_errors(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    findings: tuple[Finding, ...] = ()
    try:
        load_spec(path)
    except InputError:
        pass
    except SpecError as error:
        findings = error.findings
    for finding in findings:
        if finding.span is not None:
            assert 1 <= finding.line <= len(finding.span.source.lines)
            assert 1 <= finding.column <= len(finding.span.source.line(finding.line)) + 1
            assert finding.span.end_column > finding.span.column


@quickly
@given(data=st.binary(max_size=60))
@example(data=b"\xef\xbb\xbf\xef\xbb\xbfa: 1\n")
def test_random_bytes(spec_file, data):
    only_our_errors(spec_file, data)


@quickly
@given(text=st.text(st.sampled_from("ab: -[]{}\n\t'\"&*!|>#%@,?<=~0123.eE+x\u2028é\ufeff\r\x01"), max_size=40))
def test_random_yaml(spec_file, text):
    only_our_errors(spec_file, text.encode())


fragments = st.one_of(
    st.binary(max_size=8),
    st.text(max_size=8).map(str.encode),
    st.sampled_from(
        b"{ } [ ] : - ? | > & * ! % @ ` \" ' # , \n \t \r <<: *x &x !!set !!str --- ... null ~ .nan 1e999 -1 "
        b'0x 99999999999999999999999999999999999999999 true [] {} [null] [[1]] {a:b} 2.0 -0 1e3 \\ "\\ud800" '
        b'"\\0" "a\\n" icon/jabw ./spec.yaml / .. . sites/levante P400W PT0S 0000-00-00'.split(b" ")
    ),
)


@quickly
@given(data=st.data())
def test_random_mutations_of_a_good_spec(spec_file, data):
    text = TEXT.encode()
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 12)))
        text = text[:start] + data.draw(fragments) + text[end:]
    only_our_errors(spec_file, text)


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**39, -(10**39), 2**63, 0, -1]),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["P1D", "PT0S", "-P1D", "2008-09-01", "auto", "1" * 600, "9" * 20 + "Y", "./x.yaml", "\n", "a\n"]),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


def paths(mapping, before=()):
    for key, value in mapping.items():
        yield (*before, key)
        if isinstance(value, dict):
            yield from paths(value, (*before, key))


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_value_at_any_key(data):
    spec = changed(
        lustre={"output": {"stripe_count": 4, "stripe_size": "4M"}},
        mpi={"implementation": "intel", "version": "2021.5", "hints": {"cb_nodes": 4}},
        darshan={"library": "/x.so", "MAX_RECORDS": 1},
        node_local={"file_system": "beeond"},
        input_files={"a": {"source": "b", "method": "copy"}},
        namelists={"run_nml": {"dtime": 1.0}, "master_model_nml": {"model_namelist_filename": "N"}},
        ignore={"RST001": "because"},
        environment={"A": "b"},
        launch={"command": "srun", "options": ["-l"]},
        shell={"limits": {"stack": 1}},
        modules=["a"],
        run_directory="run",
    )
    path = data.draw(st.sampled_from(sorted(paths(spec))))
    inner = spec
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = data.draw(values)
    try:
        loaded = load_spec(spec)
    except (SpecError, InputError):
        pass
    else:
        assert unchecked_build(loaded).files


def test_of_two_anchors_of_one_name_the_later_one_holds(recwarn):
    document = read_text(Source("spec", "a: &x 1\nb: &x 2\nc: *x\n"))
    assert document.plain() == {"a": 1, "b": 2, "c": 2}
    assert not recwarn


def test_of_large_files_the_last_one_is_read_once(tmp_path):
    path = tmp_path / "large.yaml"
    path.write_text("".join(f"a{number}: 1\n" for number in range(8_000)))
    assert read_file(path).node is read_file(path).node


def test_anchors_without_a_blank_between_them_are_looked_at_once():
    text = ",".join(f"&a{number}" for number in range(200))
    matcher = Matcher(_WRITTEN_TAG)
    for at in range(0, len(text), 5):
        matcher.match(text, at)
    assert matcher.steps < 20 * len(text)
    assert read_text(Source("s", f"a: [{text}, &b 1, *b, &c !!str 2]")).plain()["a"] == [*[None] * 200, 1, 1, "2"]
