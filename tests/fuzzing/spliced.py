"""Run scripts, namelists, logs and answers of Slurm that are taken apart into words and lines and put together anew."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import foreign_scripts
import icon_logs

from fuzzing.cases import Case
from fuzzing.hostile import STRINGS
from fuzzing.limited import Ended
from fuzzing.slurm import ANSWERS, PROGRAM, sweep
from fuzzing.texts import experiments

ROOT = Path(__file__).parents[2]
_EDGES = (
    *("0", "-1", "1", "2147483647", "2147483648", "-2147483649", "9223372036854775807", "9223372036854775808"),
    *(
        "18446744073709551616",
        "1e309",
        "1d-999",
        "0x7fffffffffffffff",
        "1.0e+",
        "-.5",
        "007",
        "1,000",
        "\u0661",
        "9" * 400,
    ),
    *("NaN", "-Inf", "1:1:1", "99-99:99:99", "0000-00-00T00:00:00Z", "9999-12-31T23:59:59Z", "P0D", "PT9999999999S"),
)
_ODD = (
    *("\0", "\r", "\x1b[31m", "\x85", "\u2028", "\u202e", "\ufeff", "\udcff", "\udce9\udcff", "\U0001f600", "\u00a0"),
    *(
        "\t" * 80,
        "\x7f",
        "\x08",
        "e\u0301" * 20,
        "\\\n",
        "\\",
        "'",
        '"',
        "`",
        "$",
        "&",
        "/",
        "(",
        ")",
        "{",
        "}",
        "|",
        ";",
    ),
)
_FORMATS = ("text", "json", "sarif", "github", "junit", "gitlab")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9][0-9.:TPZ-]*|\s+|.", re.DOTALL)


def spliced(text: str, others: Sequence[str], pick: random.Random, wraps: Sequence[tuple[str, str]] = ()) -> str:
    """One to six changes of words, lines and parts; a part may be wrapped into a pair of what is before and behind."""
    for _ in range(pick.choice((1, 1, 2, 3, 6))):
        text = (
            pick.choice(_CHANGES)(text, others, pick)
            if not wraps or pick.random() < 0.8
            else _wrapped(text, wraps, pick)
        )
        if len(text) > 400_000:
            break
    return text


def _span(text: str, pick: random.Random, longest: int) -> tuple[int, int]:
    first = pick.randrange(len(text) + 1)
    return first, min(len(text), first + pick.randrange(longest + 1))


def _line_span(text: str, pick: random.Random) -> tuple[int, int]:
    """The first and the last place of one to thirty lines."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    number = pick.randrange(len(starts))
    last = min(len(starts) - 1, number + pick.choice((1, 1, 3, 10, 30)))
    return starts[number], starts[last] if last > number else len(text)


def _word_for_word(text: str, others: Sequence[str], pick: random.Random) -> str:
    """A word becomes another of the same text or of another one."""
    words = [match.span() for match in _WORD.finditer(text) if not match[0].isspace()]
    if not words:
        return text
    first, last = pick.choice(words)
    other = pick.choice(others) if pick.random() < 0.5 else text
    found = _WORD.findall(other[(start := pick.randrange(len(other) + 1)) : start + 300]) or [""]
    return text[:first] + pick.choice(found) + text[last:]


def _number_to_edge(text: str, others: Sequence[str], pick: random.Random) -> str:
    found = [match.span() for match in re.finditer(r"[0-9][0-9.:TPZ+-]*", text)]
    if not found:
        return text
    first, last = pick.choice(found)
    return text[:first] + pick.choice(_EDGES) + text[last:]


def _lines_of_another(text: str, others: Sequence[str], pick: random.Random) -> str:
    other = pick.choice(others)
    first, last = _line_span(other, pick)
    place, _ = _line_span(text, pick)
    return text[:place] + other[first:last] + text[place:]


def _lines_moved(text: str, others: Sequence[str], pick: random.Random) -> str:
    first, last = _line_span(text, pick)
    part, rest = text[first:last], text[:first] + text[last:]
    place, _ = _line_span(rest, pick) if rest else (0, 0)
    return rest[:place] + part + rest[place:]


def _lines_lost(text: str, others: Sequence[str], pick: random.Random) -> str:
    first, last = _line_span(text, pick)
    return text[:first] + text[last:]


def _lines_repeated(text: str, others: Sequence[str], pick: random.Random) -> str:
    first, last = _line_span(text, pick)
    return text[:first] + text[first:last] * pick.choice((2, 2, 3, 50, 400)) + text[last:]


def _odd_inside(text: str, others: Sequence[str], pick: random.Random) -> str:
    first, last = _span(text, pick, 2)
    odd = pick.choice(_ODD) if pick.random() < 0.7 else pick.choice(STRINGS)
    return text[:first] + odd * pick.choice((1, 1, 1, 60)) + text[last:]


