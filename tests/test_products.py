"""Two things of an input that each come very often: work grows with their sum, not with their product."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import placements
import pytest
from specs import changed
from steps import grows_too_fast

import nmlgen
from nmlgen.configuration import Exemption, suppressions_of
from nmlgen.experiment.difference import differences
from nmlgen.findings import Finding, Report, Severity
from nmlgen.logs.chain import chain_of
from nmlgen.logs.record import _only_each
from nmlgen.logs.rows import LogRun
from nmlgen.lsp.documents import Documents
from nmlgen.lsp.symbols import symbols_of
from nmlgen.models import mpas
from nmlgen.models.icon.inputs import unbrought
from nmlgen.models.icon.placement import placement
from nmlgen.models.icon.rules.namelists import _respelt
from nmlgen.models.judging import Judging
from nmlgen.models.mpas.fields import problems_of_members
from nmlgen.models.reading import read_settings
from nmlgen.models.surroundings import Surroundings
from nmlgen.models.workload import OutputFile, Workload
from nmlgen.models.wrf.registry import wrf_registry
from nmlgen.namelist.reader import read_namelist
from nmlgen.render.placement import _lines, _parts
from nmlgen.report.workload import volume_document
from nmlgen.source import Source
from nmlgen.spec import lower
from nmlgen.suppression import Suppression, excuse

MPAS_STREAMS = ("streams.atmosphere", "streams.init_atmosphere")


def files(number: int) -> dict[str, Any]:
    return {f"t{at}": {"source": "x"} for at in range(number)}


def test_files_of_land_and_input_files():
    def work(number: int):
        land = {"jsb_assimi_nml": {f"a{at}_filename": f"f{at}" for at in range(number)}}
        (component,) = nmlgen.load_spec(changed(land=land, input_files=files(number))).experiment.components
        return lambda: len(list(unbrought(component)))

    assert not grows_too_fast(work, 150)


def test_nests_and_input_files_that_are_compared():
    def work(number: int):
        nests = {f"n{at}": {"file": f"d/n{at}"} for at in range(number)}
        experiment = nmlgen.load_spec(changed(domains=nests, input_files=files(number))).experiment
        return lambda: list(differences(experiment, experiment))

    assert not grows_too_fast(work, 60)


def test_suppressions_and_findings():
    def work(number: int):
        source = Source("script", "a\n" * number)
        found = tuple(
            Finding("AAA001", "first-rule", Severity.ERROR, "wrong", source.span(line + 1, 1)) for line in range(number)
        )
        given = [
            Suppression("AAA001", "why", span, frozenset({"script"}), line)
            for line in range(number)
            for span in [source.span(line + 1, 1)]
        ]
        return lambda: excuse(Report(found), given, {"AAA001": "first-rule"})

    assert not grows_too_fast(work, 60)


def test_suppressions_that_hold_for_the_same():
    source = Source("script", "a\nb\n")
    finding = Finding("AAA001", "first-rule", Severity.ERROR, "wrong", source.span(1, 1))
    given = [
        Suppression("AAA001", "the first", source.span(1, 1), frozenset({"other", "script"})),
        Suppression("first-rule", "the second", None),
        Suppression("AAA001", "for another", source.span(2, 1), frozenset({"other"})),
        Suppression("AAA001", "for no file", source.span(1, 1), frozenset()),
    ]
    report = excuse(Report((finding,)), given, {"AAA001": "first-rule"})
    assert [reason for _, reason in report.suppressed] == ["the first"]
    assert [finding.code for finding in report.findings] == ["SPC009", "SPC009"]


def test_exemptions_of_one_path(tmp_path: Path):
    def work(number: int):
        given = [Exemption("AAA001", "a*", f"{at}", tmp_path, Source("", "x").span(1, 1)) for at in range(number)]
        sources = {tmp_path / f"b{at}": Source(f"b{at}", "") for at in range(number)}
        return lambda: list(suppressions_of(given, sources))

    assert not grows_too_fast(work, 60)


class _Counted(str):
    """A text that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        _Counted.compared += 1
        return str.__eq__(self, other)

    def __lt__(self, other: str) -> bool:
        _Counted.compared += 1
        return str.__lt__(self, other)

    def __ge__(self, other: str) -> bool:
        _Counted.compared += 1
        return str.__ge__(self, other)

    __hash__ = str.__hash__


