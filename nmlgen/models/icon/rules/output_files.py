"""The names of output files."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import Group, as_list
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.ranks import (
    MOST_PARTITIONS,
    OutputFile,
    output_files,
)
from nmlgen.models.icon.rules.streams import (
    is_blank,
    partitions_of,
    possible_partitions_of,
    setting_of,
    stream_name,
    streams_read,
    windows_of,
    writes_within,
)
from nmlgen.models.icon.schedule import files_of_a_sequence
from nmlgen.rules.rule import ComponentRule

_MOST_FILES = 9999


_COUNTERS = ("<jfile>", "<total_index>")


_DATES = ("<datetime>", "<datetime2>", "<datetime3>", "<ddhhmmss>", "<dddhhmmss>", "<hhhmmss>")


_EXTENSIONS = {2: ".grb", 4: ".nc", 5: ".nc"}


class SameFileName(ComponentRule):
    """Two streams must not write into the same file.

    ## What it does
    Finds two sequences of files of different streams, level types or domains whose names come out the same. With a
    date in `filename_format` both must begin at the same time; other keywords are compared as they stand.

    ## Why it matters
    ICON aborts when output is initialised; between streams with different `ready_file` it does not notice, and one
    overwrites the other.

    ## Evidence
    ICON 2024.10: "Ambiguous output file name: 'atm_ml_DOM01_ML_0001.nc'" (`mo_output_event_handler.f90:1348`). One
    name with two level types is accepted, for the default `filename_format` tells them apart.

    ## Example
    ```yaml bad
    output:
      atm: {output_filename: output/run, stream_partitions_ml: 2}
      sea: {output_filename: output/run, output_interval: PT1H, file_interval: P1D, ml_varlist: [temp],
    #                        ^
            stream_partitions_ml: 2}
    ```
    ```yaml good
    output:
      atm: {output_filename: output/run, stream_partitions_ml: 2}
      sea: {output_filename: output/sea, output_interval: PT1H, file_interval: P1D, ml_varlist: [temp],
            stream_partitions_ml: 2}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT011"
    name = "same-file-name"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        sequences: dict[tuple[str, object], OutputFile] = {}
        reported: list[Group] = []
        for file in _sequences(component):
            key = _identity(component, file)
            if key is None or file.stream in reported:
                continue
            first = sequences.setdefault(key, file)
            same = (first.stream, first.level_type, first.domain) == (file.stream, file.level_type, file.domain)
            if first is file or same:
                continue
            reported.append(file.stream)
            name = "output_filename" if first.stream is not file.stream else "filename_format"
            other = f"the stream {stream_name(first.stream)}"
            if first.stream is file.stream:
                other = f"its level type {first.level_type}, domain {first.domain}"
            yield self.finding(
                setting_of(component, file.stream, name),
                f"the stream {stream_name(file.stream)} ({file.level_type}) writes into the files of {other}: {key[0]}",
                f"expected: another {name}",
            )


def _sequences(component: Component) -> Iterator[OutputFile]:
    """The first partition of every sequence of files."""
    numbers = [number for stream in streams_read(component) for number in partitions_of(component, stream).values()]
    if all(number <= MOST_PARTITIONS for number in numbers):
        yield from (file for file in output_files(component) if file.partition == 1)


def _template(component: Component, file: OutputFile) -> tuple[str, str]:
    """The files' name with what is fixed for a sequence filled in, but for output_filename, and the extension: keywords
    in both are text."""
    stream = file.stream
    known = {
        "<levtype>": file.level_type.upper(),
        "<levtype_l>": file.level_type,
        "<physdom>": f"{file.domain:02d}",
        "<npartitions>": str(file.partitions),
    }
    name = str(setting_of(component, stream, "filename_format").value).strip()
    for keyword, text in known.items():
        name = name.replace(keyword, text)
    extension = str(setting_of(component, stream, "filename_extn").value).strip()
    if extension.lower() == "default":
        extension = _EXTENSIONS.get(setting_of(component, stream, "filetype").value, "")
    return name, extension


def _identity(component: Component, file: OutputFile) -> tuple[str, object] | None:
    """The name and, where a date is part of it, the first time; None if nothing is written or none is certain."""
    time = clock(component)
    found = windows_of(component, file.stream, time)
    if not writes_within(found, time.length):
        return None
    template, extension = _template(component, file)
    prefix = str(setting_of(component, file.stream, "output_filename").value).strip()
    name = template.replace("<output_filename>", prefix) + extension
    if not any(keyword in template for keyword in _DATES):
        return name, None
    starts = as_list(setting_of(component, file.stream, "output_start").value)
    if found[0].start < 0 or any(str(text).startswith(">") for text in starts):
        return None
    return name, found[0].start


class ConstantFileName(ComponentRule):
    """Several files need names that differ.

    ## What it does
    Finds a `filename_format` with neither a counter nor a date in a stream that writes several files.

    ## Why it matters
    ICON aborts when output is initialised.

    ## Evidence
    ICON 2024.10: "Ambiguous output file name: 'always.nc'" (`mo_output_event_control.f90:355`).

    ## Example
    ```yaml bad
    output: {atm: {filename_format: <output_filename>_<levtype>}}
    #                               ^
    ```
    ```yaml good
    output: {atm: {filename_format: <output_filename>_<levtype>_<datetime2>}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT012"
    name = "constant-file-name"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            form = setting_of(component, stream, "filename_format")
            if any(keyword in form.value for keyword in (*_COUNTERS, *_DATES)):
                continue
            for kind, number in possible_partitions_of(component, stream).items():
                files = _files(component, stream, kind)
                if files > 1 or (files == 1 and number > 1 and "<ifile_partition>" not in form.value):
                    yield self.finding(
                        form,
                        f'filename_format "{form.value}" gives the {kind} files of the stream {stream_name(stream)} '
                        "one and the same name",
                        f"expected: a counter or a date in it, such as {_COUNTERS[0]} or {_DATES[1]}",
                    )
                    break


def _files(component: Component, stream: Group, level_type: str) -> int:
    """How many files one partition of a stream writes in the whole experiment; 0 where ICON would not start."""
    time = clock(component)
    if any(window.interval <= 0 for window in windows_of(component, stream, time)):
        return 0
    return files_of_a_sequence(component, stream, level_type, time)


class TooManyFiles(ComponentRule):
    """The counter in a file's name has four digits.

    ## What it does
    Finds a sequence of more than 9999 files whose names are told apart by `<jfile>` or `<total_index>` alone.

    ## Why it matters
    From the ten thousandth file on the counter does not fit: the names are no longer different.

    ## Evidence
    ICON 2024.10: both keywords are written with four digits (`mo_output_event_control.f90:195-355`; read, not tried).

    ## Example
    ```yaml bad
    time: {modelTimeStep: PT1M}
    output: {atm: {output_interval: PT1M, file_interval: PT1M}}
    #                                                    ^
    ```
    ```yaml good
    time: {modelTimeStep: PT1M}
    output: {atm: {output_interval: PT1M, file_interval: PT4H}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT024"
    name = "too-many-files"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            form = setting_of(component, stream, "filename_format").value
            if any(word in form for word in _DATES) or not any(word in form for word in _COUNTERS):
                continue
            for kind, number in possible_partitions_of(component, stream).items():
                files = _files(component, stream, kind) * number
                if files > _MOST_FILES:
                    interval = setting_of(component, stream, "file_interval")
                    yield self.finding(
                        setting_of(component, stream, "steps_per_file") if is_blank(interval) else interval,
                        f"about {files} {kind} files of the stream {stream_name(stream)} and a counter of four digits",
                        f"expected: longer files, or {_DATES[1]} in filename_format",
                    )
                    break