def _cut(text: str, others: Sequence[str], pick: random.Random) -> str:
    first, last = _span(text, pick, 30)
    return text[:first] + text[last:]


def _other_line_ends(text: str, others: Sequence[str], pick: random.Random) -> str:
    first, last = (0, len(text)) if pick.random() < 0.5 else _line_span(text, pick)
    return (
        text[:first] + text[first:last].replace("\n", pick.choice(("\r\n", "\r", " \n", "\\\n", "\n\n"))) + text[last:]
    )


def _renamed(text: str, others: Sequence[str], pick: random.Random) -> str:
    """A name becomes another one everywhere."""
    names = re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text)
    if not names:
        return text
    new = (
        pick.choice(names)
        if pick.random() < 0.6
        else pick.choice(("IFS", "PATH", "_", "x" * 3000, "\u00e9", "if", "do"))
    )
    return re.sub(rf"\b{pick.choice(names)}\b", lambda _: new, text)


def _grown(text: str, others: Sequence[str], pick: random.Random) -> str:
    first, last = _span(text, pick, 8)
    return text[:first] + text[first:last] * pick.choice((30, 3000)) + text[last:]


_CHANGES: tuple[Callable[[str, Sequence[str], random.Random], str], ...] = (
    *(_word_for_word, _word_for_word, _word_for_word, _number_to_edge, _number_to_edge, _lines_of_another),
    *(
        _lines_of_another,
        _lines_moved,
        _lines_lost,
        _lines_repeated,
        _odd_inside,
        _cut,
        _other_line_ends,
        _renamed,
        _grown,
    ),
)


def _wrapped(text: str, wraps: Sequence[tuple[str, str]], pick: random.Random) -> str:
    first, last = _line_span(text, pick)
    part = text[first:last]
    for _ in range(pick.choice((1, 1, 2, 5, 40))):
        before, behind = pick.choice(wraps)
        part = before + part + behind
    return text[:first] + part + text[last:]


