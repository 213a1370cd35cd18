"""ICON's namelists as a page of the site: every group and variable of every release, from the registries.

The directive `icon-namelists` stands in a page and becomes a section for each group, with a table of its variables. The
names are objects of a domain, so that the site's search leads to a variable's own line.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from attrs import evolve, frozen
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx
from sphinx.domains import Domain, ObjType

from nmlgen.linting import rule_names
from nmlgen.namelist.descriptions import description
from nmlgen.namelist.registry import Registry, Removal, Variable, load_registry, releases
from nmlgen.report.registry import default_text, format_removal

_HEAD = (
    "<thead><tr><th>variable</th><th>type</th><th>default</th><th>values, meaning</th><th>releases</th></tr></thead>"
)


@frozen
class Line:
    """What is shown of a variable, and the releases in which that is so."""

    name: str
    declaration: str
    default: str
    unit: str
    expected: str
    rules: tuple[str, ...]
    releases: tuple[str, ...] = ()


class IconNamelists(Directive):
    """The groups of all releases, each a section."""

    def run(self) -> list[nodes.Node]:
        environment = self.state.document.settings.env
        domain = environment.get_domain("icon")
        registries = [load_registry(release) for release in releases()]
        names = sorted({name for registry in registries for name in registry.groups})
        return [_section(name, registries, domain, environment.docname) for name in names]


class IconDomain(Domain):
    """Groups and variables, for the search."""

    name = "icon"
    label = "ICON"
    object_types = {"group": ObjType("namelist group"), "variable": ObjType("namelist variable")}  # noqa: RUF012
    initial_data = {"objects": {}}  # noqa: RUF012

    def note(self, name: str, kind: str, docname: str, anchor: str) -> None:
        """Let the search know a name."""
        self.data["objects"][name] = (kind, docname, anchor)

    def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        """Every name, as Sphinx wants it."""
        for name, (kind, docname, anchor) in self.data["objects"].items():
            yield name, name, kind, docname, anchor, 0

    def clear_doc(self, docname: str) -> None:
        """Forget the names of a page that is read again."""
        self.data["objects"] = {name: one for name, one in self.data["objects"].items() if one[1] != docname}

    def merge_domaindata(self, docnames: Any, otherdata: dict[str, Any]) -> None:
        """Take over what another process has read."""
        found = otherdata["objects"].items()
        self.data["objects"].update({name: one for name, one in found if one[1] in docnames})


def _section(name: str, registries: list[Registry], domain: IconDomain, docname: str) -> nodes.section:
    section = nodes.section(ids=[name], names=[name])
    section += nodes.title(text=name)
    domain.note(name, "group", docname, name)
    section += nodes.paragraph(text=_about(name, registries))
    rows = []
    for variable, lines in sorted(_lines(name, registries).items()):
        for number, line in enumerate(lines):
            anchor = f' id="{escape(_anchor(name, variable))}"' if number == 0 else ""
            rows.append(_row(line, anchor, description(name, variable)))
        domain.note(f"{name}.{variable}", "variable", docname, _anchor(name, variable))
    rows += _gone(name, registries[-1])
    table = f'<div class="table-wrapper"><table class="docutils namelist">{_HEAD}<tbody>{"".join(rows)}</tbody></table>'
    section += nodes.raw("", f"{table}</div>", format="html")
    return section


def _anchor(group: str, variable: str) -> str:
    return f"{group}.{variable}".replace("%", ".")


def _about(name: str, registries: list[Registry]) -> str:
    """Who reads a group, from where, as far as the newest release with it knows."""
    registry = [one for one in registries if one.has_group(name)][-1]
    group = registry.described(name)[0]
    readers = "read by " + ", ".join(group.readers) if group.is_read else "read by nothing"
    files = (
        ", ".join(registry.files(name)).replace("model", "the model's file").replace("master", "the master namelist")
    )
    parts = [f"Of {group.component}; {readers}, from {files}"]
    if group.is_repeatable:
        parts.append("every copy is read")
    if group.condition is not None:
        parts.append(f"if {group.condition}")
    since, last = _first(name, registries), registry.release
    if since != registries[0].release:
        parts.append(f"since {since}")
    if last != registries[-1].release:
        parts.append(f"up to {last}")
    return "; ".join(parts) + "."


def _first(name: str, registries: list[Registry]) -> str:
    return next(registry.release for registry in registries if registry.has_group(name))


def _lines(group: str, registries: list[Registry]) -> dict[str, list[Line]]:
    """What is to be said of each variable, the newest first; releases that agree share a line."""
    found: dict[str, list[Line]] = {}
    for registry in reversed(registries):
        for described in registry.described(group):
            for variable in registry.variables_of(described):
                lines = found.setdefault(variable.name, [])
                line = _line(variable)
                same = [index for index, known in enumerate(lines) if evolve(known, releases=()) == line]
                if same:
                    known = lines[same[0]]
                    lines[same[0]] = evolve(known, releases=tuple(dict.fromkeys((registry.release, *known.releases))))
                else:
                    lines.append(evolve(line, releases=(registry.release,)))
    return found


def _line(variable: Variable) -> Line:
    constraint = variable.constraint
    return Line(
        variable.full_name,
        variable.declaration,
        default_text(variable),
        variable.unit or "",
        constraint.expected if constraint else "",
        tuple(rule for rule in constraint.rules if rule in rule_names()) if constraint else (),
    )


def _row(line: Line, anchor: str, meaning: str | None) -> str:
    rules = ", ".join(f'<a href="../rules/{rule}.html">{rule}</a>' for rule in line.rules)
    default = f"<code>{escape(line.default)}</code>" + (f" {escape(line.unit)}" if line.unit else "")
    told = " ".join(
        filter(None, (escape(line.expected) + ";" * bool(line.expected and meaning), escape(meaning or "")))
    )
    cells = (f"<code>{escape(line.name)}</code>", escape(line.declaration), default, f"{told} {rules}".strip())
    body = "".join(f"<td>{cell}</td>" for cell in cells)
    every = line.releases == releases()
    shown = "all" if every else ", ".join(line.releases)
    marks = "" if every else f' data-releases="{" ".join(line.releases)}"'
    return f"<tr{anchor}{marks}>{body}<td>{shown}</td></tr>"


def _gone(group: str, registry: Registry) -> list[str]:
    """The names that the newest release no longer has, with what to write instead."""
    found: list[tuple[str, Removal]] = [
        (name, removal) for name, removal in registry.removed.items() if name.startswith(f"{group}.")
    ]
    return [
        f'<tr class="gone" data-releases=""><td><s>{escape(name.partition(".")[2])}</s></td>'
        f'<td colspan="4">{escape(format_removal(name, removal).partition(": ")[2])}</td></tr>'
        for name, removal in found
    ]


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.add_domain(IconDomain)
    app.add_directive("icon-namelists", IconNamelists)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
