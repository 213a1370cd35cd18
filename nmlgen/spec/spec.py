"""Loading a spec: reading its layers, laying them over each other, lowering the result."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from nmlgen.errors import InputError, SpecError
from nmlgen.experiment.experiment import Experiment, effective
from nmlgen.experiment.setting import Certainty, Origin, Setting
from nmlgen.findings import did_you_mean
from nmlgen.resources import schema
from nmlgen.source import Source, Span
from nmlgen.spec import presets
from nmlgen.spec.document import Node, from_plain, read_file, read_text
from nmlgen.spec.layers import EMPTY, Tree, merge, tree_of
from nmlgen.spec.lower import DEFAULTS, LAYER, lower, missing_keys
from nmlgen.spec.problems import problem
from nmlgen.spec.sections import VARIABLES, WHOLE_GROUPS, canonical
from nmlgen.spec.site import read_site
from nmlgen.spec.validate import validate
from nmlgen.suppression import Suppression, suppressions_in

_COMMENT = re.compile(r"#\s*nmlgen:.*")


@frozen
class InputDocument:
    """A document that a spec was made from: its label ("preset icon/jabw") and the SHA-256 of its bytes."""

    label: str
    sha256: str


@frozen(eq=False)
class Spec:
    """A loaded spec: the merged keys, the experiment they describe, and the documents they came from.

    `beginning` is the spec's own mapping, for what is said of the whole.
    """

    tree: Tree
    experiment: Experiment
    documents: tuple[InputDocument, ...]
    overrides: tuple[str, ...] = ()
    suppressions: tuple[Suppression, ...] = field(default=())
    beginning: Span | None = None

    def find(self, name: str) -> Setting:
        """The effective setting that `name` stands for, with the chain of those who set it.

        `name` is a variable ("io_nml.restart_write_mode"), a stream's ("output.atm.output_interval") or any key
        of the spec ("job.nodes"). Raises InputError, with the nearest name, if there is none.
        """
        parts = name.split(".")
        target = VARIABLES.get((parts[0], parts[-1])) if len(parts) == 2 else None
        if target is None and len(parts) == 2 and parts[0] in WHOLE_GROUPS:
            target = (WHOLE_GROUPS[parts[0]], parts[1])
        if target is None and parts[0] == "namelists" and len(parts) == 3:
            target = (parts[1], parts[2])
        if target is None and len(parts) == 2 and self.experiment.registry.has_group(parts[0]):
            target = (parts[0], parts[1])
        if target is not None and target[0] != "output_nml":
            return self._variable(*target)
        if parts[0] in ("output", "output_nml"):
            return self._stream_variable(parts, name)
        return self._key(parts, name)

    def chain(self, name: str) -> tuple[Origin, ...]:
        """Everyone who had a say in a setting, the last word first, ICON's own default at the end."""
        setting = self.find(name)
        says = tuple(reversed(setting.history))
        group, _, variable = setting.name.rpartition(".")
        if setting.is_written and self.experiment.registry.variable(group, variable) is not None:
            default = effective(self.experiment.registry, None, group, variable)
            if default.certainty is Certainty.DEFAULT:
                says = (*says, default.origin)
        return says

    def _variable(self, group: str, variable: str) -> Setting:
        registry = self.experiment.registry
        found = self.experiment.group(group)
        known = registry.variables(group) if registry.has_group(group) else ()
        if variable.lower() not in known and not (found and variable.lower() in found.settings):
            notes = "; ".join(did_you_mean(variable, known))
            message = f"ICON {registry.release} has no variable {variable} in {group}"
            raise InputError(f"{message}; {notes}" if notes else message)
        setting = self.experiment[group, variable]
        taken = ((self.tree.children or {}).get("namelists") or EMPTY).below(group.lower(), variable.lower())
        if setting.is_written or taken is None:
            return setting
        return evolve(setting, history=taken.history + setting.history)

    def _stream_variable(self, parts: list[str], name: str) -> Setting:
        streams = {stream.label or "": stream for stream in self.experiment.streams}
        if len(parts) != 3 or parts[1] not in streams:
            raise InputError(
                f"{name}: an output stream is named as output.<stream>.<variable>; there are "
                f"{', '.join(streams) or 'none'}"
            )
        variable = self.experiment.registry.variable("output_nml", parts[2])
        if variable is None:
            notes = "; ".join(did_you_mean(parts[2], self.experiment.registry.variables("output_nml")))
            raise InputError(f"output_nml has no variable {parts[2]}" + f"; {notes}" * bool(notes))
        return self.experiment.stream_setting(streams[parts[1]], parts[2])

    def _key(self, parts: list[str], name: str) -> Setting:
        experiment = self.experiment
        if parts[0] == "job" and len(parts) == 2 and parts[1].replace("_", "-") in experiment.directives:
            return experiment.directives[parts[1].replace("_", "-")]
        if parts[0] == "environment" and len(parts) == 2:
            found = experiment.environment.get(parts[1]) or experiment.mpi.lustre_variables.get(parts[1])
            if found is not None:
                return found
        tree = self.tree.below(*parts)
        if tree is None or not tree.history:
            known = [*_paths(self.tree), *(f"{section}.{key}" for section, key in VARIABLES)]
            notes = "; ".join(did_you_mean(name, known))
            raise InputError(f"nothing sets {name}" + f"; {notes}" * bool(notes))
        return Setting(name, tree.history)


