"""Change the code of the rules a little, again and again: do the tests notice?

    python benchmarks/mutants.py [--count 500] [--seed 1] [--only rules/restart] [--reach FILE] [--quick] [--list]

Mutants are drawn from `nmlgen/rules`, `nmlgen/experiment`, `nmlgen/models/icon` and `nmlgen/script/worlds.py`: a
comparison with another sign, `and` for `or`, a condition turned round, a number that is one more, true for false, a sum
for a difference. The tests that reach the changed line are run until one fails. The mutants that no test noticed are
printed, and the share of those that were noticed; it ends with 1 below nine in ten.

Tests are collected once, and run once to learn which of them reach which block of statements: each block of the code
says that it was reached (a byte, cheaper than any tracing). `--reach` keeps that in a file, which holds until a source
file changes (a test that it does not know counts as reaching all). For a mutant the process is copied (`fork`), the
changed functions get their new code, what functions remember is forgotten but for what comes of data alone, and of the
tests that reach it those run in the copy, until one fails, that stand beside the module or name it, first those that
noticed most of the mutants before. Most mutants need no others; with `--near` it ends there. For a mutant that is left
`--most` of the others run, drawn by the seed: the share is rather too low than too high.
What stands outside functions is changed in a new process. A test that fails without any change, too, has noticed
nothing. `--quick` leaves out the verdicts of the real model. Tests that start nmlgen as a program notice nothing. A
test that takes a minute of CPU hangs, which is noticed (the slowest takes a third of that).

Not changed are bounds on work: numbers of a module that a text below them calls "a bound on work", whose only effect is
that something gigantic is not counted to its end. How many there are is printed.

`--from N` begins with the N-th mutant of the sample, so that a draw can be tried in slices.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import gc
import hashlib
import importlib
import importlib.machinery
import inspect
import itertools
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import _lru_cache_wrapper, cache, partial
from itertools import zip_longest
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).resolve().parent.parent
WHERE = (
    *("nmlgen/rules", "nmlgen/experiment", "nmlgen/models/icon", "nmlgen/models/icon/rules"),
    "nmlgen/script/worlds.py",
)
TESTS = (
    *("tests/rules", "tests/experiment", "tests/models/icon", "tests/test_linting.py", "tests/test_rechecking.py"),
    *("tests/script/test_evaluate.py", "tests/script/test_roles.py", "tests/script/test_worlds.py"),
    *("tests/lift", "tests/test_verifying.py"),
)
WIDE = ("tests/rules/test_said.py", "tests/models/icon/test_tables.py")
"""Tests that hold all at once, what rules say and what is worked out: they stand beside every module that they
reach."""
VERDICTS = ("tests/verdicts/test_verdicts.py", "tests/verdicts/test_multi.py")
ENOUGH = 0.9
CPU_LIMIT = 60
_SIGNS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_SUMS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
}


@dataclass(frozen=True)
class Mutant:
    """One change: the `number`-th place in a file that can be changed, in a statement that `begins` at a line.

    Is it inside a function?
    """

    file: str
    number: int
    is_inside: bool
    begins: int
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


class _Changer(ast.NodeTransformer):
    """Counts the places that can be changed, and changes one of them."""

    def __init__(self, chosen: int | None = None) -> None:
        self.places: list[tuple[bool, int, int, str]] = []
        self._chosen = chosen
        self._begins = 0
        self._depth = 0

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.stmt):
            self._begins = node.lineno
        changed: ast.AST = super().visit(node)
        return changed

    def _is_it(self, node: ast.expr | ast.stmt, what: str) -> bool:
        self.places.append((self._depth > 0, self._begins, node.lineno, what))
        return len(self.places) - 1 == self._chosen

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node  # what a message says

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        """Neither the `strict` of a zip over what has one length, an assertion, nor what a value looks like."""
        if node.arg not in ("strict", "repr"):
            node.value = self.visit(node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Module(self, node: ast.Module) -> ast.AST:
        """All but bounds on work."""
        texts = [*node.body[1:], None]
        node.body = [
            part if is_bound_on_work(part, text) else self.visit(part)
            for part, text in zip(node.body, texts, strict=True)
        ]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [self.visit(part) for part in node.body]  # not its decorators
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self._depth += 1
        node.body = [self.visit(part) for part in node.body]
        self._depth -= 1
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        turn = self._is_it(node, "if not")
        self.generic_visit(node)
        if turn:
            node.test = ast.UnaryOp(ast.Not(), node.test)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        for number, sign in enumerate(node.ops):
            other = _SIGNS[type(sign)]
            if self._is_it(node, f"{type(sign).__name__} becomes {other.__name__}"):
                node.ops[number] = other()
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if self._is_it(node, "and becomes or" if isinstance(node.op, ast.And) else "or becomes and"):
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return node.operand if isinstance(node.op, ast.Not) and self._is_it(node, "not is gone") else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        other = _SUMS.get(type(node.op))
        if other is not None and self._is_it(node, f"{type(node.op).__name__} becomes {other.__name__}"):
            node.op = other()
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool):
            return ast.Constant(not node.value) if self._is_it(node, f"{node.value} turned round") else node
        if isinstance(node.value, int) and self._is_it(node, f"{node.value} becomes {node.value + 1}"):
            return ast.Constant(node.value + 1)
        return node


def is_bound_on_work(statement: ast.stmt, following: ast.stmt | None) -> bool:
    """Whether a statement sets a number of which the text below says that it is a bound on work."""
    match statement, following:
        case ast.Assign(), ast.Expr(value=ast.Constant(value=str() as text)):
            return text.startswith("A bound on work")
    return False


def bounds_on_work() -> int:
    """How many there are."""
    return sum(
        is_bound_on_work(*pair)
        for file in {mutant.file for mutant in mutants("")}
        for pair in itertools.pairwise(_parsed(file).body)
    )


def mutants(only: str) -> list[Mutant]:
    """Every mutant of the files whose path holds a text."""
    paths = [
        path for place in WHERE for path in ([ROOT / place] if place.endswith(".py") else (ROOT / place).glob("*.py"))
    ]
    found = []
    for path in sorted(paths):
        file = str(path.relative_to(ROOT))
        if only in file:
            changer = _Changer()
            changer.visit(ast.parse(path.read_text(encoding="utf-8")))
            found += [Mutant(file, number, *place) for number, place in enumerate(changer.places)]
    return found


def mutated(mutant: Mutant) -> ast.Module:
    """The text of a mutant's module. Lines are those of the file, so that functions can be told."""
    tree = _Changer(mutant.number).visit(_parsed(mutant.file))
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            if "lineno" in child._attributes and not hasattr(child, "lineno"):
                ast.copy_location(child, node)
    return ast.fix_missing_locations(tree)