@pytest.fixture(autouse=True)
def nothing_compared():
    _Counted.compared = 0


def test_runs_of_a_log():
    runs = [LogRun(log="l", run=at, line=at, run_start=_Counted(f"{at:04}")) for at in range(100)]
    assert chain_of(runs) == tuple(runs)
    assert _Counted.compared < 1500


@pytest.mark.parametrize(
    ("starts", "kept"),
    [
        (["1", "2", "3", "2"], [0, 3]),
        ([None, "1", None, None], [1, 3]),
        (["1", None, "2"], [0, 2]),
        (["2", "1"], [1]),
        (["1", "1"], [1]),
        ([], []),
    ],
)
def test_which_runs_count(starts: list[str | None], kept: list[int]):
    runs = [LogRun(log="l", run=at, line=at, started=f"{at}", run_start=start) for at, start in enumerate(starts)]
    assert chain_of(runs) == tuple(runs[at] for at in kept)


def test_modules_of_two_runs():
    one, other = (tuple(_Counted(f"{name}{at}") for at in range(100)) for name in "ab")
    found = _only_each(one, other)
    assert [len((text or "").split()) for text in found] == [100, 100]
    assert _Counted.compared < 500
    assert _only_each(("a", "b"), ("b",)) == ("a", None)


def test_here_documents_and_groups():
    def work(number: int):
        text = "cat >x <<E\n&a\n b=1\n/\nE\n" * number
        document = Documents().put("file:///x.run", text, 1)
        assert len(symbols_of(document, "utf-16")) == number
        return lambda: symbols_of(document, "utf-16")

    assert not grows_too_fast(work, 1000)


def test_streams_and_files_of_other_models():
    def work(number: int):
        some = tuple(OutputFile(f"s{at}", f"f{at}", ("t",), range(1)) for at in range(number))
        return lambda: volume_document(Workload(1, (), some))

    assert not grows_too_fast(work, 60)


