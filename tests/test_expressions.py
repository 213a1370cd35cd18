"""Every regular expression of the package takes work that grows with the text, and not faster."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

import pytest
from backtracking import Matcher, TooMuchError, stresses

ROOT = Path(__file__).parents[1] / "nmlgen"

_LENGTH = 30
_SHORT = 20
_MOST = 40_000
_FIND = """
import importlib, json, pkgutil, re, sys
found, named, compiled = {}, {}, re.compile
def as_text(pattern):
    if isinstance(pattern.pattern, bytes):
        return pattern.pattern.decode("latin-1"), pattern.flags | re.ASCII
    return pattern.pattern, pattern.flags
def noted(pattern, flags=0):
    result = compiled(pattern, flags)
    module = sys._getframe(1).f_globals.get("__name__", "")
    if module.startswith("nmlgen"):
        text, flags = as_text(result)
        found.setdefault(module, {})[text] = flags
    return result
re.compile = noted
import nmlgen
for module in pkgutil.walk_packages(nmlgen.__path__, "nmlgen."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        named[module.name] = {
            name: as_text(value)
            for name, value in vars(sys.modules[module.name]).items()
            if isinstance(value, re.Pattern)
        }
print(json.dumps([found, named]))
"""
_SCANS = ("search", "sub", "subn", "finditer", "findall", "split")
_STARTS = ("match", "fullmatch")
_BOUND = re.compile(r"\{([0-3]?),\d{2,3}\}")
"""A number of repeats with an upper bound: another one than it has, as texts here are shorter."""


@cache
def expressions() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, tuple[str, int]]]]:
    """The patterns that the modules compile when they are imported, those of bytes as text, with their flags, by
    module; and those that have names there."""
    done = subprocess.run([sys.executable, "-c", _FIND], capture_output=True, text=True, check=True)
    found, named = json.loads(done.stdout)
    return found, named


def uses() -> Iterator[tuple[str, str, str, int]]:
    """Where a pattern is used: the place, the name of the method or of re's function, the pattern and its flags."""
    _, named = expressions()
    for path in sorted(ROOT.rglob("*.py")):
        module = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            how, value, place = node.func.attr, node.func.value, f"{module}:{node.lineno}"
            if how not in (*_SCANS, *_STARTS) or not isinstance(value, ast.Name):
                continue
            if value.id == "re" and isinstance(node.args[0], ast.Constant):
                names = [
                    part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute) and part.attr.isupper()
                ]
                yield place, how, str(node.args[0].value), sum({int(getattr(re, name)) for name in names})
            elif value.id in named.get(module, {}):
                yield place, how, *named[module][value.id]


def schema_patterns() -> Iterator[tuple[str, str]]:
    """The patterns of the schemas of what people write, with where they stand; `nmlgen.spec.conformity` searches."""
    for path in sorted((ROOT.parent / "schemas").glob("*.schema.json")):
        waiting = [json.loads(path.read_text(encoding="utf-8"))]
        while waiting:
            node = waiting.pop()
            if isinstance(node, dict):
                if isinstance(node.get("pattern"), str):
                    yield path.name, node["pattern"]
                forms = node.get("patternProperties")
                yield from ((path.name, form) for form in (forms if isinstance(forms, dict) else ()))
                waiting += node.values()
            elif isinstance(node, list):
                waiting += node


@lru_cache(maxsize=4)
def _matcher(pattern: re.Pattern[str]) -> Matcher:
    return Matcher(pattern, _MOST)


def work(pattern: re.Pattern[str], text: str, how: str = "match") -> int:
    matcher = _matcher(pattern)
    matcher.steps = 0
    try:
        if how in _STARTS:
            matcher.match(text, full=how == "fullmatch")
        at = 0
        while how in _SCANS and at <= len(text):
            if not matcher.match(text, at):
                at += 1
            elif how == "search":
                break
            else:
                found = pattern.match(text, at)
                at = max(at + 1, found.end() if found else 0)
    except TooMuchError:
        return _MOST
    return matcher.steps


def is_too_much(pattern: re.Pattern[str], short: str, long: str, how: str = "match") -> bool:
    """Whether twice the text takes more than about twice the work; a little work is never too much."""
    steps = work(pattern, long, how)
    if steps == _MOST:
        return True
    return steps > 8 * len(long) + 100 and steps > 1.4 * len(long) / len(short) * work(pattern, short, how)


def too_much(pattern: re.Pattern[str], how: str, length: int) -> str | None:
    """A text for which a pattern does too much in that use, or None."""
    pairs = zip(stresses(pattern, length), stresses(pattern, 2 * length), strict=True)
    return next((long for short, long in pairs if is_too_much(pattern, short, long, how)), None)


@pytest.fixture(autouse=True)
def _deep():
    """Each character of a text is a call within a call."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


def test_work_grows_with_the_text():
    found, _ = expressions()
    assert sum(map(len, found.values())) > 250
    bad = {
        f"{module}: {text!r}": too_much(re.compile(text, flags), "match", _LENGTH)
        for module, patterns in found.items()
        for text, flags in patterns.items()
    }
    assert {place: text for place, text in bad.items() if text is not None} == {}


def test_work_grows_with_the_text_where_patterns_are_used():
    """A search begins at every place of a text, and a whole match goes back to its beginning."""
    found: dict[tuple[str, str, int], str] = {}
    for place, how, text, flags in uses():
        if how != "match":
            found.setdefault(("findall" if how in _SCANS else how, text, flags), place)
    found |= {("search", text, 0): name for name, text in schema_patterns()}
    assert len(found) > 350
    bad = {
        f"{place}: {how} {text!r}": too_much(re.compile(_BOUND.sub(r"{\1,3}", text), flags), how, _SHORT)
        for (how, text, flags), place in found.items()
    }
    assert {place: text for place, text in bad.items() if text is not None} == {}


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
    assert too_much(pattern, "match", _LENGTH) is not None


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("fullmatch", r"\d+\.?\d*(?:e?\d+)?"),
        ("search", r"\w*x"),
        ("findall", r"\([^)]*\)"),
        ("search", r"\[[^\]]*.\]"),
        ("findall", r"^\s*(\d+)$"),
        ("sub", r" +$"),
    ],
)
def test_what_is_too_much_in_a_search_is_seen(how, text):
    pattern = re.compile(text, re.MULTILINE)
    assert too_much(pattern, how, _SHORT) is not None
    assert too_much(pattern, "match", _SHORT) is None


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
