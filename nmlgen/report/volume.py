"""How many bytes an experiment writes, as tables: streams, files, the run, a checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nmlgen.models.icon.volume import StreamVolume, Volume
from nmlgen.report.table import format_table
from nmlgen.units.size import format_bytes
from nmlgen.values import field, frozen
from nmlgen.visible import joined


@frozen
class VolumeReport:
    """What `nmlgen volume` shows: each stream, one checkpoint with its number of files, and the names in the
    varlists that the release does not know. What cannot be known is None; `undecided` has the settings that
    lack, and why."""

    streams: tuple[StreamVolume, ...] | None
    checkpoint: Volume | None
    checkpoint_files: int | None
    unknown_names: tuple[str, ...] = ()
    undecided: Mapping[str, str] = field(factory=dict)

    @property
    def run(self) -> Volume | None:
        """All output of the experiment, checkpoints aside."""
        if self.streams is None:
            return None
        return Volume.sum(stream.run for stream in self.streams)


def volume_document(report: VolumeReport) -> dict[str, Any]:
    """All volumes for programs, in bytes; null where nobody can know."""
    return {
        "streams": None if report.streams is None else [_stream_document(stream) for stream in report.streams],
        "run": _document(report.run),
        "checkpoint": _document(report.checkpoint),
        "checkpoint_files": report.checkpoint_files,
        "unknown_names": list(report.unknown_names),
        "undecided": list(report.undecided),
    }


def _stream_document(stream: StreamVolume) -> dict[str, Any]:
    return {
        "stream": stream.stream.title,
        "level_type": stream.level_type,
        "domain": stream.domain,
        "variables": stream.variables,
        "records": stream.records,
        "files": stream.files,
        "largest_file_records": stream.largest,
        "step": _document(stream.step),
        "constant": _document(stream.constant),
        "file": _document(stream.file),
        "run": _document(stream.run),
    }


def _document(volume: Volume | None) -> dict[str, Any] | None:
    if volume is None:
        return None
    return {
        "low": volume.low,
        "best": volume.best,
        "high": volume.high,
        "sureness": volume.sureness,
        "reasons": list(volume.reasons),
    }


def format_volumes(report: VolumeReport, colour: bool = False, terminal: bool = False) -> str:
    """The streams and the checkpoint as tables, then why some numbers are not exact."""
    parts = []
    if report.streams is not None:
        parts.append(_format_streams(report, report.streams, colour, terminal))
    if report.checkpoint is not None:
        parts.append(_format_checkpoint(report.checkpoint, report.checkpoint_files or 0, colour, terminal))
    notes = [f"not known, because {reason}" for reason in report.undecided.values()]
    notes += [f"not known to this release: {name}" for name in report.unknown_names]
    notes += [f"not exact: {reason}" for reason in _reasons(report)]
    return joined("\n\n", [*parts, "\n".join(notes)] if notes else parts)


def _format_streams(report: VolumeReport, streams: Sequence[StreamVolume], colour: bool, terminal: bool) -> str:
    rows = [
        (
            stream.stream.title,
            f"{stream.level_type}, domain {stream.domain}",
            str(stream.variables),
            format_bytes(stream.step.best, exactly=True),
            stream.step.sureness,
            format_bytes(stream.file.best),
            str(stream.files),
            str(stream.records),
            format_bytes(stream.run.best),
        )
        for stream in streams
    ]
    if len(rows) > 1 and report.run is not None:
        files, records = (sum(getattr(stream, name) for stream in streams) for name in ("files", "records"))
        rows.append(("all", "", "", "", "", "", str(files), str(records), format_bytes(report.run.best)))
    headings = ("stream", "levels", "variables", "bytes a step", "sure", "largest file", "files", "steps", "run")
    return format_table(headings, rows, colour, terminal)


def _format_checkpoint(volume: Volume, files: int, colour: bool, terminal: bool) -> str:
    row = (format_bytes(volume.best), volume.sureness, str(files))
    return format_table(("checkpoint", "sure", "files"), [row], colour, terminal)


def _reasons(report: VolumeReport) -> Iterable[str]:
    volumes = [stream.step + stream.constant for stream in report.streams or ()]
    volumes += [report.checkpoint] if report.checkpoint is not None else []
    return dict.fromkeys(reason for volume in volumes for reason in volume.reasons)
