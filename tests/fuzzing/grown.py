"""Inputs that grow over generations: what made nmlgen say something that it had not said before, or took longer than
all others, is kept and changed further, with words that nmlgen itself proposes and pieces that stand behind the same
words elsewhere."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import icon_logs
from attrs import define, field

from fuzzing.cases import Case, Fuzzer, yaml_of
from fuzzing.kept import Home, homes
from fuzzing.limited import Ended
from fuzzing.registered import MASTER, SCRIPT, names_of
from fuzzing.specs import read, seeds, sites
from fuzzing.texts import experiments
from fuzzing.woven import ECFLOW, JINJA, MKEXP, MODELS, PBS, SLURM

ROOT = Path(__file__).parents[2]
_LONGEST = 200_000  # characters that a text may grow to
_CROWD = 300  # inputs of a kind that are kept at most, beside those that it begins with


class _Input(NamedTuple):
    """The text of one file of a directory."""

    home: Home
    name: str
    text: str


@define
class _Crowd:
    """The inputs of a kind that may be changed, what was said to them, and the words that may be put in."""

    first: Sequence[_Input]
    more: list[_Input] = field(factory=list)
    said: set[str] = field(factory=set)
    words: dict[str, None] = field(factory=dict)
    slowest: float = 0.5

    def chosen(self, pick: random.Random) -> _Input:
        """One of those that came last more often than not."""
        if not self.more or pick.random() < 0.3:
            return pick.choice(self.first)
        return self.more[max(pick.randrange(len(self.more)), pick.randrange(len(self.more)))]

    def hear(self, candidate: _Input, ends: Sequence[Ended]) -> bool:
        """Keep the input if it brought something new; whether all calls came to an end that says yes or no."""
        said = {f"{end.arguments[0]} {end.code}" for end in ends} | {
            shape for end in ends for shape in _shapes(end.out[:20_000] + "\n" + end.error[:20_000])
        }
        slowest = max(end.cpu for end in ends)
        if not said <= self.said or slowest > 1.2 * self.slowest:
            self.said |= said
            self.slowest = max(self.slowest, slowest)
            self.more = [*self.more, candidate][-_CROWD:]
            for end in ends:
                self.words |= dict.fromkeys(_PROPOSED.findall((end.out + end.error)[:20_000]))
            self.words = dict(list(self.words.items())[-3000:])
        return all(end.code in (0, 1) for end in ends)


_PROPOSED = re.compile(r"[A-Za-z_][\w.%:/-]{2,40}|[0-9][0-9.:TZ-]{0,20}")
_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`|[\w./-]*[0-9/._][\w./-]*")


def _shapes(said: str) -> Iterator[str]:
    """The codes that were told, and the lines without what belongs to the input alone."""
    yield from re.findall(r"\b[A-Z]{3}[0-9]{3}\b", said)
    for line in said.splitlines()[:200]:
        if line[:1].strip():
            yield " ".join(_QUOTED.sub("", line).split()[:6])


# --- Changes of a text

_TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+(?:\.[0-9]+)?|[ \t]+|\n|.", re.DOTALL)
_Change = Callable[[list[str], "_Crowd", random.Random], list[str]]


def _place(tokens: Sequence[str], pick: random.Random) -> int:
    """Where a word or a sign stands, seldom a space."""
    for _ in range(5):
        place = pick.randrange(len(tokens))
        if not tokens[place].isspace():
            return place
    return place


def _other_word(tokens: list[str], crowd: _Crowd, pick: random.Random) -> list[str]:
    """A word that nmlgen has said, or that stands elsewhere in the text."""
    place = _place(tokens, pick)
    other = pick.choice(list(crowd.words)) if crowd.words and pick.random() < 0.6 else tokens[_place(tokens, pick)]
    return [*tokens[:place], other, *tokens[place + 1 :]]


def _all_of_a_word(tokens: list[str], crowd: _Crowd, pick: random.Random) -> list[str]:
    """A word becomes another one wherever it stands."""
    old, new = tokens[_place(tokens, pick)], tokens[_place(tokens, pick)]
    return [new if token == old else token for token in tokens]


def _as_elsewhere(tokens: list[str], crowd: _Crowd, pick: random.Random) -> list[str]:
    """What follows the same word in another input, in the place of what follows it here, or before that."""
    other = _TOKEN.findall(crowd.chosen(pick).text[:_LONGEST])
    for _ in range(8):
        place = _place(tokens, pick)
        same = [number for number, token in enumerate(other) if token == tokens[place]]
        if same:
            first = pick.choice(same) + 1
            length = pick.choice((1, 2, 4, 8, 30, 200))
            gone = pick.choice((0, length, 1))
            return [*tokens[: place + 1], *other[first : first + length], *tokens[place + 1 + gone :]]
    return tokens


def _another_number(tokens: list[str], crowd: _Crowd, pick: random.Random) -> list[str]:
    """A number worked out of those of the text: their sum, their product, one more, a power of two, turned around."""
    numbers = [number for number, token in enumerate(tokens) if token[:1] in _DIGITS]
    if not numbers:
        return tokens
    place = pick.choice(numbers)
    one, other = (float(tokens[number][:30]) for number in (place, pick.choice(numbers)))
    made = pick.choice(
        (
            *(one + 1, one - 1, -one, one * 10, one / 10, one + other, one * other, one - other, other, 0.0, 1.0),
            *(2.0 ** (int(one) % 65), 2.0 ** (int(one) % 65) - 1, one % 7, one + 0.5, 60 * one, 3600 * one),
        )
    )
    text = repr(made) if pick.random() < 0.1 or made != made // 1 else f"{made:.0f}"
    return [*tokens[:place], text, *tokens[place + 1 :]]


_DIGITS = frozenset("0123456789")


def _fewer(tokens: list[str], crowd: _Crowd, pick: random.Random) -> list[str]:
    place = _place(tokens, pick)
    return tokens[:place] + tokens[place + pick.choice((1, 1, 2, 5, 40)) :]


def _lines(tokens: Sequence[str]) -> list[str]:
    return "".join(tokens).splitlines(keepends=True) or [""]


def _block(lines: Sequence[str], pick: random.Random) -> tuple[int, int]:
    """A line, with those below it that stand deeper, or up to one that closes it, or some more."""
    first = pick.randrange(len(lines))
    indent = len(lines[first]) - len(lines[first].lstrip())
    last = first + 1
    while last < len(lines) and len(lines[last]) - len(lines[last].lstrip()) > indent:
        last += 1
    if pick.random() < 0.3:
        closes = (number for number in range(first, len(lines)) if _CLOSES.match(lines[number]))
        last = max(last, next(closes, first) + 1)
    return first, last


_CLOSES = re.compile(r"\s*(/|fi\b|done\b|esac\b|EOF\b|[}\])]|&end|</|;;|-+$)")


def _blocks(tokens: list[str], crowd: _Crowd, pick: random.Random) -> list[str]:
    """A block goes, moves, comes again, deeper or less deep, or one of another input comes, too."""
    lines = _lines(tokens)
    first, last = _block(lines, pick)
    block = lines[first:last]
    turn = pick.randrange(7)
    if turn == 0:
        del lines[first:last]
    elif turn == 1:
        del lines[first:last]
        place = pick.randrange(len(lines) + 1)
        lines[place:place] = block
    elif turn == 2:
        lines[first:first] = block * pick.choice((1, 1, 2, 30))
    elif turn == 3:
        lines[first:last] = [pick.choice(("  ", "    ", "\t", " ")) + line for line in block]
    elif turn == 4:
        lines[first:last] = [line[2:] if line[:2].isspace() else line for line in block]
    elif turn == 5:
        other = _lines([crowd.chosen(pick).text[:_LONGEST]])
        begin, end = _block(other, pick)
        lines[first:first] = other[begin:end]
    else:
        begin, end = _block(lines, pick)
        if begin >= last or end <= first:
            spans = sorted(((first, last), (begin, end)))
            (one, two), (three, four) = spans
            lines = [*lines[:one], *lines[three:four], *lines[two:three], *lines[one:two], *lines[four:]]
    return ["".join(lines)]


def _doubled(tokens: list[str], crowd: _Crowd, pick: random.Random) -> list[str]:
    """A stretch comes twice, and that twice, and so on, its numbers counted up or not."""
    place = _place(tokens, pick)
    stretch = "".join(tokens[place : place + pick.choice((1, 3, 10, 60, 400))])
    counts = pick.random() < 0.5
    for number in range(pick.choice((1, 2, 5, 9, 13))):
        again = re.sub(r"[0-9]{1,9}", lambda match: str(int(match[0]) + 2**number), stretch) if counts else stretch  # noqa: B023
        stretch = (stretch + again)[:_LONGEST]
    return [*tokens[:place], stretch, *tokens[place:]]


def _cut_up(tokens: list[str], crowd: _Crowd, pick: random.Random) -> list[str]:
    """A sign between two halves of a word, or two words in one."""
    place = _place(tokens, pick)
    middle = len(tokens[place]) // 2
    if pick.random() < 0.4:
        joined = [token for token in tokens[place : place + 3] if not token.isspace()]
        return [*tokens[:place], *joined, *tokens[place + 3 :]]
    sign = pick.choice(("\n", " ", ",", "=", ":", "'", '"', "%", "(", ")", "/", "#", "!", "$", "\\", "\\\n", "*", "-"))
    return [*tokens[:place], tokens[place][:middle], sign, tokens[place][middle:], *tokens[place + 1 :]]


_CHANGES: tuple[_Change, ...] = (
    *(_other_word, _other_word, _all_of_a_word, _as_elsewhere, _as_elsewhere, _another_number, _another_number),
    *(_fewer, _blocks, _blocks, _doubled, _cut_up),
)


def _changed(text: str, crowd: _Crowd, pick: random.Random) -> str:
    for _ in range(pick.choice((1, 1, 1, 2, 3))):
        tokens = _TOKEN.findall(text) or ["\n"]
        text = "".join(pick.choice(_CHANGES)(tokens, crowd, pick))[:_LONGEST]
    return text


# --- Cases


def _calls(*calls: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(call.split()) for call in calls)


_SPEC = _calls(
    *("build spec.yaml -o made", "build spec.yaml -o made", "check spec.yaml", "check spec.yaml --format sarif"),
    *("ranks spec.yaml", "volume spec.yaml", "advise spec.yaml", "advise spec.yaml --ask streams", "why spec.yaml job"),
    *("diff seed.yaml spec.yaml", "migrate spec.yaml --to 2025.10", "sweep spec.yaml --dry-run", "doctor spec.yaml"),
    *("tune spec.yaml --dry-run", "verify spec.yaml", "why spec.yaml output", "presets ./spec.yaml"),
)
_JOB = _calls(
    *("lint exp.run", "lint exp.run", "lint . --format json", "lint exp.run --fix --unsafe-fixes", "ranks exp.run"),
    *("import exp.run -o made.yaml", "convert exp.run --to pbs", "convert exp.run --to slurm", "volume exp.run"),
    *("migrate exp.run --to 2025.10", "diff exp.run seed.run", "advise exp.run", "verify exp.run"),
)
_RUN = _calls(
    *("lint run --ntasks 8", "lint run --ntasks 64 --fix", "import run -o made.yaml --ntasks 64", "diff seed run"),
    *("ranks run --ntasks 8", "volume run --ntasks 8", "verify run", "migrate run --to 2025.10 --icon-release 2024.10"),
    *("advise run --ntasks 8", "join run --ntasks 8", "lint run --format github"),
)
_LOGS = _calls(
    *("logs logs", "logs logs --what timers", "logs logs --what outputs --format json", "logs logs --format csv"),
    *("compare logs/LOG.a logs/LOG.b", "calibrate logs -o made.yaml", "report logs -o page.html", "logs logs --why"),
)


def _input(files: Mapping[str, bytes], name: str, calls: tuple[tuple[str, ...], ...], text: str) -> _Input:
    """A text that becomes the file of that name beside others."""
    return _Input(Home(files, {}, {}, calls), name, text)


def _specs() -> list[_Input]:
    texts = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("tests/golden/*/spec.yaml"))]
    texts += [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("examples/*.yaml"))]
    others = {"seed.yaml": yaml_of(seeds()[0])}
    return [_input(others, "spec.yaml", _SPEC, text) for text in texts if "extends: ." not in text]


def _sites() -> list[_Input]:
    spec = read(ROOT / "examples" / "nh_dcmip_tc_52_r2b5.yaml")
    calls = _calls(
        *("build spec.yaml -o made", "check spec.yaml", "advise spec.yaml", "presets ./site.yaml", "ranks spec.yaml"),
        *("doctor --site ./site.yaml", "lint exp.run --site ./site.yaml", "tune spec.yaml --dry-run"),
    )
    found = []
    for name, site in sites().items():
        partition = next(iter(site.get("machine", {}).get("partitions", {"compute": 0})))
        job = {**spec["job"], "partition": partition}
        others = {"spec.yaml": yaml_of({**spec, "site": "./site.yaml", "job": job}), "exp.run": SLURM.encode()}
        text = (ROOT / "presets" / "sites" / f"{name}.yaml").read_text(encoding="utf-8")
        found.append(_input(others, "site.yaml", calls, text))
    return found


def _presets() -> list[_Input]:
    """Presets of experiments, and calibrations."""
    spec = read(ROOT / "examples" / "nh_dcmip_tc_52_r2b5.yaml")
    calls = _calls("build spec.yaml -o made", "why spec.yaml namelists", "presets ./preset.yaml", "check spec.yaml")
    child = {"spec.yaml": yaml_of({**spec, "extends": "./preset.yaml"})}
    found = [
        _input(child, "preset.yaml", calls, path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "presets" / "icon").glob("*.yaml"))
    ]
    site = read(ROOT / "presets" / "sites" / "levante.yaml")
    site["machine"]["calibration"] = "./fit.yaml"
    fitted = {"site.yaml": yaml_of(site), "spec.yaml": yaml_of({**spec, "site": "./site.yaml"})}
    calls = _calls("advise spec.yaml", "advise spec.yaml --ask nodes", "tune spec.yaml --dry-run", "check spec.yaml")
    text = (ROOT / "presets" / "calibrations" / "levante.yaml").read_text(encoding="utf-8")
    return [*found, *(_input(fitted, "fit.yaml", calls, text) for _ in found)]


def _sweeps() -> list[_Input]:
    calls = _calls(
        *("sweep spec.yaml --dry-run", "sweep spec.yaml -o points", "check spec.yaml", "diff seed.yaml spec.yaml")
    )
    base = (ROOT / "examples" / "nh_dcmip_tc_52_r2b5.yaml").read_text(encoding="utf-8")
    base = re.sub(r"(?m)^sweep:\n(?:[ #].*\n|\n)*", "", base)
    texts = []
    for path in sorted((ROOT / "presets" / "sweeps").glob("*.yaml")):
        section = path.read_text(encoding="utf-8").partition("\nsweep:")[2]
        texts.append(f"{base}sweep:{section}")
    texts.append(base + _SWEEP)
    return [_input({"seed.yaml": base.encode()}, "spec.yaml", calls, text) for text in texts]


_SWEEP = """\
sweep:
  grid:
    job.nodes: [1, 2]
    parallel.nproma: [8, 16, 32]
  zip:
    - {output.atm.output_interval: [PT1H, PT2H], output.atm.file_interval: [P1D, P2D]}
  derive: {parallel.num_io_procs: "job.nodes * 2", job.time: "'01:00:00' if job.nodes == 1 else '00:30:00'"}
  exclude: ["job.nodes == 2 and parallel.nproma < 16"]
  include: [{job.nodes: 3, parallel.nproma: 8}]
  name: "n{nodes}_p{nproma}"