def _parsed(file: str) -> ast.Module:
    return ast.parse((ROOT / file).read_text(encoding="utf-8"))


def compiled(tree: ast.Module, file: str) -> CodeType:
    """The code of a module."""
    return compile(tree, str(ROOT / file), "exec", dont_inherit=True)


_REACHED = "__reached_blocks__"


class Blocks:
    """The blocks of statements in the functions of a file, numbered from a first number on."""

    def __init__(self, file: str, first: int) -> None:
        self.file = file
        self.by_line: dict[int, int] = {}
        self._first = self._next = first
        for function in self._functions(_parsed(file)):
            self._number(function)
        self.numbers = range(first, self._next)

    def marked(self, tree: ast.Module) -> CodeType:
        """The code of a module of which each block says that it was reached."""
        self._next = self._first
        for function in self._functions(tree):
            self._number(function, is_marked=True)
        return compiled(ast.fix_missing_locations(tree), self.file)

    @staticmethod
    def _functions(tree: ast.AST) -> list[ast.AST]:
        """The outermost functions, in their order."""
        found: list[ast.AST] = []
        for node in ast.iter_child_nodes(tree):
            found += [node] if isinstance(node, ast.FunctionDef) else Blocks._functions(node)
        return found

    def _number(self, node: ast.AST, *, is_marked: bool = False) -> None:
        for _, value in ast.iter_fields(node):
            parts = [part for part in value if isinstance(part, ast.AST)] if isinstance(value, list) else []
            if parts and isinstance(parts[0], ast.stmt):
                number, self._next = self._next, self._next + 1
                for part in parts:
                    self.by_line.update(dict.fromkeys(range(part.lineno, (part.end_lineno or part.lineno) + 1), number))
                if is_marked:
                    mark = ast.parse(f"{_REACHED}[{number}] = 1").body[0]
                    for inner in ast.walk(mark):
                        ast.copy_location(inner, parts[0])
                    value.insert(int(_is_text(parts[0])), mark)
            for part in parts:
                self._number(part, is_marked=is_marked)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def loading(code_of: Callable[[str], CodeType | None]) -> None:
    """Load the files of which there is other code with that."""
    unchanged = importlib.machinery.SourceFileLoader.get_code

    def get_code(loader: importlib.machinery.SourceFileLoader, name: str) -> CodeType | None:
        path = Path(loader.path)
        file = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT / "nmlgen") else ""
        return (file and code_of(file)) or unchanged(loader, name)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


