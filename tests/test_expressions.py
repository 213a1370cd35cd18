"""Every regular expression of the package takes work that grows with the text, and not faster."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from backtracking import Matcher, TooMuchError, stresses

_LENGTH = 30
_MOST = 40_000
_FIND = """
import importlib, json, pkgutil, re, sys
found, compiled = {}, re.compile
def noted(pattern, flags=0):
    result = compiled(pattern, flags)
    module = sys._getframe(1).f_globals.get("__name__", "")
    if module.startswith("nmlgen") and isinstance(result.pattern, str):
        found.setdefault(module, {})[result.pattern] = result.flags
    return result
re.compile = noted
import nmlgen
for module in pkgutil.walk_packages(nmlgen.__path__, "nmlgen."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print(json.dumps(found))
"""


def expressions() -> dict[str, dict[str, int]]:
    """The patterns that the modules compile when they are imported, with their flags, by module."""
    done = subprocess.run([sys.executable, "-c", _FIND], capture_output=True, text=True, check=True)
    found: dict[str, dict[str, int]] = json.loads(done.stdout)
    return found


def work(pattern: re.Pattern[str], text: str) -> int:
    matcher = Matcher(pattern, _MOST)
    try:
        matcher.match(text)
    except TooMuchError:
        return _MOST
    return matcher.steps


def is_too_much(pattern: re.Pattern[str], short: str, long: str) -> bool:
    """Whether twice the text takes more than about twice the work; a little work is never too much."""
    steps = work(pattern, long)
    if steps == _MOST:
        return True
    return steps > 8 * len(long) + 100 and steps > 1.4 * len(long) / len(short) * work(pattern, short)


@pytest.fixture(autouse=True)
def _deep():
    """Each character of a text is a call within a call."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


def test_work_grows_with_the_text():
    found = expressions()
    assert sum(map(len, found.values())) > 250
    wrong = []
    for module, patterns in found.items():
        for text, flags in patterns.items():
            pattern = re.compile(text, flags)
            pairs = zip(stresses(pattern, _LENGTH), stresses(pattern, 2 * _LENGTH), strict=True)
            bad = next((long for short, long in pairs if is_too_much(pattern, short, long)), None)
            if bad is not None:
                wrong.append(f"{module}: {text!r} on {bad!r}")
    assert wrong == []


@pytest.mark.parametrize(
    "text",
    [
        r"(a+)+$",
        r"(?:[ \t]*(?:!.*)?\r?\n)*[ \t]*&\w+",
        r"\s*=?\s*x",
        r"(?:a|a)*b",
        r"[ \t]*(?:,[ \t]*)?[ \t]*=",
        r"a*?a*?b",
    ],
)
def test_what_is_too_much_is_seen(text):
    pattern = re.compile(text)
    pairs = zip(stresses(pattern, _LENGTH), stresses(pattern, 2 * _LENGTH), strict=True)
    assert any(is_too_much(pattern, short, long) for short, long in pairs)


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (r"(?P<a>x+?)y|(z)(?=w)\2?", 0),
        (r"^[^!\n]*?(b+)(?!c)$", re.MULTILINE),
        (r"(?<=a)\bB?\W\D\S.{2,3}\Z", re.IGNORECASE),
        (r"(['\"])[^'\"]*\1", re.DOTALL),
    ],
)
def test_the_matcher_finds_what_re_finds(text, flags):
    pattern = re.compile(text, flags)
    for sample in ("xxy", "zw", "zwz", "a\nbb", "bbc\nbb", "ab !-abc", "a!--xyz", "'q'", "\"q'", "", "B", "aB!.é\n"):
        for start in range(len(sample) + 1):
            assert Matcher(pattern, 10_000).match(sample, start) is (pattern.match(sample, start) is not None), sample
