"""`lfs setstripe` as lfs reads it."""

from __future__ import annotations

import pytest
from rows import rows
from script.commands import words_of

from nmlgen.experiment.setting import Certainty
from nmlgen.script.setstripe import Setstripe, read_setstripe


def read(arguments: str) -> Setstripe:
    found = read_setstripe(words_of(f"lfs setstripe {arguments}"))
    assert found is not None
    return found


@rows(
    ("arguments", "settings"),
    [
        ("-c 4 out", {"stripe_count": 4}),
        ("-c4 out", {"stripe_count": 4}),
        ("--stripe-count=4 out", {"stripe_count": 4}),
        ("--stripe-count -1 out", {"stripe_count": -1}),
        ("out -c 4", {"stripe_count": 4}),
        ("-c 010 -S 4m out", {"stripe_count": 8, "stripe_size": "4M"}),
        ("-c 0x10 out", {"stripe_count": 16}),
        ("-S 1048576 -i 0 out", {"stripe_size": "1M", "stripe_index": 0}),
        ("-S 64 out", {"stripe_size": "64K"}),
        ("-S 0.5G out", {"stripe_size": "512M"}),
        ("-S 100k out", {"stripe_size": "100K"}),
        ("-p fast out", {"pool": "fast"}),
        ("-p none out", {}),
        ("-o 3,0x5-6 out", {"ost": "3,5-6"}),
        ("-C 64 out", {"overstripe_count": 64}),
        ("-C -2 out", {"overstripe_count": -2}),
        ("-d out", {}),
    ],
)
def test_what_lfs_takes(arguments: str, settings: dict[str, object]) -> None:
    found = read(arguments)
    assert {name: setting.value for name, setting in found.settings.items()} == settings
    assert [word.text for word in found.directories] == ["out"]
    assert not found.problems


@rows(
    ("arguments", "message"),
    [
        ("-s 4m out", "lfs setstripe has no option -s"),
        ("-c four out", 'lfs setstripe refuses -c "four"'),
        ("-c 3000 out", 'lfs setstripe refuses -c "3000"'),
        ("-c -2 out", 'lfs setstripe refuses -c "-2"'),
        ("-i -2 out", 'lfs setstripe refuses -i "-2"'),
        ("-S 4MiB out", 'lfs setstripe refuses -S "4MiB"'),
        ("-S 100000 out", 'lfs setstripe refuses -S "100000"'),
        ("-p averyverylongname out", 'lfs setstripe refuses -p "averyverylongname"'),
        ("-o 3-1 out", 'lfs setstripe refuses -o "3-1"'),
        ("-E 65K -c 1 -E -1 out", 'lfs setstripe refuses -E "65K"'),
        ("-c 1 -E 64M -E -1 out", "options of a layout stand before the first -E"),
        ("-E 64M -E 32M -E -1 out", "the end of a component is not beyond that of the one before"),
        ("-E -1 -E 32M out", "the end of a component is not beyond that of the one before"),
        ("-E 64M -c 1 out", "the layout ends before the end of a file: a write beyond it fails"),
        ("-d -c 4 out", "lfs setstripe takes no other option beside -d"),
        ("-c 4", "lfs setstripe names no directory"),
        ("out -c", "-c wants a value"),
        ("--delete=yes out", "--delete takes no value"),
    ],
)
def test_what_lfs_refuses(arguments: str, message: str) -> None:
    assert message in [problem.message for problem in read(arguments).problems]


def test_components() -> None:
    found = read("-E 64M -c 1 -E -1 -c 4 out")
    assert [(component.start, component.end) for component in found.components] == [(0, 64 << 20), (64 << 20, None)]
    assert [component.settings["stripe_count"].value for component in found.components] == [1, 4]
    assert found.settings == {}


def test_what_a_component_has_from_the_one_before():
    found = read("-E 1M -L mdt -E 64M -c 2 -S 4M -i 3 -p fast -E 1G -E eof -c 8 out")
    first, second, third, last = (
        {name: setting.value for name, setting in component.settings.items()} for component in found.components
    )
    assert first == {"layout": "mdt"}
    assert second == {"stripe_count": 2, "stripe_size": "4M", "stripe_index": 3, "pool": "fast"}
    assert third == {"stripe_count": 2, "stripe_size": "4M", "pool": "fast"}
    assert last == {"stripe_count": 8, "stripe_size": "4M", "pool": "fast"}


@pytest.mark.parametrize(
    "command",
    [
        "lfs migrate -c 4 out",
        "lfs migrate --non-block -c 4 out",
        "find out -maxdepth 1 -type f -exec lfs migrate -c 4 {} +",
    ],
)
def test_migration(command):
    found = read_setstripe(words_of(command))
    assert found.migrates
    assert found.settings["stripe_count"].value == 4
    assert [word.text for word in found.directories] == ["out"]


@pytest.mark.parametrize(
    ("option", "name"), [("-N2", "mirror-count"), ("--yaml=x", "yaml"), ("-z 1G", "extension-size")]
)
def test_what_a_spec_cannot_say(option, name):
    assert read(f"-E 64M -c 1 {option} -E -1 -c 4 out").without_place == (name,)


def test_what_is_not_known() -> None:
    found = read("-c $n -S 4M $out")
    assert found.settings["stripe_count"].certainty is Certainty.UNKNOWN
    assert not found.is_complete
    assert found.settings["stripe_size"].certainty is Certainty.UNKNOWN
    found = read('-c $n -S 4M "$out"')
    assert found.is_complete
    assert found.settings["stripe_size"].value == "4M"
    assert [word.text for word in found.directories] == [None]


def test_where_it_stands() -> None:
    settings = read("--stripe-count=4 -S4M -i 0 out").settings
    assert [str(setting.span) for setting in settings.values()] == ["job.sh:1:30", "job.sh:1:34", "job.sh:1:40"]


@pytest.mark.parametrize("command", ["lfs getstripe -c 4 out", "lfs", "setstripe -c 4 out", "$lfs setstripe out", ""])
def test_other_commands(command: str) -> None:
    assert read_setstripe(words_of(command)) is None
    assert read_setstripe(words_of("/usr/bin/lfs setstripe -c 4 out")) is not None