def codes(code: CodeType) -> Iterator[CodeType]:
    """A piece of code and those in it, in their order."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from codes(part)


def place(code: CodeType) -> tuple[str, str, int]:
    """What tells a function: its file, its name, its line."""
    return code.co_filename, code.co_name, code.co_firstlineno


class Functions:
    """The functions that there are, by their places, to be given other code."""

    def __init__(self, blocks: dict[str, Blocks]) -> None:
        self._blocks = blocks
        self._known: dict[tuple[str, str, int], list[FunctionType]] = defaultdict(list)
        self._remembering: list[_lru_cache_wrapper[object]] = []
        inside = tuple(str(ROOT / where) for where in WHERE)
        for file in blocks:
            importlib.import_module(file.removesuffix(".py").replace("/", "."))
        gc.unfreeze()  # what is frozen, as `tests/conftest.py` does it, would not be told
        for thing in gc.get_objects():
            if isinstance(thing, FunctionType) and thing.__code__.co_filename.startswith(inside):
                self._known[place(thing.__code__)].append(thing)
            elif isinstance(thing, _lru_cache_wrapper) and _may_hold_results(str(thing.__module__)):
                self._remembering.append(thing)

    def change(self, mutant: Mutant) -> bool:
        """Give the changed function its code; false where the change is in none, or it cannot be told which."""
        blocks = self._blocks[mutant.file]
        old, new = blocks.marked(_parsed(mutant.file)), blocks.marked(mutated(mutant))
        pairs = list(zip(codes(old), codes(new), strict=True))
        if any(_own(was) != _own(now) and not was.co_flags & inspect.CO_OPTIMIZED for was, now in pairs):
            return False
        changed = False
        for was, now in pairs:
            same = [function for function in self._known.get(place(was), ()) if function.__code__ == was]
            for function in same if was != now else ():
                function.__code__ = now
                changed = True
        if changed:
            for remembering in self._remembering:
                remembering.cache_clear()
        return changed


def _may_hold_results(module: str) -> bool:
    """Whether what a module's functions remember may come of the changed files, which it does not below them."""
    return module.startswith("nmlgen.") and not module.startswith(
        ("nmlgen.namelist.", "nmlgen.resources", "nmlgen.units")
    )


def _own(code: CodeType) -> tuple[object, ...]:
    constants = tuple((type(part), part) for part in code.co_consts if not isinstance(part, CodeType))
    return code.co_code, constants, code.co_names


