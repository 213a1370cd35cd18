"""A sweep as an RO-Crate (https://www.researchobject.org/ro-crate): the description that journals and archives ask for.

It describes what lies in the sweep's directory and copies nothing. A point is a dataset with the files of its build; a
leg that ran is an action, by the record that it left: with which executable, from which inputs, when, on which nodes.
"""

from __future__ import annotations

import json
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
_LICENCE = "https://spdx.org/licenses/BSD-3-Clause"


def crate_text(sweep: Path) -> str:
    """The metadata of the crate. Raises InputError if there is no sweep, or the library rocrate is not there."""
    rows = [row for row in read_table(sweep) if row["state"] == "built"]
    try:
        from rocrate.rocrate import ROCrate
    except ImportError:
        raise InputError("an RO-Crate takes the library rocrate: pip install 'nmlgen[crate]'") from None
    crate = ROCrate()
    crate.name = sweep.resolve().name
    crate.description = f"{len(rows)} experiments with ICON, written by nmlgen {__version__}"
    nmlgen = _add(crate, "#nmlgen", "SoftwareApplication", name="nmlgen", version=__version__, license=_LICENCE)
    ended: list[str] = []
    for name in (MANIFEST, TABLE):
        if (sweep / name).is_file():
            crate.add_file(sweep / name, name)
    for row in rows:
        ended += _add_point(crate, sweep, row)
    crate.root_dataset["mentions"] = [nmlgen]
    if ended:
        crate.root_dataset["datePublished"] = max(ended)
    else:
        crate.root_dataset.pop("datePublished", None)  # it would be now
    return json.dumps(crate.metadata.generate(), indent=2, ensure_ascii=False) + "\n"


def _add_point(crate: ROCrate, sweep: Path, row: dict[str, str]) -> list[str]:
    """Describe a point; when its legs ended."""
    directory = row["directory"]
    values = {key: value for key, value in row.items() if key not in FIRST_COLUMNS and value != ""}
    point = crate.add_directory(sweep / directory, f"{directory}/", properties={"name": row["name"]})
    point["variableMeasured"] = [
        _add(crate, f"#{row['id']}-{key}", "PropertyValue", name=key, value=value) for key, value in values.items()
    ]
    files = [
        crate.add_file(sweep / directory / name, f"{directory}/{name}")
        for name in sorted(built_files(sweep / directory))
    ]
    if files:
        point["hasPart"] = files
    legs = records_of(sweep / directory)
    for leg in legs:
        _add_leg(crate, point, row, leg)
    return [time for leg in legs for time in leg.said("ended")]


def _add_leg(crate: ROCrate, point: Any, row: dict[str, str], leg: LegRecord) -> None:
    said = {word: text for word, text in leg.words if word in ("started", "ended", "nodes", "launch", "job", "outcome")}
    properties: dict[str, Any] = {
        "name": f"{row['name']}, leg {leg.leg}",
        "description": "; ".join(
            f"{word} {said[word]}" for word in ("job", "nodes", "launch", "outcome") if word in said
        ),
        "startTime": said.get("started"),
        "endTime": said.get("ended"),
        "actionStatus": "CompletedActionStatus" if leg.said("exit") == ("0",) else "FailedActionStatus",
    }
    action = _add(crate, f"#{row['id']}-leg{leg.leg}", "CreateAction", **properties)
    action["object"] = [_add_file(crate, "File", file) for file in leg.files("input")]
    if leg.executable is not None:
        version = ", ".join(leg.said("icon"))
        action["instrument"] = _add_file(crate, "SoftwareApplication", leg.executable, version=version or None)
    action["result"] = [point]


def _add_file(crate: ROCrate, kind: str, file: RecordedFile, **more: Any) -> Any:
    """A file that lies elsewhere, told from others by its checksum."""
    checksum = {"sha256": file.checksum} if ":" not in file.checksum else {"identifier": file.checksum}
    identifier = f"#{file.checksum}"
    return _add(crate, identifier, kind, name=file.path, contentSize=str(file.size), **checksum, **more)


def _add(crate: ROCrate, identifier: str, kind: str, **properties: Any) -> Any:
    from rocrate.model.contextentity import ContextEntity

    known = crate.dereference(identifier)
    if known is not None:
        return known
    said = {key: value for key, value in properties.items() if value is not None}
    return crate.add(ContextEntity(crate, identifier, properties={"@type": kind, **said}))
