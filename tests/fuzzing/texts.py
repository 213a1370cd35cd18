"""Mutated namelists, run scripts and logs, and the calls that read them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import icon_logs

from fuzzing.cases import Case
from fuzzing.hostile import STRINGS
from fuzzing.limited import Ended

ROOT = Path(__file__).parents[2]


def _linted(ends: list[Ended]) -> bool:
    return ends[0].code in (0, 1)


# --- namelists

_ITEM = re.compile(r"(?m)^(\s*)([\w%(),: ]+?)(\s*=\s*)(.*)$")
_VALUES = (
    *("1", "-1", "0", "2147483647", "2147483648", "9" * 5000, "1e308", "1.d0", "1e9999", "nan", "+inf", "-Infinity"),
    *(
        ".true.",
        "F",
        ".tralse.",
        "T F T",
        "'a'",
        "'a''b'",
        '"a"',
        "'",
        '"',
        "''",
        "'" + "a" * 5000 + "'",
        "'\t\x1b[2J'",
    ),
    *(
        "3*1",
        "1000000000*0",
        "99999999999999999999*1",
        "3*",
        "3*,",
        "2*'a', 3*",
        "1,,2",
        ",,,,",
        "1 2 3",
        "1;2",
        "(1.,2.)",
    ),
    *(
        "z'FF'",
        "o'7'",
        "b'1'",
        "1_i4",
        "$x",
        "${x}",
        "/",
        "&",
        "&end",
        "! a",
        "= 1",
        "a = b",
        "'PT1H'",
        "'P1D'",
        "'PT0S'",
    ),
    *("'2008-09-01T00:00:00Z'", "'9999-12-31T23:59:59Z'", "'all'", "'group:all'", "'-u'", "," * 3000, "1 " * 20000),
    *("'u', 'v', 'temp'", "'<output_filename>_<datetime>'", "0, 864000, 3600", "0, 1e308, 1e-308", "1.5", "'async'"),
)
_SUBSCRIPTS = (
    *(
        "(1)",
        "(0)",
        "(-5)",
        "(1:3)",
        "(3:1)",
        "(::2)",
        "(1:1000000000)",
        "(1:1000000000:7)",
        "(999999999999999999999)",
        "(,)",
    ),
    *(
        "()",
        "(",
        "(1)(2)",
        "%a",
        "%a%b",
        "(1)%a(2)",
        "(a)",
        "(1.5)",
        "(" + "1," * 500 + "1)",
        "(" + "9" * 5000 + ")",
        "(:0)",
    ),
)


@cache
def experiments() -> tuple[dict[str, str], ...]:
    """Master namelists with the namelists of their models."""
    homes = [*sorted((ROOT / "tests/presets/originals").iterdir()), *sorted((ROOT / "tests/golden").glob("*/expected"))]
    found = []
    for home in homes:
        if home.is_dir():
            texts = {path.name: path.read_text() for path in sorted(home.iterdir()) if "namelist" in path.name.lower()}
            found.append(texts | {path.name: path.read_text() for path in home.glob("NAMELIST*")})
    return tuple(found)


def _changed_namelist(text: str, others: Sequence[str], pick: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    for _ in range(pick.choice((1, 2, 3, 8, 30))):
        if not lines:
            break
        number = pick.randrange(len(lines))
        match = _ITEM.match(lines[number])
        turn = pick.random()
        if match and turn < 0.45:
            lines[number] = f"{match[1]}{match[2]}{match[3]}{pick.choice(_VALUES)}\n"
        elif match and turn < 0.6:
            lines[number] = f"{match[1]}{match[2]}{pick.choice(_SUBSCRIPTS)}{match[3]}{match[4]}\n"
        elif turn < 0.7:
            lines.insert(number, pick.choice(pick.choice(others).splitlines(keepends=True) or ["\n"]))
        elif turn < 0.78:
            del lines[number]
        elif turn < 0.84:
            first = pick.randrange(len(lines))
            lines[number:number] = lines[first : first + pick.choice((1, 5, 40))]
        elif turn < 0.9:
            lines[number] = lines[number].rstrip("\n") + pick.choice(
                (",", " /", " &", "'", "! x", "\r", "\\", " = ", "&end\n")
            )
        else:
            lines.insert(
                number, pick.choice((f"&{'x' * 300}\n", "&\n", "/\n", "&end\n", "$run_nml\n", "&run_nml nsteps=1 /\n"))
            )
    return "".join(lines)


def namelists(generator: random.Random) -> Iterator[Case]:
    """One or all files of an experiment changed; linted, imported, compared and shown."""
    base = experiments()
    every = [text for texts in base for text in texts.values()]
    while True:
        texts = dict(generator.choice(base))
        chosen = sorted(texts) if generator.random() < 0.2 else [generator.choice(sorted(texts))]
        changed = {name: _changed_namelist(texts[name], every, generator) for name in chosen}
        files = {f"run/{name}": text.encode("utf-8", "replace") for name, text in (texts | changed).items()}
        files |= {f"before/{name}": text.encode() for name, text in texts.items()}
        show = generator.choice(
            (
                ("import", "run", "-o", "made.yaml", "--ntasks", "64"),
                ("diff", "before", "run"),
                ("ranks", "run", "--ntasks", "64"),
                ("volume", "run", "--ntasks", "64"),
                ("migrate", "run", "--to", "2025.10", "--fix"),
                ("lint", "run", "--ntasks", "64", "--fix"),
            )
        )
        yield Case(files, (("lint", "run", "--ntasks", "64"), show), _linted)


# --- run scripts

_WORDS = (
    *(
        "a",
        "$a",
        '"$a"',
        "${a}",
        "${a:-b}",
        "${#a}",
        "${a%%*b}",
        "${a//x/y}",
        "${a:1:2}",
        "${!a}",
        "${a[@]}",
        "$(( a + 1 ))",
    ),
    *(
        "$(echo a)",
        "`echo a`",
        "'a b'",
        '"a b"',
        "$'a\\n'",
        "{a,b}{1..9}",
        "*.nc",
        "~",
        "$@",
        "$#",
        "$$",
        "$?",
        "$1",
        "-n",
    ),
    *(
        "$(date -d @0)",
        "$(seq 1 99999)",
        "$(printf '%09999d' 1)",
        "$((1 << 62))",
        "$((2 ** 63))",
        "$((9999999999 * a))",
    ),
    *("$(expr 1 + 1)", "$(echo 'a b' | awk '{print $2}')", "$(sed -e 's/a/b/g' <<< aaa)", "$(cut -d, -f2 <<< 1,2)"),
    *(
        "{1..99999999}",
        "${a:0:99999999}",
        "$(yes)",
        "$(head -c 99999999 /dev/zero)",
        "${a/$a/$a$a}",
        "PT1H",
        "2008-09-01",
    ),
)
_COMMANDS = (
    *("a={0}", "export a={0}", "a+={0}", "echo {0} {1}", "cd {0}", "local a={0}", "readonly a={0}", "set -- {0} {1}"),
    *(
        "[[ {0} == {1} ]]",
        "[ {0} -gt {1} ]",
        "test -f {0}",
        "(( a = {0} ))",
        "let a={0}",
        "eval {0}",
        "srun ./icon {0}",
    ),
    *(
        "mkdir -p {0}",
        "ln -s {0} {1}",
        "cp {0} {1}",
        "lfs setstripe -c {0} -S {1} .",
        "printf {0} {1}",
        "read a b <<< {0}",
    ),
    *("#SBATCH --nodes={0}", "#SBATCH --time={0}", "#SBATCH {0}", "export I_MPI_EXTRA_FILESYSTEM={0}", "ulimit -s {0}"),
    *(
        "declare -A a=([x]={0})",
        "a=({0} {1})",
        "a[{0}]={1}",
        "unset a",
        "shift {0}",
        "trap {0} EXIT",
        "mapfile -t a <<< {0}",
    ),
    *(
        "cat > x.namelist << EOF\n&run_nml\n num_lev = {0}\n/\nEOF",
        "cat << 'EOF' > y\n{0}\nEOF",
        "exec {0}",
        ". {0}",
        "exit {0}",
    ),
    *(
        "perl -pe 's/x/{0}/' f",
        "awk '{{ print {0} }}' f",
        "sed -i s/x/{0}/ icon_master.namelist",
        "bc <<< {0}",
        "alias a={0}",
    ),
)
_BLOCKS = (
    *(
        "if {c}; then\n{b}\nfi",
        "if {c}; then\n{b}\nelse\n{b}\nfi",
        "for a in {w} {w}; do\n{b}\ndone",
        "while {c}; do\n{b}\ndone",
    ),
    *(
        "for ((i = 0; i < {w}; i++)); do\n{b}\ndone",
        "case {w} in\n {w}) {c} ;;\n *)\n{b}\n;;\nesac",
        "f() {{\n{b}\n}}\nf {w}",
    ),
    *(
        "(\n{b}\n)",
        "{{\n{b}\n}} > {w}",
        "x=$(\n{b}\n)",
        "until {c}; do\n{b}\ndone",
        "{c} && {{\n{b}\n}} || {c}",
        "! {c} | {c}",
    ),
    *(
        "while read l; do\n{b}\ndone << EOF\n{w}\nEOF",
        "select a in {w}; do\n{b}\ndone",
        "function g {{\n{b}\n}}",
        "{c} & wait",
    ),
)


def _written(pick: random.Random, depth: int) -> str:
    """Commands out of a grammar, nested as deep as `depth`."""
    lines = []
    for _ in range(pick.choice((1, 1, 2, 3))):
        if depth and pick.random() < 0.6:
            block = pick.choice(_BLOCKS)
            for mark, make in (("{c}", lambda: _command(pick)), ("{w}", lambda: _word(pick))):
                while mark in block:
                    block = block.replace(mark, make().replace("{", "{{").replace("}", "}}"), 1)
            parts = block.split("{b}")
            text = parts[0]
            for part in parts[1:]:
                text += _written(pick, depth - 1).replace("{", "{{").replace("}", "}}") + part
            lines.append(text.replace("{{", "{").replace("}}", "}"))
        else:
            lines.append(_command(pick))
    return "\n".join(lines)


def _word(pick: random.Random) -> str:
    return pick.choice(_WORDS) if pick.random() < 0.93 else pick.choice(STRINGS)


def _command(pick: random.Random) -> str:
    return (
        pick.choice(_COMMANDS)
        .replace("{0}", _word(pick))
        .replace("{1}", _word(pick))
        .replace("{{", "{")
        .replace("}}", "}")
    )


@cache
def scripts_of_others() -> tuple[str, ...]:
    """Run scripts: the corpus of the tests, the examples, what is built."""
    paths = [*sorted((ROOT / "tests/script/corpus").iterdir()), *sorted((ROOT / "examples").glob("*.run"))]
    paths += sorted((ROOT / "tests/golden").glob("*/expected/*.sbatch"))
    return tuple(path.read_text(encoding="utf-8", errors="replace") for path in paths if path.is_file())


def scripts(generator: random.Random) -> Iterator[Case]:
    """Scripts of others with commands put in, lines moved, and nested constructs; linted, imported, compared."""
    base = scripts_of_others()
    while True:
        seed = generator.choice(base)
        lines = seed.splitlines(keepends=True)
        for _ in range(generator.choice((0, 1, 2, 4))):
            number = generator.randrange(len(lines) + 1)
            turn = generator.random()
            if turn < 0.6:
                lines.insert(number, _written(generator, generator.choice((0, 1, 2, 4))) + "\n")
            elif turn < 0.75:
                other = generator.choice(base).splitlines(keepends=True)
                first = generator.randrange(len(other) + 1)
                lines[number:number] = other[first : first + generator.choice((1, 10, 60))]
            elif turn < 0.9:
                del lines[number : number + generator.choice((1, 2, 20))]
            else:
                lines[number:number] = ["".join(lines[number : number + 3]) * generator.choice((3, 200))]
        text = "".join(lines) if generator.random() < 0.8 else "#!/bin/bash\n" + _written(generator, 6)
        if generator.random() < 0.1:
            text = text.replace("\n", "\r\n")
        show = generator.choice(
            (
                ("import", "exp.run", "-o", "made.yaml", "--ntasks", "64"),
                ("diff", "seed.run", "exp.run"),
                ("lint", "exp.run", "--fix"),
                ("lint", ".", "--format", generator.choice(("json", "sarif", "github", "junit", "gitlab"))),
                ("ranks", "exp.run"),
                ("migrate", "exp.run", "--to", "2025.10"),
            )
        )
        files = {
            "exp.run": text.encode("utf-8", "surrogateescape"),
            "seed.run": seed.encode("utf-8", "surrogateescape"),
        }
        yield Case(files, (("lint", "exp.run"), show), _linted)


# --- logs

_FIGURES = (
    *(
        "NaN",
        "Inf",
        "****",
        "-1",
        "0",
        "1e308",
        "9" * 5000,
        "",
        "0.0",
        "1E+400",
        "-0.000",
        "00:00:00",
        "9999999",
        "1.2.3",
    ),
    *("12h99m99s", "1d02h", "****************", "-Infinity", "\x1b[31m", "\u0663", "1,5", "::error::a", "=1+1"),
)
_NUMBER = re.compile(r"\d[\d.:hms]*")


def logs(generator: random.Random) -> Iterator[Case]:
    """Logs of runs with lines doubled, lost, mixed and cut, and other figures; read, compared, calibrated with."""
    base = [icon_logs.text(icon_logs.log(mode=mode)) for mode in ("sync", "async", "joint procs multifile")]
    base += [path.read_bytes() for path in sorted((ROOT / "examples" / "logs").iterdir())]
    while True:
        made = {f"logs/LOG.{number}": _changed_log(base, generator) for number in range(2)}
        show = generator.choice(
            (
                ("compare", *made),
                ("calibrate", "logs", "-o", "made.yaml"),
                ("logs", "logs", "--format", generator.choice(("csv", "json", "text"))),
                ("report", "logs", "-o", "page.html"),
            )
        )
        yield Case(made, (("logs", *made), show), _linted)


def _changed_log(base: Sequence[bytes], pick: random.Random) -> bytes:
    lines = pick.choice(base).decode("utf-8", "surrogateescape").splitlines(keepends=True)
    for _ in range(pick.choice((1, 3, 10, 50))):
        if not lines:
            break
        number = pick.randrange(len(lines))
        turn = pick.random()
        if turn < 0.45:
            found = list(_NUMBER.finditer(lines[number]))
            if found:
                match = pick.choice(found)
                lines[number] = lines[number][: match.start()] + pick.choice(_FIGURES) + lines[number][match.end() :]
        elif turn < 0.6:
            del lines[number : number + pick.choice((1, 3, 30))]
        elif turn < 0.75:
            lines[number:number] = lines[number : number + pick.choice((1, 20))] * pick.choice((1, 2, 50))
        elif turn < 0.85:
            other = pick.choice(base).decode("utf-8", "surrogateescape").splitlines(keepends=True)
            lines.insert(number, pick.choice(other))
        elif turn < 0.95:
            lines[number] = f"{pick.randrange(200)}: {lines[number]}"
        else:
            lines[number] = (
                pick.choice(("\x00" * 50, "\x1b[2J", "a" * 100_000, "\xff\udcff", "\r", " " * 5000)) + lines[number]
            )
    return "".join(lines).encode("utf-8", "surrogateescape")
