"""The file of streams beside a namelist of MPAS: what `src/framework/xml_stream_parser.c` reads, and what it refuses.

It is no full XML: a header `<?xml?>` is refused, text between tags and attributes without quotes are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from nmlgen.source import Source, Span, Text
from nmlgen.values import evolve, frozen

_TAG = re.compile(
    r"<!--.*?(?:-->|(?P<open>\Z))|<(?P<close>/)?(?P<name>[^\s<>/]+)(?![^\s<>/])(?P<rest>[^<>]*)>", re.DOTALL
)
_ATTRIBUTE = re.compile(r"""(?<!\w)(?P<name>[A-Za-z_]\w*)\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)')""")
_STREAMS = ("stream", "immutable_stream")
INTERVAL = re.compile(r"(?:\d+(?:-\d+){0,2}_)?(?:\d+:){0,2}\d+(?:\.\d*)?")
_NOTHING = re.compile(r"[0:_.-]*")
_VARIABLE = re.compile(r"\$(?![YMDdhmsGSB]|\Z)")
_REFERENCE = re.compile(r"stream:([^:]*):([^:]*)")
_ONCE = ("initial_only", "final_only")
ONLY = ("none", *_ONCE)
"""What stands in the place of an interval."""
_DATE = re.compile(r"initial_time|-?\d+(?:-\d+){0,2}(?:_\d+(?::\d+){0,2})?")
_TYPES = ("pnetcdf,cdf5", "pnetcdf", "netcdf4", "netcdf")
_PRECISIONS = ("single", "double")


_MEMBERS = ("var", "var_array", "var_struct", "stream", "file")


@frozen
class Member:
    """What a stream holds: a `var`, `var_array`, `var_struct`, all of another `stream`, or what a `file` lists; with
    `packages` only while one of them is active."""

    kind: str
    name: str
    packages: tuple[str, ...] = ()
    span: Span | None = None


@frozen
class Stream:
    """A stream: its attributes, where each stands, and what it holds."""

    is_immutable: bool
    attributes: Mapping[str, str]
    spans: Mapping[str, Span]
    span: Span
    members: tuple[Member, ...] = ()

    @property
    def name(self) -> str:
        """Its name; "" without one."""
        return self.attributes.get("name", "")

    def at(self, attribute: str) -> Span:
        """Where an attribute stands, or else the stream."""
        return self.spans.get(attribute, self.span)


@frozen
class StreamProblem:
    """What MPAS `stops` at in its file of streams, or else takes otherwise than it is written."""

    span: Span
    message: str
    expected: str
    stops: bool = True
    is_certain: bool = True
    """Whether it stops at it in any case."""


def problems_of(source: Source, immutable: tuple[str, ...]) -> Iterator[StreamProblem]:
    """What is wrong with a file of streams; `immutable` are those whose contents MPAS fixes."""
    found = [*_badly_nested(source)]
    yield from found
    if found:
        return  # MPAS looks no further
    streams = list(streams_of(source))
    by_name = {stream.name: stream for stream in reversed(streams)}
    for stream in streams:
        yield from _of_attributes(stream)
        yield from _of_members(stream, by_name)
        yield from _of_references(stream, by_name)
        if stream.is_immutable and stream.name and stream.name not in immutable:
            yield StreamProblem(
                stream.at("name"), f'MPAS has no fixed stream "{stream.name}"', f"one of {', '.join(immutable)}"
            )
    yield from _of_pairs(streams)


def _badly_nested(source: Source) -> Iterator[StreamProblem]:
    text = Text(source)
    open_tags: list[tuple[str, Span]] = []
    has_root = False
    for tag in _TAG.finditer(source.text):
        name, span = tag["name"], text.span(tag.start(), tag.end())
        if tag["open"] is not None and ">" in tag[0]:
            yield StreamProblem(text.span(tag.start(), tag.start() + len("<!--")), "the comment is not closed", "-->")
            return
        if name is None:
            continue
        if name.startswith("?"):
            yield StreamProblem(
                span, "MPAS takes the XML header for a tag that is not closed", "a file that begins with <streams>"
            )
            return
        has_root |= name == "streams"
        if tag["close"]:
            if not open_tags or open_tags[-1][0] != name:
                opened = open_tags[-1] if open_tags else (name, span)
                yield StreamProblem(span, f"</{name}> closes nothing", f"</{opened[0]}>")
                return
            open_tags.pop()
        elif not tag["rest"].rstrip().endswith("/"):
            open_tags.append((name, span))
    if open_tags:
        name, span = open_tags[-1]
        yield StreamProblem(span, f"<{name}> is not closed", f"</{name}>")
    elif not has_root:
        yield StreamProblem(source.span(1, 1), "there is no <streams>", "<streams> around all streams")


