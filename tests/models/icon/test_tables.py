"""All that is worked out for a run, figure by figure: its times, ranks, files, records and bytes.

Each run is a fragment in `tables/`, laid over the one of the rules' examples. The figures that were measured are in the
tests beside this one; these hold what follows from them, so that nothing changes unseen. After a change that is meant:
`python -m pytest tests/models/icon/test_tables.py --regenerate`, and read the diff.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from pathlib import Path

import pytest

from nmlgen.experiment.component import Component
from nmlgen.experiment.difference import differences
from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon.checkpoints import checkpoint_dates, checkpoints_of
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.heights import flat_level, half_levels
from nmlgen.models.icon.inputs import needed_files
from nmlgen.models.icon.job_volume import first_job, mean_job
from nmlgen.models.icon.nodes import nodes
from nmlgen.models.icon.output import windows
from nmlgen.models.icon.output_fate import fate
from nmlgen.models.icon.promised import checkpoint_links, checkpoint_patterns, partition_groups, promised_output
from nmlgen.models.icon.ranks import OutputFile, PlacementError, output_files, placement, restart_mode, split
from nmlgen.models.icon.schedule import duties, first_writes, output_steps, writes
from nmlgen.models.icon.volume import (
    Volume,
    checkpoint_files,
    checkpoint_parts,
    checkpoint_volume,
    most_checkpoint_bytes,
    points,
    rank_bytes,
    rank_volumes,
    stream_volumes,
    unknown_names,
)

TABLES = Path(__file__).parent / "tables"


def bounds(volume: Volume) -> str:
    """A volume in a line."""
    return (
        f"{volume.low} {volume.best} {volume.high} ({volume.sureness}{''.join(f'; {one}' for one in volume.reasons)})"
    )


def file_name(file: OutputFile) -> str:
    """Which sequence of files it is."""
    return f"{file.stream.name} {file.level_type} domain {file.domain}, {file.partition} of {file.partitions}"


def times(component: Component) -> Iterator[str]:
    time = clock(component)
    yield f"{time.start} to {time.stop}: {time.length} by {time.step}, jobs of {time.leg}: {time.legs}"
    yield f"checkpoints {time.checkpoint}, restart {time.restart}, ends {list(islice(time.jobs(), 5))}"
    yield f"checkpoints at {list(islice(checkpoint_dates(component, time, time.length), 6))}"
    yield f"{checkpoints_of(component)}, {checkpoint_links(component)}, {checkpoint_patterns(component)}"
    for stream in component.streams:
        for window in windows(component, stream, time):
            yield f"window {window}"


def levels(component: Component) -> Iterator[str]:
    heights = half_levels(component)
    yield f"{len(heights)} half levels: {' '.join(f'{height:.3f}' for height in heights)}"
    yield f"flat from {flat_level(component)}"


def crews(component: Component) -> Iterator[str]:
    yield f"{split(component)}, {restart_mode(component)}"
    for node in nodes(component.experiment):
        yield f"node {node.number}: {len(node.ranks)} ranks from {node.ranks[0]}: {dict(sorted(node.crew.items()))}"
    for file, rank in placement(component):
        yield f"I/O rank {rank}: {file_name(file)}"


def sizes(component: Component) -> Iterator[str]:
    yield f"{points(component)}"
    for one in stream_volumes(component):
        steps = output_steps(component, one.stream, clock(component), one.level_type)
        yield f"{one.level_type} domain {one.domain}: {one.variables} variables, {one.records} records in {steps} steps"
        yield f"  {one.files} files, at most {one.largest} in one"
        yield f"  step {bounds(one.step)}"
        yield f"  constant {bounds(one.constant)}"
        yield f"  file {bounds(one.file)}, unknown {unknown_names(component, one.stream, one.level_type)}"
    yield f"by rank {rank_bytes(component)}"
    yield from (bounds(volume) for volume in rank_volumes(component, duties(component, clock(component))))


def checkpoint(component: Component) -> Iterator[str]:
    yield f"{bounds(checkpoint_volume(component))} in {checkpoint_files(component)} of {checkpoint_parts(component)}"
    yield f"at most {most_checkpoint_bytes(component):.0f}"


def jobs(component: Component) -> Iterator[str]:
    volume, files = first_job(component)
    yield f"first {bounds(volume)} in {files} files"
    yield f"mean {bounds(mean_job(component.experiment))}"
    yield f"left {bounds(mean_job(component.experiment, is_left=True))}"


def schedule(component: Component) -> Iterator[str]:
    time = clock(component)
    for row in duties(component, time):
        for duty in row:
            yield f"{duty.records} in {duty.files}, most {duty.largest}, from {duty.first}: {duty.first_name}"
    for write in islice(writes(component, time), 30):
        yield f"{write.time} {write.date} rank {write.rank}: {write.number}.{write.record} {write.name}"
    first, count = first_writes(component, time, 3)
    yield f"{len(first)} at the first three of {count}"


def left(component: Component) -> Iterator[str]:
    time = clock(component)
    for file in output_files(component):
        found = fate(component, file, time)
        yield f"{file_name(file)}: {len(found.files)} files, {found.records} records, moved {found.moved}"
        yield from (f"  {loss}" for loss in found.losses[:5])
    promise = promised_output(component)
    for one in promise.files[:12]:
        size = None if one.size is None else bounds(one.size)
        yield f"{one.name}: {len(one.times)} from {one.times[0]}, {size}{', last' if one.is_last else ''}"
    yield f"{len(promise.files)} files, {[pattern.pattern for _, pattern in promise.patterns]}"
    for name, parts in islice(partition_groups(component), 6):
        yield f"{name}: {parts}"


def needed(component: Component) -> Iterator[str]:
    for file in needed_files(component):
        yield f"{file.pattern}: {file.what} ({file.setting and file.setting.name}), {file.domain}, {file.grid}"


SECTIONS = (times, levels, crews, sizes, checkpoint, jobs, schedule, left, needed)


def table(component: Component) -> str:
    """All sections; of one that cannot be worked out the reason."""
    lines = []
    for section in SECTIONS:
        lines.append(f"== {section.__name__}")
        try:
            lines += list(section(component))
        except (UndecidedError, PlacementError, ValueError) as error:
            lines.append(f"{type(error).__name__}: {error}")
    return "\n".join([*lines, ""])


NAMES = sorted(path.stem for path in TABLES.glob("*.yaml"))


def compare(path: Path, found: str, request: pytest.FixtureRequest) -> None:
    """Hold a text against the file that has it."""
    if request.config.getoption("--regenerate"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_table_is_as_it_was(
    name: str, build: Callable[[str], Component], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    component = build((TABLES / f"{name}.yaml").read_text(encoding="utf-8"))
    found = table(component).replace(str(tmp_path), "DIRECTORY")
    compare(TABLES / f"{name}.txt", found, request)


def test_differences_are_as_they_were(build: Callable[[str], Component], request: pytest.FixtureRequest) -> None:
    """Each run against the next one."""
    runs = [build((TABLES / f"{name}.yaml").read_text(encoding="utf-8")).experiment for name in NAMES]
    lines = []
    for (old, new), (name, other) in zip(pairwise(runs), pairwise(NAMES), strict=True):
        lines.append(f"== {name} and {other}")
        for one in differences(old, new):
            values = (None if side is None else side.value for side in (one.old, one.new))
            lines.append(f"{one.section}: {one.name}: {' becomes '.join(map(str, values))} ({one.verdict.value})")
    compare(TABLES / "differences.txt", "\n".join([*lines, ""]), request)
