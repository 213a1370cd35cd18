"""How files lie on Lustre: the layout that a directory of the run gives to new files, and its components.

A progressive layout has several components, each up to a byte of the file: a small file has the few stripes of the
first one, a large file the many of the last. What a component does not say it has from the one before it: stripe_count,
stripe_size and pool, but for the size of one on the metadata server (`setstripe_args_init_inherit` in
`lustre/utils/lfs.c` of Lustre 2.15).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from nmlgen.experiment.setting import Setting
from nmlgen.units.size import format_size, parse_size
from nmlgen.values import frozen

END_OF_FILE = "eof"
"""The end of the last component, as lfs and a spec write it."""

COMPONENT_UNIT = 64 * 1024
"""What the end of a component is a multiple of, in bytes, as is a stripe."""

STRIPE_SIZES = "a multiple of 64K below 4G, such as 1M or 4M"
"""What is expected where `is_stripe_size` does not hold."""

ON_METADATA_SERVER = "mdt"
"""The layout of a component whose bytes lie beside the metadata."""

_INDICES = 65_533  # of OSTs
_INHERITED = ("stripe_count", "stripe_size", "pool")


@frozen
class Extent:
    """A component: a file's bytes from `start` up to `end`, None for the end of the file, and what is said of it."""

    start: int
    end: int | None
    settings: Mapping[str, Setting]

    @property
    def name(self) -> str:
        """Its end, as a spec writes it."""
        return END_OF_FILE if self.end is None else format_size(self.end)

    @property
    def is_on_metadata_server(self) -> bool:
        """Whether its bytes lie beside the metadata rather than on OSTs."""
        layout = self.settings.get("layout")
        return layout is not None and bool(layout.value == ON_METADATA_SERVER)

    @property
    def count(self) -> int | None:
        """Over how many OSTs it is spread: -1 for all, 0 for the default; None where nobody says it.

        Raises UndecidedError where nobody can know.
        """
        if (listed := self.settings.get("ost")) is not None:
            return ost_count(str(listed.value))
        said = self.settings.get("overstripe_count") or self.settings.get("stripe_count")
        value = said.value if said is not None else None
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    @property
    def size(self) -> int | None:
        """The bytes of a stripe; None where nobody says it, or no size is said."""
        said = self.settings.get("stripe_size")
        value = said.value if said is not None else None
        try:
            return parse_size(value) if isinstance(value, str) else None
        except ValueError:
            return None

    @property
    def place(self) -> Setting | None:
        """The setting that says the number of stripes, else the first of its settings."""
        names = ("stripe_count", "overstripe_count", "ost", *self.settings)
        return next((self.settings[name] for name in names if name in self.settings), None)


@frozen
class Striping:
    """What `lfs` is to do with directories of the run: `what` is "output", "restart" or "input".

    `settings` are those of a plain layout; `delete` takes the directory's own layout away, `migrate` moves the files
    that are there into the layout. A progressive one has its options in `components`, in the order of their ends.
    """

    what: str
    directories: tuple[str, ...]
    settings: Mapping[str, Setting]
    components: tuple[Extent, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is to be done."""
        return not self.settings and not self.components

    @property
    def extents(self) -> tuple[Extent, ...]:
        """The components; a plain layout is one from the beginning of a file to its end."""
        return self.components or (Extent(0, None, self.settings),)

    @property
    def place(self) -> Setting | None:
        """The first of all settings."""
        every = [*self.settings.values(), *(s for extent in self.components for s in extent.settings.values())]
        return every[0] if every else None


def is_stripe_size(size: int) -> bool:
    """Whether Lustre takes so many bytes for a stripe."""
    return size % COMPONENT_UNIT == 0 and size < 4 * 1024**3


def extents_of(components: Iterable[tuple[int | None, Mapping[str, Setting]]]) -> tuple[Extent, ...]:
    """The components with these ends, None for the end of the file, each with what it has from the one before it."""
    made: list[tuple[int | None, dict[str, Setting]]] = [(end, dict(settings)) for end, settings in components]
    for (_, before), (_, settings) in pairwise(made):
        for name in _INHERITED:
            if name in before and name not in settings and not _replaced(name, settings):
                settings[name] = before[name]
    ends = [0, *(end or 0 for end, _ in made)]
    return tuple(Extent(start, end, settings) for start, (end, settings) in zip(ends, made, strict=False))


def _replaced(name: str, settings: Mapping[str, Setting]) -> bool:
    """Whether another option stands in the place of this one."""
    return name == "stripe_count" and ("ost" in settings or "overstripe_count" in settings)


def reached(extents: Iterable[Extent], size: int) -> list[Extent]:
    """The components that a file of so many bytes gets: those that begin within it."""
    return [extent for extent in extents if extent.start < size]


def ost_count(text: str) -> int:
    """How many OSTs a list such as `0,2-4` has; of one with more than there are indices, so many."""
    return min(_INDICES, sum(map(len, _ranges_of_osts(text))))


def has_ost(text: str, index: int) -> bool:
    """Whether a list of OSTs has one of them."""
    return any(index in listed for listed in _ranges_of_osts(text))


def _ranges_of_osts(text: str) -> Iterator[range]:
    items = (item.partition("-") for item in text.split(","))
    return (range(int(first, 0), int(last if dash else first, 0) + 1) for first, dash, last in items)
