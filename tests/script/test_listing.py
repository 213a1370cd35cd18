"""Files that a script collects by a pattern."""

from __future__ import annotations

import pytest
from rows import rows

from nmlgen.script.evaluate import evaluate
from nmlgen.script.listing import Listing, listing_of, read_find
from nmlgen.script.parser import parse
from nmlgen.script.values import text_of
from nmlgen.source import Source


@rows(
    ("command", "expected"),
    [
        ("find /a -name *.nc", (1, "*.nc", True, [])),
        ("find -L /a -maxdepth 1 -type f -name *.nc", (2, "*.nc", False, [])),
        ("find /a -type f -name x?.nc -print", (1, "x?.nc", True, [])),
        ("find /a -name *.nc -exec cp {} . ;", (1, "*.nc", True, ["cp", "{}", "."])),
        ("find /a -name *.nc -exec ln -s -t . -- {} +", (1, "*.nc", True, ["ln", "-s", "-t", ".", "--", "{}"])),
        ("find", None),
        ("find /a", None),
        ("find /a -name", None),
        ("find /a /b -name *.nc", None),
        ("find /a -maxdepth 2 -name *.nc", None),
        ("find /a -name *.nc -name a*", None),
        ("find /a -name *.nc -newer b", None),
        ("find /a -name *.nc -print0", None),
        ("find /a -type d -name *.nc", None),
        ("find /a -name *.nc -exec", None),
        ("find /a -name *.nc -exec cp {} .", None),
        ("find /a ! -name *.nc", None),
    ],
)
def test_calls_of_find(command, expected):
    words = command.split()
    found = read_find(words)
    read = found and (found.directory, found.pattern, found.is_deep, [words[number] for number in found.action])
    assert read == expected


def test_a_word_of_find_that_is_not_known():
    assert read_find(["find", None, "-name", "a*"]) is not None
    assert read_find(["find", "/a", "-name", None]) is None
    assert read_find(["find", "/a", None, "a*"]) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("set -- 1\nx=$(find /pool -name 'a*.nc')\n", ("/pool", "a*.nc", True)),
        ("x=$(find /pool -name a*.nc)\n", ("/pool", "a*.nc", True)),
        ("x=$(find /pool -maxdepth 1 -name 'a*.nc' | head)\n", None),
        ("x=$(find /pool -name 'a*.nc' -newer b)\n", None),
        ("for x in $(find /pool -name 'a*.nc'); do :; y=$x; break; done; x=$y\n", None),
        ("x=$(find /pool -name 'a*')$(find /pool -name 'a*')\n", None),
    ],
)
def test_what_find_prints(text, expected):
    value = evaluate(parse(Source("script", text))).final["x"].value
    listing = listing_of(value)
    directory = listing and text_of(listing.directory)
    assert (listing and (directory, listing.pattern, listing.is_deep)) == expected
    assert text_of(value) is None


def test_two_turns_are_no_same_file():
    text = "y=none\nfor x in $(find /pool -name 'a*.nc'); do [ $x = $y ] && z=same; y=$x; done\n"
    assert text_of(evaluate(parse(Source("script", text))).final["y"].value) is None
    assert Listing((), "a", False, 1) != Listing((), "a", False, 2)