@dataclass
class Reach:
    """Which tests reach which blocks, and what each test takes. `blocks` has for each file and the number of a block in
    it a number whose bits are the tests, in the order of `seconds`."""

    seconds: dict[str, float] = field(default_factory=dict)
    blocks: dict[str, dict[str, str]] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Reach:
        """What was kept, without the files that are others now."""
        kept = cls(**json.loads(path.read_text(encoding="utf-8")))
        kept.blocks = {file: blocks for file, blocks in kept.blocks.items() if kept.digests[file] == digest(file)}
        return kept

    def reaching(self, mutant: Mutant, blocks: Blocks) -> set[str]:
        """The tests that reach a mutant, of those that were recorded."""
        known = self.blocks[mutant.file]
        number = str(blocks.by_line.get(mutant.begins, -1) - blocks.numbers.start)
        bits = 0
        for block, tests in known.items():
            if block == number or not mutant.is_inside:
                bits |= int(tests, 16)
        return {name for place, name in enumerate(self.seconds) if bits >> place & 1}

    def tests(self, mutant: Mutant, blocks: Blocks, items: dict[str, pytest.Item]) -> set[str]:
        """The tests that may reach a mutant: one that is not known may."""
        if mutant.file not in self.blocks:
            return set(items)
        return self.reaching(mutant, blocks) & set(items) | set(items) - set(self.seconds)

    def beside(self, mutant: Mutant, blocks: Blocks, items: dict[str, pytest.Item]) -> list[pytest.Item]:
        """The tests for a mutant that stand beside its module, the quickest first."""
        return self._in_order(set(beside(mutant, items)) & self.tests(mutant, blocks, items), items)

    def others(
        self, mutant: Mutant, blocks: Blocks, items: dict[str, pytest.Item], most: int, seed: int
    ) -> list[pytest.Item]:
        """Some of the tests for a mutant that do not stand beside its module, drawn by the seed."""
        others = sorted(self.tests(mutant, blocks, items) - set(beside(mutant, items)))
        return self._in_order(random.Random(seed).sample(others, min(most, len(others))), items)

    def _in_order(self, names: Iterable[str], items: dict[str, pytest.Item]) -> list[pytest.Item]:
        return [items[name] for name in sorted(names, key=lambda name: (self.seconds.get(name, 0.0), name))]


def beside(mutant: Mutant, names: Iterable[str]) -> list[str]:
    """The tests that stand beside a mutant's module, or whose file names it, and the wide ones."""
    near = re.compile(nearness(mutant.file))
    return [
        name
        for name in names
        if near.search(name) or name.startswith(WIDE) or imports(name.partition("::")[0], mutant.file)
    ]


def digest(file: str) -> str:
    """A file's mark."""
    return hashlib.sha256((ROOT / file).read_bytes()).hexdigest()


def nearness(file: str) -> str:
    """What the names of the tests have that stand beside a module: its name, a word of it, the code of one of its
    rules."""
    stem = Path(file).stem
    return "|".join([*(f"test_{name}\\.py" for name in (stem, *stem.split("_"))), *rules_in(file)])


@cache
def imports(test: str, file: str) -> bool:
    """Whether a file of tests names a module, or the code of one of its rules."""
    text = _text(test)
    return any(name in text for name in (file.removesuffix(".py").replace("/", "."), *rules_in(file)))


@cache
def rules_in(file: str) -> list[str]:
    """The codes of the rules that a module has."""
    return re.findall(r'^    code = "(\w+)"', _text(file), re.MULTILINE)


