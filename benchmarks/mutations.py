"""Read mutated namelists or run scripts: nothing may raise, nothing may hang, and nothing may be executed.

    python benchmarks/mutations.py namelists [COUNT]
    python benchmarks/mutations.py scripts [COUNT] [--seed SEED]

Each namelist is that of the example with a few letters changed, taken away or put in; the slowest one is printed.

Each script is one of the corpus of the tests with a few letters or lines changed, taken away, put in, doubled or taken
from another one, and with commands in it that would leave a *canary*, a file, if anything ran them or did what they
say. While scripts are read an audit hook refuses to start programs and to write files. The run stops at the first
exception, at the first script that takes more than two seconds of CPU or two GiB of memory, and at the first deed that
the hook saw.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nmlgen
from nmlgen.errors import InputError
from nmlgen.files import Files
from nmlgen.script.evaluate import evaluate
from nmlgen.script.parser import parse
from nmlgen.script.worlds import worlds
from nmlgen.source import Source

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
CORPUS = ROOT / "tests" / "script" / "corpus"
CPU_LIMIT = 60.0  # seconds for one script: it hangs
MEMORY_LIMIT = 2 * 1024**3  # bytes of address space
LETTERS = (
    "",
    "'",
    '"',
    "&",
    "/",
    "=",
    ",",
    "*",
    "\n",
    "%",
    "(",
    ")",
    "!",
    "#",
    "$",
    ":",
    "9" * 12,
    "\0",
    "é",
    "1.e",
    "t",
    "&end",
)
SHELL_LETTERS = (
    *("'", '"', "`", "$", "$(", "$((", "))", "${", "}", "{", "[", "]", "[[", "]]", "((", "<<", "<<-", "<<<", ">", ">>"),
    *("|", "||", "&&", ";", ";;", "&", "!", "\\", "\\\n", "\n", "\t", " ", "#", "*", "?", "~", "=", "+=", "\0", "\r"),
    *("é", "\u2028", "\ue000", "\ufeff", "9" * 30, "-", "${!", "${#", "@", "%%", "//", ":-", "EOF", "\nEOF\n", "1"),
    *("if ", " then ", "\nfi\n", "for ", " in ", " do ", "\ndone\n", "while ", "case ", "esac", "function ", "exit\n"),
    *("set -e\n", "set -u\n", "eval ", "export ", "local ", "read ", "return\n", "break\n", "((i++))", "$((1/0))"),
    *("$((2**99999))", "{1..999999999}", "$(seq 999999999)", "while :; do x=$x$x; done\n", "f() { f; f; }; f\n"),
    *("printf '%999999999d'", "${x:=$x$x}", "x=aa; for i in {1..99}; do x=$x$x; done\n", ". $0\n", "1<<99999999"),
)
CANARIES = (
    "touch {canary}",
    "x=$(touch {canary})",
    "x=`touch {canary}`",
    'eval "touch {canary}"',
    "echo x > {canary}",
    "echo x | tee {canary}",
    "cat > {canary} << END\n$(touch {canary}) `touch {canary}`\nEND",
    ". {sourced}",
    "source {sourced}",
    "sed -i s/x/y/e {sourced}",
    "sed -n 'w {canary}' {sourced}",
    "echo 'touch {canary}' | sed 's/^/exec /e'",
    "awk 'BEGIN {{ system(\"touch {canary}\") }}'",
    "date > {canary}",
    'date -d "$(touch {canary})"',
    "bash -c 'touch {canary}'",
    "echo 'touch {canary}' | sh",
    "trap 'touch {canary}' EXIT",
    "exec touch {canary}",
    "x=$(( a[$(touch {canary})] ))",
    "[[ -v 'a[$(touch {canary})]' ]]",
    "echo ${{x:-$(touch {canary})}}",
    "cat <(touch {canary})",
    "cp {sourced} {canary}",
    "mkdir {canary}",
    "let 'a[$(touch {canary})]=1'",
    "printf -v 'a[$(touch {canary})]' x",
    "`echo touch` {canary}",
    "$(cat {sourced})",
    'python3 -c \'open("{canary}", "w")\'',
)
DEEDS = (
    *("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.startfile", "pty.spawn"),
    *("subprocess.Popen", "socket.connect", "socket.bind", "exec.shell", "os.remove", "os.rename", "os.rmdir"),
    *("os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown", "os.utime", "os.kill", "os.putenv"),
)


class Executed(BaseException):
    """What was read did something. Not an Exception, so that no handler takes it for an ordinary one."""


class Guard:
    """An audit hook that refuses deeds while it is on, and remembers each."""

    def __init__(self) -> None:
        self.deeds: list[str] = []
        self.is_on = False
        sys.addaudithook(self._watch)

    def _watch(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.is_on and (event in DEEDS or (event == "open" and self._writes(arguments))):
            self.deeds.append(f"{event} {arguments}")
            raise Executed(self.deeds[-1])

    @staticmethod
    def _writes(arguments: tuple[object, ...]) -> bool:
        flags = arguments[2]
        return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))

    def __enter__(self) -> Guard:
        self.is_on = True
        return self

    def __exit__(self, *_: object) -> None:
        self.is_on = False

    def check(self, canary: Path) -> None:
        """Prove that deeds are seen and refused, even those whose exception is swallowed."""
        for deed in (
            lambda: os.system("true"),
            lambda: subprocess.run(["true"], check=False),
            lambda: os.execv("/bin/true", ["true"]),
            lambda: canary.write_text("x", encoding="utf-8"),
            os.fork,
        ):
            with self:
                try:
                    deed()
                except Executed:
                    continue
            sys.exit("the guard does not see what it should")
        self.deeds.clear()


def mutated(text: str, generator: random.Random) -> str:
    """The text with one to four places changed."""
    for _ in range(generator.randint(1, 4)):
        place = generator.randrange(len(text) + 1)
        text = text[:place] + generator.choice(LETTERS) + text[place + generator.choice((0, 0, 1, 1, 5, 40)) :]
    return text


def mutated_script(text: str, others: list[str], generator: random.Random) -> str:
    """The script with up to six places changed: letters, whole lines, stretches of other scripts."""
    for _ in range(generator.randint(0, 6)):
        place = generator.randrange(len(text) + 1)
        lines = text.splitlines(keepends=True) or ["\n"]
        number = generator.randrange(len(lines))
        kind = generator.randrange(8)
        if kind < 5:
            length = generator.choice((0, 0, 1, 1, 2, 5, 40))
            text = text[:place] + generator.choice(("", *SHELL_LETTERS)) + text[place + length :]
        elif kind == 5:
            text = "".join(lines[:number] + lines[number + generator.randint(1, 3) :])
        elif kind == 6:
            text = "".join(lines[:number] + lines[generator.randrange(len(lines)) :])
        else:
            other = generator.choice(others)
            start = generator.randrange(len(other))
            text = text[:place] + other[start : start + generator.choice((10, 100, 1000))] + text[place:]
    return text


def with_canaries(text: str, canary: Path, sourced: Path, generator: random.Random) -> str:
    """The script with one to three commands in it that would leave the canary."""
    lines = text.splitlines(keepends=True)
    for _ in range(generator.randint(1, 3)):
        command = generator.choice(CANARIES).format(canary=canary, sourced=sourced)
        lines.insert(generator.randrange(len(lines) + 1), f"{command}\n")
    return "".join(lines)


def read_namelists(count: int) -> None:
    """Run, and print how many were linted, how many had errors, and the slowest."""
    generator = random.Random(2024)
    files = nmlgen.build(EXAMPLE).files
    texts = {name: data.decode() for name, data in files.items() if "namelist" in name.lower()}
    slowest, with_errors = 0.0, 0
    with tempfile.TemporaryDirectory() as directory:
        for number in range(count):
            chosen = (
                generator.choice(sorted(texts)) if number % 4 == 0 else max(texts, key=lambda name: len(texts[name]))
            )
            for name, text in texts.items():
                made = mutated(text, generator) if name == chosen else text
                (Path(directory) / name).write_bytes(made.encode("utf-8", "surrogateescape"))
            start = time.process_time()
            report = nmlgen.lint([directory], ntasks=256)
            slowest = max(slowest, time.process_time() - start)
            with_errors += bool(report.errors)
    print(
        f"{count} mutated namelists linted, {with_errors} with errors; the slowest took {1000 * slowest:.0f} ms of CPU"
    )


def lint_text(path: Path, text: str) -> None:
    """Lint a script that is on no disk; read and evaluate what is no script any more."""
    try:
        nmlgen.lint([path], files=Files({path.resolve(): text}), is_isolated=True)
    except InputError:
        worlds(evaluate(parse(Source(path.name, text)), directory=path.parent))


def read_scripts(count: int, seed: int) -> None:
    """Run, and print how many scripts were read, how many had errors of syntax, and the slowest."""
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    generator = random.Random(seed)
    seeds = [path.read_text(encoding="utf-8") for path in sorted(CORPUS.iterdir()) if path.is_file()]
    guard = Guard()
    slowest, broken = 0.0, 0
    signal.signal(signal.SIGPROF, _too_long)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        canary, sourced = directory / "canary", directory / "sourced.sh"
        sourced.write_text(f"touch {canary}\nsourced=yes\n", encoding="utf-8")
        guard.check(canary)
        for number in range(count):
            text = mutated_script(generator.choice(seeds), seeds, generator)
            text = with_canaries(text, canary, sourced, generator)
            start = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, CPU_LIMIT)
            try:
                with guard:
                    lint_text(directory / "mutant.sh", text)
            except BaseException:
                signal.setitimer(signal.ITIMER_PROF, 0)
                kept = Path(tempfile.gettempdir()) / f"mutant-{seed}-{number}.sh"
                kept.write_text(text, encoding="utf-8", errors="surrogatepass")
                print(f"script {number} is kept as {kept}", file=sys.stderr)
                raise
            signal.setitimer(signal.ITIMER_PROF, 0)
            slowest = max(slowest, time.process_time() - start)
            broken += bool(parse(Source("mutant.sh", text)).problems)
            if guard.deeds or sorted(directory.iterdir()) != [sourced]:
                sys.exit(f"script {number} was executed: {guard.deeds} {sorted(directory.iterdir())}\n{text}")
    print(
        f"{count} mutated scripts read, {broken} with errors of syntax, nothing executed; "
        f"the slowest took {1000 * slowest:.0f} ms of CPU"
    )


def _too_long(*_: object) -> None:
    raise TimeoutError(f"more than {CPU_LIMIT} s of CPU")


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["namelists", "scripts"])
    parser.add_argument("count", nargs="?", type=int)
    parser.add_argument("--seed", type=int, default=2024)
    arguments = parser.parse_args()
    if arguments.kind == "namelists":
        read_namelists(arguments.count or 100_000)
    else:
        read_scripts(arguments.count or 50_000, arguments.seed)


if __name__ == "__main__":
    main()