def _raw(text: str) -> bytes:
    """The bytes of a text, what is no character of UTF-8 included."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _linted(ends: list[Ended]) -> bool:
    return ends[0].code in (0, 1)


# --- run scripts

_WRAPS = (
    *(("if true; then\n", "\nfi\n"), ("if [ $x = 1 ]; then\n", "else\n:\nfi\n"), ("for i in 1 2 3; do\n", "\ndone\n")),
    *(("while read l; do\n", "\ndone < f\n"), ("f() {\n", "\n}\nf a\n"), ("(\n", "\n)\n"), ("{\n", "\n} > log 2>&1\n")),
    *(("x=$(\n", "\n)\n"), ("cat > NAMELIST_x << EOF\n", "\nEOF\n"), ("cat << 'EOF' | bash\n", "\nEOF\n"), ("`", "`")),
    *(
        ("eval '", "'\n"),
        ('bash -c "', '"\n'),
        ("case $1 in\na)\n", "\n;;\nesac\n"),
        ("cat <<-EOF > a.sh\n", "\nEOF\n. a.sh\n"),
    ),
    *(
        ("for ((i=0; i<99999999; i++)); do\n", "\ndone\n"),
        ("until false; do\n", "\ndone\n"),
        ("ssh host << X\n", "\nX\n"),
    ),
    *(
        ("a=([0]=", ")\n"),
        ("[[ ", " ]]\n"),
        ("$((", "))\n"),
        ("${x:-", "}\n"),
        ('"', '"\n'),
        ("'", "'\n"),
        ("coproc ", "\n"),
    ),
    *(
        ("sed -i -e 's/", "/x/' icon_master.namelist\n"),
        ("awk '{", "}' f\n"),
        ("python3 - << P\n", "\nP\n"),
        ("#", "\n"),
    ),
)


@cache
def _scripts() -> tuple[str, ...]:
    """Scripts that ship, and those that tests keep."""
    found = [
        path.read_text(encoding="utf-8", errors="surrogateescape") for path in sorted((ROOT / "examples").glob("*.run"))
    ]
    found += [path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests/golden").rglob("*.sbatch"))]
    found.append(
        "".join(value for name, value in vars(foreign_scripts).items() if name.isupper() and isinstance(value, str))
    )
    return tuple(found)


def spliced_scripts(generator: random.Random) -> Iterator[Case]:
    """Run scripts, linted in every format, imported, compared, mended."""
    base = _scripts()
    while True:
        seed = generator.choice(base)
        text = spliced(seed, base, generator, _WRAPS)
        calls: list[tuple[str, ...]] = [("lint", "exp.run", "--format", generator.choice(_FORMATS))]
        if generator.random() < 0.35:
            calls.append(
                generator.choice(
                    (
                        *(("import", "exp.run", "-o", "made.yaml", "--ntasks", "64"), ("diff", "seed.run", "exp.run")),
                        *(("lint", "exp.run", "--fix"), ("lint", ".", "--fix", "--unsafe-fixes"), ("ranks", "exp.run")),
                        *(("volume", "exp.run"), ("migrate", "exp.run", "--to", "2025.10", "--fix")),
                        ("lint", ".", "--write-baseline", "known.json"),
                    )
                )
            )
        files = {"exp.run": _raw(text), "seed.run": _raw(seed)}
        yield Case(files, tuple(calls), _linted)


# --- namelists


def spliced_namelists(generator: random.Random) -> Iterator[Case]:
    """Namelists of an experiment, with words and lines of others."""
    base = experiments()
    every = [text for texts in base for text in texts.values()]
    wraps = (("&run_nml\n", "/\n"), ("'", "'"), ("! ", "\n"), ("&", " &end\n"), ("a%b(1:2)%c = ", "\n"), ("2*(", ")\n"))
    while True:
        texts = dict(generator.choice(base))
        chosen = generator.choice(sorted(texts))
        before = dict(texts)
        texts[chosen] = spliced(texts[chosen], every, generator, wraps)
        files = {f"run/{name}": _raw(text) for name, text in texts.items()}
        files |= {f"before/{name}": _raw(text) for name, text in before.items()}
        calls: list[tuple[str, ...]] = [("lint", "run", "--ntasks", "64", "--format", generator.choice(_FORMATS))]
        if generator.random() < 0.35:
            calls.append(
                generator.choice(
                    (
                        *(("import", "run", "-o", "made.yaml", "--ntasks", "64"), ("diff", "before", "run")),
                        *(("ranks", "run", "--ntasks", "64"), ("volume", "run", "--ntasks", "64")),
                        ("migrate", "run", "--icon-release", "2024.10", "--to", "2025.10", "--fix"),
                        ("lint", "run", "--ntasks", "64", "--fix", "--unsafe-fixes"),
                    )
                )
            )
        yield Case(files, tuple(calls), _linted)


# --- logs


@cache
def _logs() -> tuple[str, ...]:
    made = [icon_logs.text(icon_logs.log(mode=mode)).decode() for mode in ("sync", "async", "joint procs multifile")]
    kept = [path.read_bytes().decode("utf-8", "surrogateescape") for path in sorted((ROOT / "examples/logs").iterdir())]
    return tuple(text[:60_000] for text in (*made, *kept))


def spliced_logs(generator: random.Random) -> Iterator[Case]:
    """Logs and what lies beside them, read, compared, fitted to, made a page of."""
    base = _logs()
    while True:
        made = {f"logs/LOG.{number}": _raw(spliced(generator.choice(base), base, generator)) for number in range(2)}
        if generator.random() < 0.2:
            made["logs/finish.status"] = generator.choice((b"OK", b"RESTART\r\n", b"\xff", b"", b"x" * 100_000))
        show = generator.choice(
            (
                *(("compare", *list(made)[:2]), ("calibrate", "logs", "-o", "made.yaml"), ("logs", "logs")),
                *(("logs", "logs", "--format", name) for name in ("csv", "json", "text")),
                *(("report", "logs", "-o", "page.html"), ("verify", "logs"), ("logs", *made, "-o", "t.csv")),
            )
        )
        yield Case(made, (show,), _linted)


# --- answers of Slurm


def spliced_replies(generator: random.Random) -> Iterator[Case]:
    """Answers with fields exchanged, lost, doubled and grown."""
    files = sweep()
    after = (
        *(("status", "points"), ("status", "points", "--format", "json"), ("resubmit", "points"), ("cancel", "points")),
        *(("report", "points", "-o", "page.html"), ("status", "points", "--format", "csv"), ("doctor",)),
    )
    base = ["\n".join(lines) for lines in ANSWERS.values()]
    while True:
        said: dict[str, bytes] = {}
        for program, lines in ANSWERS.items():
            text = "\n".join(lines) + "\n"
            if generator.random() < 0.4:
                text = spliced(text, base, generator)
            is_bad = generator.random() < 0.07
            said |= {
                program: PROGRAM.encode(),
                f"{program}.out": _raw(text),
                f"{program}.err": b"slurm_load: Socket timed out\n" if is_bad else b"",
                f"{program}.code": b"1" if is_bad else b"0",
            }
        yield Case(files, (("submit", "points"), generator.choice(after)), lambda ends: ends[-1].code == 0, said)
