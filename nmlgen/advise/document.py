"""Calibrations as YAML files: small, to be read and reviewed.

What `dump` writes is JSON with lines of comments, which is YAML as well and read in a tenth of the time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from math import exp, isfinite, log
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from nmlgen.advise.calibration import (
    LARGEST,
    MOST_POWER,
    NAMES,
    POWERS,
    Calibration,
    Estimate,
    Family,
    Range,
    Scatter,
)
from nmlgen.advise.model import MEANINGS
from nmlgen.advise.normal import cholesky
from nmlgen.advise.support import COVERED, SIZES
from nmlgen.disk import read_bytes
from nmlgen.errors import InputError
from nmlgen.yaml_nodes import composed

VERSION = 2

_OLD_NAMES = (
    "step",
    "writer",
    "contention",
    "beside",
    "cache",
    "start_up",
    "gather",
    "gather_slice",
    "restart_async",
    "restart_dedicated",
    "restart_joint",
    "restart_sync",
    "restart_node",
)
_SAME = ("step", "contention", "beside", "gather", "restart_async", "restart_dedicated", "restart_sync")
"""Of the constants of version 1 all, and those that mean the same now."""

_KEYS = ("nmlgen_calibration", "name", "sources", "constants", "correlations", "scatter", "measured")
_OPTIONAL = ("computed_on", "families", "undetermined")
_DEVICES = ("cores", "gpus")
_SMALL_CORRELATION = 0.01
_WEAKER = (1.0, 0.9999, 0.999, 0.99, 0.9, 0.0)
"""By how much correlations are written weaker where, as they are rounded, they could not all be true."""
_FAMILY_KEYS = Family._fields
_SCATTER_KEYS = ("step_one_node", "run", "run_one_node")
_HEAD = """\
# What nmlgen advise knows of a site. The constants are those of nmlgen/advise/model.py; `spread` is the standard
# deviation of the logarithm of a constant, so 0.1 is about 10 %.
"""


_OF_SCATTER = "from one family of runs to another, and from run to run, these differ by (standard deviation)"


def load(path: Path) -> Calibration:
    """Read a calibration.

    Raises InputError, with file, line and column, if it cannot be read or is none.
    """
    try:
        data = read_bytes(path, most=_MOST_BYTES)
    except InputError as error:
        raise InputError(f"{error}; the YAML file of a calibration is expected") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: {reason.lower()}; the YAML file of a calibration is expected") from None
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        *lines, last = data[: error.start].decode().split("\n")
        where = f"{path}:{len(lines) + 1}:{len(last) + 1}"
        raise InputError(f"{where}: byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8") from None
    return read(text, str(path))


def read(text: str, name: str = "calibration") -> Calibration:
    """Read the text of a calibration; messages call it `name`. Raises InputError as `load` does."""
    return _read_json(text, name) or _read_yaml(text, name)


class _Node(NamedTuple):
    """A value of a JSON text, like ruamel.yaml's; nobody knows where it is."""

    tag: str
    value: Any


def _read_json(text: str, name: str) -> Calibration | None:
    """The calibration of a text that is JSON but for lines of comments; None where it is not, or has a mistake, of
    which the reader of YAML knows the place."""

    def node(value: Any) -> _Node:
        if isinstance(value, list):
            return _Node("seq", [node(element) for element in value])
        return value if isinstance(value, _Node) else _Node("null" if value is None else "str", value)

    def mapping(pairs: list[tuple[str, Any]]) -> _Node:
        return _Node("map", [(node(key), node(value)) for key, value in pairs])

    try:
        body = json.loads(_COMMENTS.sub("", text), object_pairs_hook=mapping, parse_float=str, parse_int=str)
        return _calibration(_Value(name, node(body)))
    except (ValueError, RecursionError, InputError):
        return None