@cache
def _text(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")


class Tester:
    """A plug-in of pytest that takes the place of its loop over the tests."""

    def __init__(self, sample: list[Mutant], given: argparse.Namespace, blocks: dict[str, Blocks]) -> None:
        self.sample = sample
        self.blocks = blocks
        self.given = given
        self.noticed: set[int] = set()
        self.sharp: Counter[str] = Counter()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try all mutants with the tests beside them, then those that are left with those that reach them."""
        items = {item.nodeid: item for item in session.items}
        functions = Functions(self.blocks)
        registry = importlib.import_module("nmlgen.namelist.registry")
        for release in registry.releases():
            registry.load_registry(release)  # read once for all copies
        gc.collect()
        gc.freeze()
        with tempfile.TemporaryDirectory() as directory:
            place = Path(directory)
            reach = self._reach(session)
            most, seed = self.given.most, self.given.seed
            self._try_all(
                range(len(self.sample)),
                lambda mutant: reach.beside(mutant, self.blocks[mutant.file], items),
                functions,
                place,
            )
            left = [number for number in range(len(self.sample)) if number not in self.noticed]
            if not self.given.near:
                self._try_all(
                    left,
                    lambda mutant: reach.others(mutant, self.blocks[mutant.file], items, most, seed),
                    functions,
                    place,
                )
            self._take_back(items, place)
        return True

    def _reach(self, session: pytest.Session) -> Reach:
        kept = Path(self.given.reach) if self.given.reach else None
        if kept is not None and kept.exists():
            return Reach.read(kept)
        reach = recorded(session, self.blocks)
        if kept is not None:
            kept.write_text(json.dumps(vars(reach)), encoding="utf-8")
        return reach

    def _try_all(
        self,
        numbers: Sequence[int],
        tests_of: Callable[[Mutant], list[pytest.Item]],
        functions: Functions,
        directory: Path,
    ) -> None:
        """Try mutants, a few at a time; the name of the test that noticed one is left in the directory."""
        running: dict[int, int] = {}
        tried = 0
        for number in [*numbers, None]:
            while running and (number is None or len(running) >= self.given.jobs):
                process, status = os.wait()
                if process not in running:
                    continue
                done = running.pop(process)
                tried += 1
                if status:
                    self.noticed.add(done)
                    left = directory / str(done)
                    self.sharp.update([left.read_text(encoding="utf-8")] if left.exists() else [])
                else:
                    print(f"not yet: {self.sample[done]}", file=sys.stderr, flush=True)
                if tried % 10 == 0:
                    print(f"{tried} of {len(numbers)} tried, {len(self.noticed)} noticed", file=sys.stderr, flush=True)
            if number is not None:
                mutant = self.sample[number]
                tests = sorted(tests_of(mutant), key=lambda item: -self.sharp[item.nodeid])
                running[forked(partial(is_noticed, mutant, tests, functions, directory / str(number)))] = number

    def _take_back(self, items: dict[str, pytest.Item], directory: Path) -> None:
        """Count no mutant as noticed by a test that fails without it."""
        by_test: dict[str, set[int]] = defaultdict(set)
        for path in directory.iterdir():
            by_test[path.read_text(encoding="utf-8")].add(int(path.name))
        for name, numbers in sorted(by_test.items()):
            _, status = os.waitpid(forked(partial(fails, items[name])), 0)
            if status:
                print(f"{name} fails without a mutant", file=sys.stderr)
                self.noticed -= numbers


def recorded(session: pytest.Session, blocks: dict[str, Blocks]) -> Reach:
    """What running all tests once in a copy of this process reaches."""
    reached: bytearray = getattr(builtins, _REACHED)
    nothing = bytes(len(reached))

    def record(result: Path) -> bool:
        reach = Reach(digests={file: digest(file) for file in blocks})
        bits: dict[int, int] = defaultdict(int)
        begun = time.process_time()
        reached[:] = nothing
        for number, (item, _) in enumerate(outcomes(session.items)):
            reach.seconds[item.nodeid] = round(time.process_time() - begun, 4)
            for block in re.finditer(b"\1", reached):
                bits[block.start()] |= 1 << number
            reached[:] = nothing
            begun = time.process_time()
            if number % 500 == 499:
                print(f"{number + 1} of {len(session.items)} tests recorded", file=sys.stderr, flush=True)
        for file, those in blocks.items():
            kept = {
                str(number - those.numbers.start): f"{bits[number]:x}" for number in those.numbers if number in bits
            }
            reach.blocks[file] = kept
        result.write_text(json.dumps(vars(reach)), encoding="utf-8")
        return False

    with tempfile.TemporaryDirectory() as directory:
        result = Path(directory) / "reach.json"
        os.waitpid(forked(partial(record, result)), 0)
        return Reach(**json.loads(result.read_text(encoding="utf-8")))


def forked(work: Callable[[], bool]) -> int:
    """Do work in a copy of this process that says nothing; it ends with 1 where the work gives true or fails."""
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        status = int(work())
    finally:
        sys.stderr.flush()
        os._exit(status)


def begin_to_count() -> None:
    """What this process does from now on ends after a minute of CPU."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + CPU_LIMIT, most))


class Counting:
    """A plug-in of pytest that gives each test its minute."""

    def pytest_runtest_setup(self) -> None:
        """Count anew."""
        begin_to_count()


def outcomes(items: list[pytest.Item]) -> Iterator[tuple[pytest.Item, bool]]:
    """Run tests one by one: each, and whether it failed."""
    for item, following in zip_longest(items, items[1:]):
        begin_to_count()
        yield item, any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))