def load_spec(source: str | Path | Mapping[str, Any], overrides: Iterable[str] = ()) -> Spec:
    """Load a spec from a YAML file or a mapping, with overrides such as "job.nodes=4" laid over it.

    Raises InputError if a file cannot be read and SpecError, with every mistake and its position, if the spec
    cannot be understood.
    """
    overrides = tuple(overrides)
    documents: list[InputDocument] = []
    if isinstance(source, Mapping):
        node, base = from_plain(source), Path()
        documents.append(InputDocument("spec", _sha256(repr(node.plain()).encode())))
    else:
        read, base = read_file(Path(source)), Path(source).parent
        node = read.node
        documents.append(InputDocument("spec", read.sha256))
    validate(node, "spec")
    own = [tree_of(node, "spec"), *(_override(text) for text in overrides)]
    last = _merge_all(own)
    layers = [tree_of(from_plain(DEFAULTS), LAYER)]
    layers += _preset_layers(last.get("extends"), base, documents, ())
    site_name = _merge_all([*layers, *own]).get("site")
    site, machine = EMPTY, None
    if site_name is not None:
        label, document, _ = presets.read(str(site_name.value), "site", base, site_name.span)
        documents.append(InputDocument(label, document.sha256))
        machine, defaults = read_site(document.node, label.removeprefix("site "))
        site = tree_of(document.node.value["machine"], label)
        if defaults is not None:
            validate(defaults, "spec")
            layers.append(tree_of(defaults, label))
    tree = _merge_all([canonical(layer) for layer in (*layers, *own)])
    if machine is None:
        raise SpecError(tuple(missing_keys(tree, node.span)))
    experiment = evolve(lower(tree, machine, site, node.span), directives_span=node.keys.get("job"))
    return Spec(tree, experiment, tuple(documents), overrides, _suppressions(tree, node), node.span)


def _preset_layers(
    extends: Tree | None, base: Path, documents: list[InputDocument], seen: tuple[Path, ...]
) -> list[Tree]:
    if extends is None:
        return []
    references = extends.value if isinstance(extends.value, list) else [extends.value]
    layers: list[Tree] = []
    for reference in references:
        label, document, path = presets.read(reference, "preset", base, extends.span)
        if path.resolve() in seen:
            raise SpecError((problem("SPC007", f"{reference} extends itself", extends.span),))
        validate(document.node, "spec")
        tree = tree_of(document.node, label)
        layers += _preset_layers(tree.get("extends"), path.parent, documents, (*seen, path.resolve()))
        documents.append(InputDocument(label, document.sha256))
        children = {key: child for key, child in (tree.children or {}).items() if key != "extends"}
        if (site := tree.get("site")) is not None:
            children["site"] = _seen_from(base, path.parent, site)
        layers.append(Tree(children=children))
    return layers


def _seen_from(base: Path, home: Path, reference: Tree) -> Tree:
    """A path that a preset in `home` gives, as it is to be read from `base`; names stay as they are."""
    last = reference.history[-1]
    if not str(last.value).startswith(("./", "../")):
        return reference
    path = os.path.relpath(home / last.value, base)
    value = path if path.startswith("../") else f"./{path}"
    return Tree((*reference.history[:-1], Origin(last.layer, value, last.span)), key_span=reference.key_span)