"""


def _scripts() -> list[_Input]:
    texts = [SLURM, PBS, ECFLOW, JINJA, SCRIPT]
    texts += [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").glob("*.run"))]
    texts += [path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests/golden").rglob("*.sbatch"))[:6]]
    return [_input({"seed.run": SLURM.encode()}, "exp.run", _JOB, text) for text in texts]


def _models() -> list[_Input]:
    """Files of ICON, WRF, PALM and MPAS."""
    found = []
    for texts in (*MODELS, *MODELS, *experiments()):
        files = {f"{home}/{name}": text.encode() for name, text in texts.items() for home in ("run", "seed")}
        found += [_input(files, f"run/{name}", _RUN, text) for name, text in texts.items() if len(text) < 60_000]
    return found


_COUPLING = """\
timestep_unit: ISO_format
calendar: proleptic-gregorian
coupling:
  - source: {component: atmo, grid: icon_atmos_grid}
    target: {component: ocean, grid: icon_ocean_grid}
    coupling_period: PT30M
    time_reduction: average
    interpolation: [{nnn: {n: 1}}, {fixed: {user_value: 0.0}}]
    field: [total_heat_flux, surface_fresh_water_flux]
    src_lag: 1
  - source: {component: ocean, grid: icon_ocean_grid}
    target: {component: atmo, grid: icon_atmos_grid}
    coupling_period: 3600
    field: {sea_surface_temperature: sst}