def streams_of(source: Source) -> Iterator[Stream]:
    """The streams of a file; one within another says whose contents that has, too."""
    text = Text(source)
    stream: Stream | None = None
    members: list[Member] = []
    for tag in _TAG.finditer(source.text):
        kind = tag["name"]
        if kind is None:
            continue
        if tag["close"]:
            if stream is not None and kind in _STREAMS:
                yield evolve(stream, members=tuple(members))
                stream, members = None, []
            continue
        if stream is not None and kind in _MEMBERS:
            span = text.span(tag.start(), tag.end())
            members.append(_member(kind, tag["rest"], span))
        elif kind in _STREAMS:
            if stream is not None:  # which nobody closed
                yield evolve(stream, members=tuple(members))
            stream, members = _stream(text, tag), []
            if tag["rest"].rstrip().endswith("/"):
                yield stream
                stream = None
    if stream is not None:
        yield evolve(stream, members=tuple(members))


def _member(kind: str, rest: str, span: Span) -> Member:
    attributes = {found["name"]: found["double"] or found["single"] or "" for found in _ATTRIBUTE.finditer(rest)}
    return Member(kind, attributes.get("name", ""), packages_of(attributes), span)


def packages_of(attributes: Mapping[str, str]) -> tuple[str, ...]:
    """The packages that an attribute names."""
    return tuple(attributes["packages"].split(";")) if attributes.get("packages") else ()


def _stream(text: Text, tag: re.Match[str]) -> Stream:
    attributes, spans = {}, {}
    start = tag.start("rest")
    for found in _ATTRIBUTE.finditer(tag["rest"]):
        group = "double" if found["double"] is not None else "single"
        if found["name"] in attributes:
            continue  # MPAS takes the first
        attributes[found["name"]] = found[group]
        spans[found["name"]] = text.span(start + found.start(group), start + found.end(group))
    if "=" in _ATTRIBUTE.sub("", tag["rest"]):  # an attribute without quotes, whose name is not known
        attributes = {"name": attributes.get("name", ""), **_ANY, **attributes}
    line_end = text.source.text.find("\n", tag.start())
    end = min(tag.end(), line_end if line_end > 0 else tag.end())
    return Stream(tag["name"] == "immutable_stream", attributes, spans, text.span(tag.start(), end))


_ANY = {"type": "none", "filename_template": "", "input_interval": "none", "output_interval": "none"}


def _of_members(stream: Stream, by_name: Mapping[str, Stream]) -> Iterator[StreamProblem]:
    for member in () if stream.is_immutable else stream.members:
        other = by_name.get(member.name) if member.kind == "stream" else None
        if other is not None and adds_nothing(stream, other):
            message = f'MPAS adds nothing of stream "{member.name}" to "{stream.name}", for it stands before'
            yield StreamProblem(
                member.span or stream.span, message, "the fields themselves, or that stream below", stops=False
            )


def _of_references(stream: Stream, by_name: Mapping[str, Stream]) -> Iterator[StreamProblem]:
    """Intervals that are those of other streams (`extract_stream_interval`)."""
    for attribute in ("input_interval", "output_interval"):
        value = stream.attributes.get(attribute, "")
        found = _REFERENCE.fullmatch(value)
        if found is None:
            continue
        other = by_name.get(found[1])
        own = None if other is None else other.attributes.get(found[2])
        if found[2] not in ("input_interval", "output_interval"):
            why = "is no interval of a stream"
        elif own is None:
            why = "is nowhere"
        elif other is stream and found[2] == attribute:
            why = "is itself"
        elif own in ("input_interval", "output_interval") or own.startswith("stream:"):
            why = "is that of another one again"
        else:
            continue
        message = f'the {attribute} "{value}" of stream "{stream.name}" {why}'
        yield StreamProblem(stream.at(attribute), message, "stream:NAME:output_interval of a stream that has one")