def _merge_all(layers: Iterable[Tree]) -> Tree:
    merged = EMPTY
    for layer in layers:
        merged = merge(merged, layer)
    return merged


def _override(text: str) -> Tree:
    """The layer of one --set: a path of keys, an equals sign and a value in YAML."""
    source = Source("--set", text)
    path, equals, value = text.partition("=")
    whole = source.span(1, 1, max(1, len(text)))
    if not equals or not all(path.split(".")):
        note = "expected: KEY=VALUE, such as job.nodes=4"
        raise SpecError((problem("SPC004", f'"{text}" sets nothing', whole, note),))
    key_span = source.span(1, 1, len(path))
    value_span = source.span(1, len(path) + 2, max(1, len(value)))
    node = _override_value(value, value_span)
    parts = path.split(".")
    sections = schema("spec")["properties"]
    if len(parts) == 2 and parts[0] not in sections and parts[0].endswith("_nml"):
        parts = ["namelists", *parts]
    if len(parts) > len(sections):
        raise SpecError((problem("SPC003", "no key of a spec lies that deep", key_span),))
    for part in reversed(parts):
        node = Node({part: node}, key_span, {part: key_span})
    validate(node, "spec")
    return tree_of(node, "--set")


def _override_value(text: str, span: Span) -> Node:
    """The value of one --set, read as YAML would read it after a key; mistakes point at the whole of it."""
    try:
        read = read_text(Source("--set", f"value: {text}")).value
    except SpecError as error:
        raise SpecError(tuple(evolve(finding, span=span) for finding in error.findings)) from None
    if set(read) != {"value"}:
        raise SpecError((problem("SPC004", "--set sets one value", span, "expected: KEY=VALUE on one line"),))
    return _at(read["value"], span)


def _at(node: Node, span: Span) -> Node:
    """The same node with all positions at one span."""
    if isinstance(node.value, dict):
        return Node({key: _at(child, span) for key, child in node.value.items()}, span, dict.fromkeys(node.value, span))
    return Node([_at(child, span) for child in node.value] if isinstance(node.value, list) else node.value, span)


def _suppressions(tree: Tree, node: Node) -> tuple[Suppression, ...]:
    found = []
    block = tree.get("ignore")
    for rule, leaf in (block.children or {}).items() if block else ():
        if not leaf.is_unset:
            found.append(Suppression(rule, str(leaf.value), leaf.key_span))
    if node.span is not None:
        found += _comment_suppressions(node.span.source, node.span.line)
    return tuple(found)


def _comment_suppressions(source: Source, first_line: int) -> Iterable[Suppression]:
    """Those in comments; above the first key they hold for all that the spec was made from."""
    for suppression in suppressions_in(source, _comments(source)):
        is_above = suppression.span is not None and suppression.span.line < first_line
        is_whole = is_above or suppression.line is None
        yield evolve(suppression, files=None, line=None) if is_whole else suppression


def _comments(source: Source) -> Iterable[tuple[int, str]]:
    """The comments that speak to nmlgen, each with its offset."""
    lines = zip(source.lines, source.line_starts, strict=True)
    found = [(start, match) for line, start in lines for match in _COMMENT.finditer(line)]
    inside = _texts(source) if found else ()
    for start, match in found:
        offset = start + match.start()
        if not any(low <= offset < high for low, high in inside):
            yield offset, match[0]


def _texts(source: Source) -> list[tuple[int, int]]:
    """The offsets at which the scalars of a document begin and end: a # in them begins no comment."""
    from ruamel.yaml import YAML
    from ruamel.yaml.tokens import ScalarToken

    tokens = [token for token in YAML(typ="safe", pure=True).scan(source.text) if isinstance(token, ScalarToken)]
    return [(token.start_mark.index, token.end_mark.index) for token in tokens]


def _paths(tree: Tree, prefix: str = "") -> Iterable[str]:
    for key, child in (tree.children or {}).items():
        yield f"{prefix}{key}"
        yield from _paths(child, f"{prefix}{key}.")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
