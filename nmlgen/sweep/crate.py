"""A sweep as an RO-Crate (https://www.researchobject.org/ro-crate): the description that journals and archives ask for.

It describes what lies in the sweep's directory and copies nothing. A point is a dataset with the files of its build; a
leg that ran is an action, by the record that it left: with which executable, from which inputs, when, on which nodes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmlgen._version import __version__
from nmlgen.errors import InputError
from nmlgen.logs.record import LegRecord, RecordedFile, records_of
from nmlgen.render.write import built_files
from nmlgen.sweep.directory import FIRST_COLUMNS, MANIFEST, TABLE, read_table

if TYPE_CHECKING:
    from rocrate.rocrate import ROCrate

CRATE = "ro-crate-metadata.json"
_WORDS = ("started", "ended", "nodes", "launch", "job", "outcome")
_MOST_LARGER = 24
"""A bound on work and memory: how many times a table, of a megabyte or more, its description may be, a dozen as a
rule."""
_LICENCE = "https://spdx.org/licenses/BSD-3-Clause"


def crate_text(sweep: Path) -> str:
    """The metadata of the crate. Raises InputError if there is no sweep, it is too large, or the library rocrate is not
    there."""
    rows = [row for row in read_table(sweep) if row["state"] == "built"]
    size = sum(map(_size, rows))
    if size > _MOST_LARGER * max(10**6, sum(len(cell) + 1 for row in rows for cell in row.values())):
        what = f"an RO-Crate names each value of each point, which takes {size // 10**6} MB"
        raise InputError(f"{sweep / TABLE}: {what}: too much for such a table")
    try:
        from rocrate.rocrate import ROCrate
    except ImportError:
        raise InputError("an RO-Crate takes the library rocrate: pip install 'nmlgen[crate]'") from None
    description = _Description(ROCrate(), sweep)
    ended = [time for row in rows for time in description.point(row)]
    return description.text(len(rows), ended)


def _values(row: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in row.items() if key not in FIRST_COLUMNS and value != ""}


def _size(row: Mapping[str, str]) -> int:
    """The characters that the description of a point's values takes, about."""
    return sum(150 + len(row["id"]) + 2 * len(key) + len(value) for key, value in _values(row).items())


class _Description:
    """A crate, and what is described in it already, by its identifier: the library itself looks through all."""

    def __init__(self, crate: ROCrate, sweep: Path) -> None:
        self._crate = crate
        self._sweep = sweep
        self._known: dict[str, Any] = {}
        self._nmlgen = self._add("#nmlgen", "SoftwareApplication", name="nmlgen", version=__version__, license=_LICENCE)
        for name in (MANIFEST, TABLE):
            if (sweep / name).is_file():
                crate.add_file(sweep / name, name)

    def text(self, count: int, ended: Sequence[str]) -> str:
        """The metadata, when so many points were described, whose legs ended then."""
        crate = self._crate
        crate.name = self._sweep.resolve().name
        crate.description = f"{count} experiments with ICON, written by nmlgen {__version__}"
        crate.root_dataset["mentions"] = [self._nmlgen]
        if ended:
            crate.root_dataset["datePublished"] = max(ended)
        else:
            crate.root_dataset.pop("datePublished", None)  # it would be now
        return json.dumps(crate.metadata.generate(), indent=2, ensure_ascii=False) + "\n"

    def point(self, row: Mapping[str, str]) -> list[str]:
        """Describe a point; when its legs ended."""
        crate, sweep, directory = self._crate, self._sweep, row["directory"]
        point = crate.add_directory(sweep / directory, f"{directory}/", properties={"name": row["name"]})
        point["variableMeasured"] = [
            self._add(f"#{row['id']}-{key}", "PropertyValue", name=key, value=value)
            for key, value in _values(row).items()
        ]
        files = [
            crate.add_file(sweep / directory / name, f"{directory}/{name}")
            for name in sorted(built_files(sweep / directory))
        ]
        if files:
            point["hasPart"] = files
        legs = records_of(sweep / directory)
        for leg in legs:
            self._leg(point, row, leg)
        return [time for leg in legs for time in leg.said("ended")]

    def _leg(self, point: Any, row: Mapping[str, str], leg: LegRecord) -> None:
        said = {word: text for word, text in leg.words if word in _WORDS}
        properties: dict[str, Any] = {
            "name": f"{row['name']}, leg {leg.leg}",
            "description": "; ".join(
                f"{word} {said[word]}" for word in ("job", "nodes", "launch", "outcome") if word in said
            ),
            "startTime": said.get("started"),
            "endTime": said.get("ended"),
            "actionStatus": "CompletedActionStatus" if leg.said("exit") == ("0",) else "FailedActionStatus",
        }
        action = self._add(f"#{row['id']}-leg{leg.leg}", "CreateAction", **properties)
        action["object"] = [self._file("File", file) for file in leg.files("input")]
        if leg.executable is not None:
            version = ", ".join(leg.said("icon"))
            action["instrument"] = self._file("SoftwareApplication", leg.executable, version=version or None)
        action["result"] = [point]

    def _file(self, kind: str, file: RecordedFile, **more: Any) -> Any:
        """A file that lies elsewhere, told from others by its checksum."""
        checksum = {"sha256": file.checksum} if ":" not in file.checksum else {"identifier": file.checksum}
        return self._add(f"#{file.checksum}", kind, name=file.path, contentSize=str(file.size), **checksum, **more)

    def _add(self, identifier: str, kind: str, **properties: Any) -> Any:
        from rocrate.model.contextentity import ContextEntity

        if identifier not in self._known:
            said = {key: value for key, value in properties.items() if value is not None}
            entity = ContextEntity(self._crate, identifier, properties={"@type": kind, **said})
            self._known[identifier] = self._crate.add(entity)
        return self._known[identifier]