def _of_attributes(stream: Stream) -> Iterator[StreamProblem]:
    given = stream.attributes
    if "name" not in given:
        yield StreamProblem(stream.span, "a stream has no name: MPAS crashes", 'name="..."')
        return
    if stream.name == "" and "name" not in stream.spans:
        message = "the name of a stream stands without quotes: most runs of MPAS crash"
        yield StreamProblem(stream.span, message, 'name="..."', is_certain=False)
    if re.search(r"\s", stream.name):
        yield StreamProblem(
            stream.at("name"), f'MPAS does not find a stream called "{stream.name}" again', "a name without blanks"
        )
    for attribute in ("type", "filename_template"):
        if attribute not in given:
            yield StreamProblem(stream.span, f'stream "{stream.name}" has no {attribute}', f'{attribute}="..."')
            return
    kind = given["type"]
    for direction in ("input", "output"):
        if direction in kind and f"{direction}_interval" not in given:
            message = f'{direction} stream "{stream.name}" has no {direction}_interval'
            yield StreamProblem(stream.span, message, f'{direction}_interval="06:00:00"')
    if "input" not in kind and "output" not in kind and kind != "none":
        message = f'stream "{stream.name}" neither reads nor writes: MPAS does not know the type "{kind}"'
        yield StreamProblem(stream.at("type"), message, "input, output or input;output", stops=False)
    yield from _of_files(stream)
    yield from _of_times(stream)
    for attribute, known in (("io_type", _TYPES), ("precision", _PRECISIONS)):
        value = given.get(attribute)
        if value is not None and not any(word in value for word in known):
            message = f'MPAS does not know the {attribute} "{value}", and goes on without it'
            yield StreamProblem(stream.at(attribute), message, f"one of {' '.join(known)}", stops=False)


def _of_files(stream: Stream) -> Iterator[StreamProblem]:
    """Names of files, and what each of them is for."""
    given = stream.attributes
    for word in ("input_interval", "output_interval"):
        if word not in given.get("filename_interval", ""):
            continue
        if word not in given:
            message = f'stream "{stream.name}" has no {word}'
            yield StreamProblem(stream.at("filename_interval"), message, "the interval of its own direction")
        elif any(only in given[word] for only in _ONCE):
            message = f'{word} is "{given[word]}", and no interval for files'
            yield StreamProblem(stream.at("filename_interval"), message, "none")
    unknown = _VARIABLE.search(given["filename_template"])
    if unknown is not None:
        message = f'MPAS does not know "{given["filename_template"][unknown.start() :][:2]}" in names of files'
        yield StreamProblem(stream.at("filename_template"), message, "$Y $M $D $d $h $m $s")


def _of_times(stream: Stream) -> Iterator[StreamProblem]:
    given = stream.attributes
    for attribute in ("input_interval", "output_interval", "filename_interval"):
        value = given.get(attribute)
        if value is None or value.startswith("stream:"):
            continue
        direction = attribute.partition("_")[0]
        if direction != "filename" and direction not in given["type"]:
            continue  # which MPAS does not read
        if INTERVAL.fullmatch(value):
            if attribute == "output_interval" and _NOTHING.fullmatch(value):
                message = f'"{value}" has no length: MPAS divides by it, and writes each step'
                yield StreamProblem(stream.at(attribute), message, "an interval", stops=False)
            continue
        words = ("none", "input_interval", "output_interval") if attribute == "filename_interval" else ONLY
        if value not in words:
            message = f'"{value}" is no interval'
            yield StreamProblem(stream.at(attribute), message, f"[days_]hh:mm:ss or {', '.join(words)}")
    value = given.get("reference_time")
    if value is not None and not _DATE.fullmatch(value):
        yield StreamProblem(stream.at("reference_time"), f'"{value}" is no date', "YYYY-MM-DD_hh:mm:ss")


def adds_nothing(stream: Stream, other: Stream) -> bool:
    """Whether MPAS passes over another stream within a stream: one whose contents are not fixed, and that stands before
    (`mpas_stream_manager.F:6147`)."""
    return not other.is_immutable and other.span.offsets <= stream.span.offsets


def _of_pairs(streams: list[Stream]) -> Iterator[StreamProblem]:
    names: dict[str, Stream] = {}
    files: dict[str, Stream] = {}
    writers: dict[str, Stream] = {}
    for stream in streams:
        if stream.name and stream.name in names:
            yield StreamProblem(stream.at("name"), f'there are two streams "{stream.name}"', "another name")
        names.setdefault(stream.name, stream)
        template = stream.attributes.get("filename_template", "")
        writes = "output" in stream.attributes.get("type", "")
        other = (files if writes else writers).get(template)
        if template and other is not None and stream.name != other.name:
            message = f'streams "{other.name}" and "{stream.name}" have the same file, and one of them writes it'
            yield StreamProblem(stream.at("filename_template"), message, "another filename_template")
        files.setdefault(template, stream)
        if writes:
            writers.setdefault(template, stream)