class _Once(Mapping[str, Any]):
    """A mapping that is gone through once."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content
        self.turns = 0

    def __getitem__(self, key: str) -> Any:
        return self.content[key]

    def __iter__(self) -> Iterator[str]:
        self.turns += 1
        return iter(self.content)

    def __len__(self) -> int:
        return len(self.content)


def test_names_of_input_files_within_each_other():
    (tree,) = [nmlgen.load_spec(changed(input_files={"a/b": {"source": "x"}})).tree.at("input_files", "a/b")]
    targets = _Once({f"a/b{at}/c": tree for at in range(20)} | {"a/b": tree, "a/b/c/d": tree})
    found = list(lower._inside_files(targets, {".", "taken"}))
    assert [finding.message for finding in found] == [
        'input_files: "a/b/c/d" would lie in "a/b", which is a file or a link itself'
    ]
    assert targets.turns <= 3


def test_a_name_that_is_there_is_not_looked_for_among_all():
    class There:
        def __contains__(self, name: object) -> bool:
            return name == "io_nml"

    span = Source("x", "io_nmm").span(1, 1, 6)
    assert _respelt(span, "io_nmm", ["io_nml", "run_nml"], There()) is None
    assert _respelt(Source("x", "run_nmm").span(1, 1, 7), "run_nmm", ["io_nml", "run_nml"], There()) is not None


def test_keys_that_nothing_sets():
    def work(number: int):
        spec = nmlgen.load_spec(changed(environment={f"Y{at}": "1" for at in range(100 * number)}))

        def find() -> None:
            for at in range(number):
                with pytest.raises(nmlgen.InputError, match="nothing sets"):
                    spec.find(f"environment.X{at}")

        return find

    assert not grows_too_fast(work, 20)


def test_streams_of_mpas_and_the_list_that_all_name():
    listed = Source("list", "theta\nqqq\n" * 200)
    asked: list[str] = []

    def beside(name: str) -> Source:
        asked.append(name)
        return listed

    files = "".join(f'<file name="{"./" * at}l"/>' for at in range(5))
    text = "".join(f'<stream name="s{at}" type="none">{files}</stream>\n' for at in range(5))
    found = list(problems_of_members(Source("streams", f"<streams>{text}</streams>"), beside))
    assert asked == ["l"]
    assert [problem.message for problem in found] == ['MPAS 8.2.2 has no field "qqq" for stream "s0", and stops']


def test_streams_of_mpas_and_the_names_that_links_give_one_list():
    files = "".join(f'<file name="{"d/" * at}l"/>' for at in range(5))  # d leads to where it lies
    text = f'<streams><stream name="s" type="none">{files}</stream></streams>'
    found = list(problems_of_members(Source("streams", text), lambda name: Source(name, "theta\nqqq\n" * 200)))
    assert [problem.message for problem in found] == ['MPAS 8.2.2 has no field "qqq" for stream "s", and stops']


WRITTEN = 'filename_template="f{}" output_interval="initial_only"'


@pytest.mark.parametrize("is_one", [True, False])
def test_streams_of_mpas_and_the_fields_of_one_that_all_hold(is_one):
    namelist = read_namelist("&nhyd_model\n config_dt = 60.0\n/\n", "namelist.atmosphere")

    def work(number: int):
        held = '<stream name="all"/>' * (number if is_one else 1)
        own = [
            f'<stream name="s{at}" type="output" {WRITTEN.format(at)}>{held}</stream>'
            for at in range(1 if is_one else number)
        ]
        fields = '<var name="theta"/>' * number
        last = f'<stream name="all" type="none" filename_template="x">{fields}</stream>'
        source = Source("streams.atmosphere", f"<streams>{''.join(own)}{last}</streams>")
        around = Surroundings(lambda name: source if name == source.name else None, said={"cells": 642, "levels": 9})
        return lambda: mpas.workload(namelist, 1, around)

    assert work(3)().files[0].size == 642 * 9 * 4
    assert not grows_too_fast(work, 100)


def test_streams_of_mpas_and_those_of_what_makes_its_initial_data():
    namelist = read_namelist("&nhyd_model\n config_dt = 60.0\n/\n", "namelist.atmosphere")

    def work(number: int):
        streams = "".join(f'<stream name="s{at}" type="output" {WRITTEN.format(at)}/>' for at in range(number))
        sources = {name: Source(name, f"<streams>{streams}</streams>") for name in MPAS_STREAMS}
        return lambda: mpas.workload(namelist, 1, sources.get)

    assert work(3)().unknown
    assert not grows_too_fast(work, 60)


def test_errors_of_a_template_of_a_namelist_and_all_of_them(tmp_path):
    def work(number: int):
        lines = "".join(f" e_we = @a{at}@\n" for at in range(number))
        read = read_settings(read_namelist(f"&domains\n{lines}/\n", "namelist.input"), wrf_registry())
        judging = Judging(read, Source("namelist.input", ""), wrf_registry(), {"": ("", "")})
        return lambda: list(judging.reading())

    assert not grows_too_fast(work, 100)


@pytest.mark.parametrize("has_own", [False, True])
def test_programs_and_the_ranks_of_all(tmp_path, has_own):
    def work(number: int):
        programs = {
            f"p{at}": {"command": "p", "tasks": 1, "job": {"partition": "other", "nodes": 1}}
            if has_own
            else {"command": "p", "seats": f"1 on {2 + at // 4}"}
            for at in range(number)
        }
        job = {"nodes": 3 + number // 4, "time": "02:00:00"}
        spec = placements.spec(tmp_path, models={"atm": placements.ATM}, programs=programs, job=job)
        experiment = nmlgen.load_spec(spec).experiment
        seats = placement(experiment)
        return lambda: (list(_parts(experiment)), list(_lines(experiment, seats)))

    assert not grows_too_fast(work, 40)