def _read_yaml(text: str, name: str) -> Calibration:
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        root = composed(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise InputError(f"{name}{where}: {error.problem or error.context or 'not YAML'}") from None
    except (YAMLError, RecursionError) as error:
        raise InputError(f"{name}: {str(error).splitlines()[0]}") from None
    if root is None:
        raise InputError(f"{name}:1:1: empty; a calibration is expected")
    return _calibration(_Value(name, root))


_COMMENTS = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_MOST_BYTES = 2**17  # fifteen times as many as that of 109 runs has; more small values than these take seconds


class _Value(NamedTuple):
    """A value of the file, which knows where it is."""

    file: str
    node: Any

    def wrong(self, message: str) -> InputError:
        if isinstance(self.node, _Node):
            return InputError(f"{self.file}: {message}")
        mark = self.node.start_mark
        return InputError(f"{self.file}:{mark.line + 1}:{mark.column + 1}: {message}")

    def items(self, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, _Value]:
        """The entries of a mapping: all that are required, and no other than the optional ones beside them."""
        found = {key.text: value for key, value in self.pairs()}
        for key, _ in self.pairs():
            if key.text not in required + optional:
                raise key.wrong(f"{key.text!r} is not known here; expected {', '.join(required + optional)}")
        for name in required:
            if name not in found:
                raise self.wrong(f"{name!r} is missing")
        return found

    def pairs(self) -> list[tuple[_Value, _Value]]:
        """The keys and values of a mapping."""
        if not self.node.tag.endswith("map"):
            raise self.wrong("expected a mapping")
        pairs = [(_Value(self.file, key), _Value(self.file, value)) for key, value in self.node.value]
        seen: set[str] = set()
        for key, _ in pairs:
            if key.text in seen:
                raise key.wrong(f"{key.text!r} is there twice")
            seen.add(key.text)
        return pairs

    def elements(self) -> list[_Value]:
        """The elements of a list."""
        if not self.node.tag.endswith("seq"):
            raise self.wrong("expected a list")
        return [_Value(self.file, node) for node in self.node.value]

    @property
    def text(self) -> str:
        """A string, or whatever is written like one."""
        if not isinstance(self.node.value, str):
            raise self.wrong("expected a text")
        return self.node.value

    @property
    def is_null(self) -> bool:
        return bool(self.node.tag.endswith("null"))

    def number(self, above: float | None = None, below: float | None = None) -> float:
        """A number between two others, these left out."""
        try:
            value = float(self.text)
        except ValueError:
            raise self.wrong(f"{self.text!r} is not a number") from None
        if not isfinite(value) or (above is not None and value <= above) or (below is not None and value >= below):
            limits = [] if above is None else [f"more than {above:g}"]
            limits += [] if below is None else [f"less than {below:g}"]
            raise self.wrong(f"{self.text} is out of range; expected {' and '.join(limits) or 'a finite number'}")
        return value


def _calibration(root: _Value) -> Calibration:
    items = root.items(_KEYS, _OPTIONAL)
    version = items["nmlgen_calibration"].text
    if version not in ("1", str(VERSION)):
        raise items["nmlgen_calibration"].wrong(f"version {VERSION} is expected, or 1")
    estimate = _old_estimate if version == "1" else _estimate
    return Calibration(
        name=items["name"].text,
        estimate=estimate(items["constants"], items["correlations"]),
        scatter=_scatter(items["scatter"], _OLD_NAMES if version == "1" else NAMES),
        measured={name: _range(value) for name, value in items["measured"].items((), (*COVERED, *SIZES)).items()},
        sources=tuple(source.text for source in items["sources"].elements()),
        families=(
            dict(_family(element, estimate) for element in items["families"].elements()) if "families" in items else {}
        ),
        undetermined=tuple(line.text for line in items["undetermined"].elements()) if "undetermined" in items else (),
        on_gpus="computed_on" in items and _is_of_gpus(items["computed_on"]),
    )


def _is_of_gpus(value: _Value) -> bool:
    """What computed in the runs: "gpus", or "cores"."""
    if value.text not in _DEVICES:
        raise value.wrong(f"{value.text!r} is not known; expected {' or '.join(_DEVICES)}")
    return value.text == _DEVICES[1]


def _estimate(constants: _Value, correlations: _Value) -> Estimate:
    items = {name: value.items(("value", "spread")) for name, value in constants.items(NAMES).items()}
    mean = tuple(log(_constant(items[name]["value"], name in POWERS)) for name in NAMES)
    spread = [_spread(items[name]["spread"]) for name in NAMES]
    rows = [[float(i == j) for j in range(len(NAMES))] for i in range(len(NAMES))]
    for key, value in correlations.pairs():
        first, _, second = key.text.partition("/")
        if first not in NAMES or second not in NAMES or first == second:
            raise key.wrong(f"{key.text!r} does not name two constants; expected such as {NAMES[1]}/{NAMES[2]}")
        i, j = NAMES.index(first), NAMES.index(second)
        rows[i][j] = rows[j][i] = value.number(above=-1, below=1)
    covariance = tuple(
        tuple(entry * spread[i] * spread[j] for j, entry in enumerate(row)) for i, row in enumerate(rows)
    )
    try:
        cholesky(covariance)
    except ValueError:
        raise correlations.wrong("these correlations cannot all be true: the matrix is not positive definite") from None
    return Estimate(mean, covariance)


def _old_estimate(constants: _Value, _: _Value) -> Estimate:
    """The constants of a file of version 1. What it does not say is guessed; a writer's rate included receiving."""
    from nmlgen.advise.measurements import BEFORE_MEASURING

    items = {name: value.items(("value", "spread")) for name, value in constants.items(_OLD_NAMES).items()}
    known = dict(BEFORE_MEASURING)
    for name in _SAME:
        known[name] = _constant(items[name]["value"]), _spread(items[name]["spread"])
    receiving = BEFORE_MEASURING["receive"][0]
    writing = max(1 / _constant(items["writer"]["value"]) - receiving, receiving)
    known["writer"] = 1 / writing, _spread(items["writer"]["spread"])
    variances = [known[name][1] ** 2 for name in NAMES]
    covariance = tuple(
        tuple(variance if i == j else 0.0 for j in range(len(NAMES))) for i, variance in enumerate(variances)
    )
    return Estimate(tuple(log(known[name][0]) for name in NAMES), covariance)


def _constant(value: _Value, is_power: bool = False) -> float:
    """A constant; no machine's is so far from 1 that sums of them overflow."""
    value.number(above=0, below=MOST_POWER if is_power else LARGEST)
    return value.number(above=1 / LARGEST)


def _spread(value: _Value) -> float:
    """The standard deviation of a logarithm; nothing is known so well that its square is lost beside others."""
    return value.number(above=1e-9, below=10)


def _scatter(mapping: _Value, names: tuple[str, ...]) -> Scatter:
    items = mapping.items(_SCATTER_KEYS, names)
    numbers = {name: _spread(value) for name, value in items.items() if name in (*_SCATTER_KEYS, *NAMES)}
    rest = {name: numbers.pop(name) for name in _SCATTER_KEYS}
    if "step" not in numbers:
        raise mapping.wrong("'step' is missing")
    return Scatter(numbers, **rest)


def _range(value: _Value) -> Range:
    ends = value.elements()
    if len(ends) != 2:
        raise value.wrong("expected two numbers: [from, to]")
    low, high = (end.number() for end in ends)
    if not 0 <= low <= high:
        raise value.wrong(f"nothing is measured from {low:g} to {high:g}")
    return Range(low, high)


def _family(value: _Value, estimate: Callable[[_Value, _Value], Estimate]) -> tuple[Family, Estimate]:
    items = value.items((*_FAMILY_KEYS, "constants", "correlations"))
    figures: dict[str, Any] = {}
    for name in _FAMILY_KEYS:
        if not items[name].is_null:
            number = items[name].number(above=0, below=LARGEST)
            figures[name] = number if name.endswith("_s") else int(number)
        elif name.endswith("interval_s"):
            figures[name] = None
        else:
            raise items[name].wrong("expected a number")
    return Family(**figures), estimate(items["constants"], items["correlations"])


def dump(calibration: Calibration) -> str:
    """A calibration as the text of a YAML file, which `read` takes back."""
    scatter = {name: f"{value:.4g}" for name, value in calibration.scatter.constants.items()}
    scatter |= {name: f"{getattr(calibration.scatter, name):.4g}" for name in _SCATTER_KEYS}
    measured = {name: f"[{covered.low:.6g}, {covered.high:.6g}]" for name, covered in calibration.measured.items()}
    entries = {
        "nmlgen_calibration": str(VERSION),
        "name": _quoted(calibration.name),
        **({"computed_on": _quoted(_DEVICES[1])} if calibration.on_gpus else {}),
        "sources": _list(map(_quoted, calibration.sources)),
        **_estimate_entries(calibration.estimate, meanings=True),
        "scatter": _mapping(scatter),
        "measured": _mapping(measured),
    }
    if calibration.undetermined:
        entries["undetermined"] = _list(map(_quoted, calibration.undetermined))
    if calibration.families:
        entries["families"] = _list(
            _mapping({name: _plain(getattr(family, name)) for name in _FAMILY_KEYS} | _estimate_entries(estimate))
            for family, estimate in calibration.families.items()
        )
    return _HEAD + _mapping(entries, {"scatter": _OF_SCATTER}) + "\n"


def _estimate_entries(estimate: Estimate, meanings: bool = False) -> dict[str, str]:
    constants = {
        name: f'{{"value": {exp(middle):.5g}, "spread": {estimate.spread(name):.4g}}}'
        for name, middle in zip(NAMES, estimate.mean, strict=True)
    }
    comments = MEANINGS if meanings else {}
    pairs = ((first, second) for i, first in enumerate(NAMES) for second in NAMES[i + 1 :])
    values = {(first, second): estimate.correlation(first, second) for first, second in pairs}
    large = next(found for weaker in _WEAKER if _can_be_true(found := _rounded(values, weaker)))
    return {
        "constants": _mapping(constants, comments),
        "correlations": _mapping({"/".join(pair): value for pair, value in large.items()}),
    }


def _rounded(values: Mapping[tuple[str, str], float], weaker: float) -> dict[tuple[str, str], str]:
    """Correlations as they are written, all of them a little weaker."""
    return {pair: f"{weaker * value:.4f}" for pair, value in values.items() if abs(value) >= _SMALL_CORRELATION}


def _can_be_true(correlations: Mapping[tuple[str, str], str]) -> bool:
    """Whether all of these correlations may be true together."""
    rows = [[float(i == j) for j in range(len(NAMES))] for i in range(len(NAMES))]
    for (first, second), value in correlations.items():
        i, j = NAMES.index(first), NAMES.index(second)
        rows[i][j] = rows[j][i] = float(value)
    try:
        cholesky(rows)
    except ValueError:
        return False
    return all(abs(float(value)) < 1 for value in correlations.values())


def _mapping(entries: Mapping[str, str], comments: Mapping[str, str] = MappingProxyType({})) -> str:
    """A JSON object of texts in JSON, an entry a line, some behind a line of comment."""
    return _block(
        "{}",
        ((f"# {comments[key]}\n" if key in comments else "") + f'"{key}": {value}' for key, value in entries.items()),
    )


def _list(elements: Iterable[str]) -> str:
    """A JSON array of texts in JSON, an element a line."""
    return _block("[]", elements)


def _block(brackets: str, parts: Iterable[str]) -> str:
    lines = ",\n".join(parts).replace("\n", "\n  ")
    return f"{brackets[0]}\n  {lines}\n{brackets[1]}" if lines else brackets


def _plain(value: float | None) -> str:
    return "null" if value is None else f"{value:.10g}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
