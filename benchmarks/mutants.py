"""Change the code of the rules a little, again and again: do the tests notice?

    python benchmarks/mutants.py [--count 500] [--seed 1] [--jobs 2] [--only rules/restart] [--quick] [--list]

Mutants are drawn from `nmlgen/rules`, `nmlgen/experiment` and `nmlgen/script/worlds.py`: a comparison with another
sign, `and` for `or`, a condition turned round, a number that is one more, true for false, a sum for a difference. Each
is put into a copy of the repository, and the tests that have to do with its module are run until one fails. The mutants
that no test noticed are printed, and the share of those that were noticed; it ends with 1 below nine in ten.

What runs for a module: the tests of its name, those that import it, for rules their examples, and in the end the
verdicts of the real model, unless `--quick` leaves these out. Every ten mutants the share so far is said on stderr.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).parent.parent
WHERE = ("nmlgen/rules", "nmlgen/experiment", "nmlgen/script/worlds.py")
ENOUGH = 0.9
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
    """One change: the `number`-th place in a file that can be changed, and what is done there."""

    file: str
    number: int
    line: int
    what: str


class _Changer(ast.NodeTransformer):
    """Counts the places that can be changed, and changes one of them."""

    def __init__(self, chosen: int | None = None) -> None:
        self.places: list[tuple[int, str]] = []
        self._chosen = chosen

    def _is_it(self, node: ast.expr | ast.stmt, what: str) -> bool:
        self.places.append((node.lineno, what))
        return len(self.places) - 1 == self._chosen

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node  # what a message says

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [self.visit(part) for part in node.body]  # not its decorators
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = [self.visit(part) for part in node.body]
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


def mutated(mutant: Mutant) -> str:
    """The text of a mutant's file."""
    tree = ast.parse((ROOT / mutant.file).read_text(encoding="utf-8"))
    return ast.unparse(ast.fix_missing_locations(_Changer(mutant.number).visit(tree)))


def stages(file: str, quick: bool) -> Iterator[list[str]]:
    """The tests that have to do with a module, those that are likeliest to notice first."""
    module = Path(file).stem
    text = (ROOT / file).read_text(encoding="utf-8")
    codes = re.findall(r'^    code = "(\w+)"', text, re.MULTILINE)
    if codes:
        yield ["tests/rules/test_examples.py", "-k", " or ".join(codes)]
    dotted = file.removesuffix(".py").replace("/", ".")
    names = [f"test_{module}.py", *(f"test_{part}.py" for part in module.split("_"))]
    near = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        is_near = path.name in names or dotted in (said := path.read_text(encoding="utf-8"))
        is_near = is_near or any(code in said for code in codes)
        if is_near and "real" not in path.parts and path.name not in ("test_examples.py", "test_verdicts.py"):
            near.append(str(path.relative_to(ROOT)))
    if near:
        yield near
    if not quick:
        yield ["tests/verdicts/test_verdicts.py"]


def is_noticed(mutant: Mutant, copy: Path, quick: bool = False) -> bool:
    """Whether a test fails in a copy of the repository that holds the mutant."""
    target = copy / mutant.file
    target.write_text(mutated(mutant), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        for tests in stages(mutant.file, quick):
            command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
            try:
                done = subprocess.run(
                    command, cwd=copy, env=environment, capture_output=True, timeout=1800, check=False
                )
            except subprocess.TimeoutExpired:
                return True  # it hangs, which is noticed
            if done.returncode not in (0, 5):  # 5: no test was chosen
                return True
        return False
    finally:
        shutil.copyfile(ROOT / mutant.file, target)


def _copies(count: int, directory: Path) -> Queue[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    copies: Queue[Path] = Queue()
    for number in range(count):
        copy = directory / str(number)
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, copy / name)
        copies.put(copy)
    return copies


def main() -> int:
    """Draw, try, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="files whose path holds this text")
    parser.add_argument("--quick", action="store_true", help="leave out the verdicts of the real model")
    parser.add_argument("--list", action="store_true", help="print the sample, try nothing")
    given = parser.parse_args()
    every = mutants(given.only)
    sample = random.Random(given.seed).sample(every, min(given.count, len(every)))
    print(f"{len(sample)} of {len(every)} mutants, seed {given.seed}", flush=True)
    if given.list:
        print("\n".join(f"{m.file}:{m.line}: {m.what}" for m in sample))
        return 0
    with tempfile.TemporaryDirectory() as directory:
        copies = _copies(given.jobs, Path(directory))

        def tried(mutant: Mutant) -> bool:
            copy = copies.get()
            try:
                noticed = is_noticed(mutant, copy, given.quick)
            finally:
                copies.put(copy)
            if not noticed:
                print(f"{mutant.file}:{mutant.line}: {mutant.what}", flush=True)
            return noticed

        noticed = 0
        with ThreadPoolExecutor(given.jobs) as pool:
            for number, is_one in enumerate(pool.map(tried, sample), 1):
                noticed += is_one
                if number % 10 == 0:
                    print(f"{noticed} of {number} noticed", file=sys.stderr, flush=True)
    print(f"noticed {noticed} of {len(sample)}: {100 * noticed / max(1, len(sample)):.1f} %")
    return 0 if noticed >= ENOUGH * len(sample) else 1


if __name__ == "__main__":
    sys.exit(main())