"""


def _couplings() -> list[_Input]:
    """Couplings of two components, beside their namelists and in a spec."""
    files = {
        "icon_master.namelist": MASTER.replace("'atm'", "'atmo'").encode(),
        "NAMELIST_atm": b"&run_nml\n num_lev = 30\n/\n&coupling_mode_nml\n coupled_to_ocean = .true.\n/\n",
        "NAMELIST_oce": b"&run_nml\n dtime = 60\n/\n&coupling_mode_nml\n coupled_to_atmo = .true.\n/\n",
    }
    calls = _calls(
        *("lint .", "import . -o made.yaml --ntasks 6", "ranks . --ntasks 6", "diff seed .", "migrate . --to 2025.10")
    )
    files |= {f"seed/{name}": data for name, data in files.items()}
    return [_input(files, "coupling.yaml", calls, _COUPLING)]


def _configurations() -> list[_Input]:
    """Configurations of mkexp, and of nmlgen."""
    calls = _calls(
        *("lint exp.config", "import exp.config -o made.yaml", "ranks exp.config --ntasks 8"),
        *("diff exp.config exp.config", "migrate exp.config --to 2025.10"),
    )
    toml = (
        'icon-release = "2024.10"\nsite = "levante"\nselect = ["RST", "NML"]\ncache-dir = ".cache"\n[severity]\n'
        'NML = "warning"\n[[ignore]]\nrule = "PAR004"\npath = "run/exp.*"\nreason = "r"\n[profile]\nnodes = "4"\n'
    )
    files = {"exp.run": SLURM.encode(), "run/exp.a": SCRIPT.encode()}
    own = _calls("lint .", "lint exp.run --format junit", "lint run --fix", "rules", "lint . --write-baseline b.json")
    return [_input({}, "exp.config", calls, MKEXP), _input(files, "nmlgen.toml", own, toml)]


def _logs() -> list[_Input]:
    made = [icon_logs.text(icon_logs.log(mode=mode)).decode() for mode in ("sync", "async", "joint procs multifile")]
    kept = [path.read_bytes().decode("utf-8", "replace") for path in sorted((ROOT / "examples/logs").iterdir())]
    other = {"logs/LOG.b": made[0].encode()}
    return [_input(other, "logs/LOG.a", _LOGS, text[:40_000]) for text in (*made, *kept)]


def _kept() -> list[_Input]:
    """Any file of a directory that nmlgen has written."""
    return [
        _Input(home, name, data.decode("utf-8", "replace"))
        for home in homes()
        for name, data in home.files.items()
        if data and len(data) < 100_000
    ]


def grown_from(first: Callable[[], Sequence[_Input]]) -> Fuzzer:
    """The cases that grow from some inputs; the same ones as long as nobody asks which of them were whole."""
    begun = cache(first)

    def cases(generator: random.Random) -> Iterator[Case]:
        crowd = _Crowd(begun(), words=dict.fromkeys(names_of(generator, 200)))
        while True:
            home, name, text = crowd.chosen(generator)
            made = _Input(home, name, _changed(text, crowd, generator))
            files = {**home.files, name: made.text.encode("utf-8", "replace")}
            calls = tuple(generator.sample(home.calls, min(generator.choice((1, 1, 2)), len(home.calls))))
            yield Case(files, calls, partial(crowd.hear, made), home.programs, home.links)

    return cases


GROWN: Mapping[str, Fuzzer] = {
    "grown-specs": grown_from(_specs),
    "grown-sites": grown_from(_sites),
    "grown-presets": grown_from(_presets),
    "grown-sweeps": grown_from(_sweeps),
    "grown-scripts": grown_from(_scripts),
    "grown-models": grown_from(_models),
    "grown-couplings": grown_from(_couplings),
    "grown-configurations": grown_from(_configurations),
    "grown-logs": grown_from(_logs),
    "grown-kept": grown_from(_kept),
}