def fails(item: pytest.Item) -> bool:
    """Whether a test fails as it is."""
    return any(failed for _, failed in outcomes([item]))


def is_noticed(mutant: Mutant, tests: list[pytest.Item], functions: Functions, result: Path) -> bool:
    """Whether a test fails with the mutant's code, in this process or, if need be, in a new one; which one is left in
    a file where it is known."""
    if functions.change(mutant):
        name = next((item.nodeid for item, failed in outcomes(tests) if failed), None)
        if name is not None:
            result.write_text(name, encoding="utf-8")
        return name is not None
    if not tests:
        return False
    names = [item.nodeid for item in tests]
    command = [sys.executable, __file__, "--within", mutant.file, str(mutant.number)]
    return subprocess.run(command, input="\n".join(names), text=True, capture_output=True, check=False).returncode != 0


def within(file: str, number: int) -> int:
    """Run the tests that standard input names with a module's changed text."""
    chosen = next(mutant for mutant in mutants(file) if mutant.file == file and mutant.number == number)
    code = compiled(mutated(chosen), file)
    loading(lambda loaded: code if loaded == file else None)
    begin_to_count()
    return pytest.main(["-x", "-q", "-p", "no:cacheprovider", *sys.stdin.read().splitlines()], plugins=[Counting()])


def main() -> int:
    """Draw, try, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", type=int, default=0, dest="first", help="leave out so many of the sample")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--most", type=int, default=400, help="so many tests that do not stand beside the module")
    parser.add_argument("--only", default="", help="files whose path holds this text")
    parser.add_argument("--reach", help="where to keep which tests reach which lines")
    parser.add_argument("--quick", action="store_true", help="leave out the verdicts of the real model")
    parser.add_argument("--near", action="store_true", help="ask only the tests that stand beside a module")
    parser.add_argument("--tests", nargs="+", help="files of tests to collect in place of all")
    parser.add_argument("--list", action="store_true", help="print the sample, try nothing")
    parser.add_argument("--within", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    if given.within:
        return within(given.within[0], int(given.within[1]))
    every = mutants(given.only)
    sample = random.Random(given.seed).sample(every, min(given.count, len(every)))[given.first :]
    bounds = bounds_on_work()
    print(f"{len(sample)} of {len(every)} mutants, seed {given.seed}; {bounds} bounds on work left out", flush=True)
    if given.list:
        print("\n".join(map(str, sample)))
        return 0
    blocks: dict[str, Blocks] = {}
    number = 0
    for file in sorted({mutant.file for mutant in mutants("")}):
        blocks[file] = Blocks(file, number)
        number = blocks[file].numbers.stop
    setattr(builtins, _REACHED, bytearray(number))
    loading(lambda file: blocks[file].marked(_parsed(file)) if file in blocks else None)
    tests = given.tests or [*TESTS, *(() if given.quick else VERDICTS)]
    tester = Tester(sample, given, blocks)
    pytest.main(
        ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", *tests],
        plugins=[tester],
    )
    noticed = len(tester.noticed)
    for number, mutant in enumerate(sample):
        if number not in tester.noticed:
            print(mutant)
    print(f"noticed {noticed} of {len(sample)}: {100 * noticed / max(1, len(sample)):.1f} %")
    return 0 if noticed >= ENOUGH * len(sample) else 1


if __name__ == "__main__":
    sys.exit(main())
