"""Loading a spec: reading its layers, laying them over each other, lowering the result."""

from __future__ import annotations

import hashlib
import json
import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from nmlgen.disk import read_bytes
from nmlgen.errors import InputError, SpecError
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment, OtherModel
from nmlgen.experiment.group import effective
from nmlgen.experiment.machine import Machine
from nmlgen.experiment.setting import Certainty, Origin, Setting
from nmlgen.files import Files
from nmlgen.findings import did_you_mean
from nmlgen.source import Source, Span
from nmlgen.spec import presets
from nmlgen.spec.document import Room, from_plain, of_few, read_file
from nmlgen.spec.layers import EMPTY, Tree, merge, tree_of
from nmlgen.spec.lower import DEFAULTS, LAYER, lower, missing_keys
from nmlgen.spec.models import model_keys
from nmlgen.spec.nodes import Document, Node
from nmlgen.spec.overrides import Override, from_text, overrides_of
from nmlgen.spec.problems import problem
from nmlgen.spec.sections import VARIABLES, WHOLE_GROUPS, canonical
from nmlgen.spec.site import read_site
from nmlgen.spec.validate import validate
from nmlgen.suppression import Suppression, suppressions_in
from nmlgen.values import evolve, field, frozen

_COMMENT = re.compile(r"#\s*nmlgen:.*")


_MOST_COMPARED = 1_000
"""Keys that a name that nothing sets is held against: a sweep may have thousands of both."""


@frozen
class InputDocument:
    """A document that a spec was made from: its label ("preset icon/jabw") and the SHA-256 of its bytes.

    `without_sweep` is that of its keys but for `sweep`; None where there is no sweep in it.
    """

    label: str
    sha256: str
    without_sweep: str | None = None


@frozen(eq=False)
class SpecSource:
    """What a spec is made from: its own document, the directory that paths in it start from, what is laid over it, the
    `files` that presets and sites are read from, and the `room` that the document leaves for them."""

    node: Node
    base: Path
    document: InputDocument
    overrides: tuple[Tree, ...] = ()
    files: Files = field(factory=Files, repr=False)
    room: Room = field(factory=Room, repr=False)


@frozen(eq=False)
class Spec:
    """A loaded spec: the merged keys, the experiment they describe, and the documents they came from.

    `site` holds the facts of the site as its file gives them. `beginning` is the spec's own mapping, for what is said
    of the whole; `source` what it takes to make the spec again with other values.
    """

    tree: Tree
    experiment: Experiment
    documents: tuple[InputDocument, ...]
    overrides: tuple[str, ...] = ()
    suppressions: tuple[Suppression, ...] = field(default=())
    site: Tree = EMPTY
    beginning: Span | None = None
    source: SpecSource | None = field(default=None, repr=False)

    def with_(self, values: Mapping[str, Any]) -> Spec:
        """The spec with other values: `spec.with_({"job.nodes": 4, "output.atm.output_interval": "PT1H"})`.

        The keys are those of --set; None takes a key away. Nothing is read again, but for another `site` or `extends`.
        Raises SpecError for a key or a value that a spec cannot have.
        """
        return self.overridden([said for key, value in values.items() for said in overrides_of(key, value, "with_")])

    def overridden(self, overrides: Iterable[Override]) -> Spec:
        """The spec with these laid over it, one after the other."""
        said = tuple(overrides)
        assert self.source is not None, "a spec that was loaded"
        layers, texts = [override.layer for override in said], tuple(override.text for override in said)
        if any(layer.below(key) is not None for layer in layers for key in ("site", "extends", "partitions")):
            return _assembled(
                evolve(self.source, overrides=(*self.source.overrides, *layers)), (*self.overrides, *texts)
            )
        source = evolve(self.source, overrides=(*self.source.overrides, *layers))
        tree = _merge_all([self.tree, *layers])
        return _lowered(source, tree, self.experiment.machine, self.site, self.documents, (*self.overrides, *texts))

    def without_sweep(self) -> Spec:
        """The same experiment as if nobody had written `sweep`: what it is made from does not change when a sweep
        does."""
        if "sweep" not in (self.tree.children or {}):
            return self
        children = {key: child for key, child in (self.tree.children or {}).items() if key != "sweep"}
        documents = tuple(
            InputDocument(f"{document.label} without its sweep", document.without_sweep)
            if document.without_sweep
            else document
            for document in self.documents
        )
        return evolve(self, tree=evolve(self.tree, children=children), documents=documents)

    def find(self, name: str) -> Setting:
        """The effective setting that `name` stands for, with the chain of those who set it.

        `name` is a variable ("io_nml.restart_write_mode"), a stream's ("output.atm.output_interval") or any key
        of the spec ("job.nodes"). With several models it begins with one ("oce.parallel_nml.num_io_procs",
        "models.oce.parallel.num_io_procs"), or the first is meant. Raises InputError, with the nearest name, if there
        is none.
        """
        if self.experiment.other is not None:
            return self._of_other_model(self.experiment.other, name)
        component, parts = self._component(name.split("."))
        target = VARIABLES.get((parts[0], parts[-1])) if len(parts) == 2 else None
        if target is None and len(parts) == 2 and parts[0] in WHOLE_GROUPS:
            target = (WHOLE_GROUPS[parts[0]], parts[1])
        if target is None and parts[0] == "namelists" and len(parts) == 3:
            target = (parts[1], parts[2])
        if target is None and len(parts) == 2 and self.experiment.registry.has_group(parts[0]):
            target = (parts[0], parts[1])
        if target is not None and target[0] != "output_nml":
            return self._variable(component, *target)
        if parts[0] in ("output", "output_nml"):
            return self._stream_variable(component, parts, name)
        return self._key(name.split("."), name)

    def _of_other_model(self, other: OtherModel, name: str) -> Setting:
        """The same for a model that is not ICON: "time_control.run_days", or any key of the spec."""
        group, _, variable = name.removeprefix("namelists.").rpartition(".")
        for one in (one for groups in other.files.values() for one in groups):
            if one.name == group.lower() and variable.lower() in one.settings:
                return one.settings[variable.lower()]
        return self._key(name.split("."), name)

    def _component(self, parts: list[str]) -> tuple[Component, list[str]]:
        """The component that a name is about, and the name within it."""
        components = {component.model.label: component for component in self.experiment.components}
        if len(parts) > 2 and parts[0] == "models" and parts[1] in components:
            return components[parts[1]], parts[2:]
        if len(parts) > 1 and parts[0] in components:
            return components[parts[0]], parts[1:]
        return self.experiment.components[0], parts

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

    def _variable(self, component: Component, group: str, variable: str) -> Setting:
        registry = component.registry
        found = component.group(group)
        known = registry.variables(group) if registry.has_group(group) else ()
        if variable.lower() not in known and not (found and variable.lower() in found.settings):
            notes = "; ".join(did_you_mean(variable, known))
            message = f"ICON {registry.release} has no variable {variable} in {group}"
            raise InputError(f"{message}; {notes}" if notes else message)
        setting = component[group, variable]
        tree = self._keys_of(component)
        taken = ((tree.children or {}).get("namelists") or EMPTY).below(group.lower(), variable.lower())
        if setting.is_written or taken is None:
            return setting
        return evolve(setting, history=taken.history + setting.history)

    def _keys_of(self, component: Component) -> Tree:
        """The keys that hold for a component."""
        models = model_keys(self.tree, component.registry)
        return next((keys.tree for keys in models if keys.label == component.model.label), self.tree)

    def _stream_variable(self, component: Component, parts: list[str], name: str) -> Setting:
        streams = {stream.label or "": stream for stream in component.streams}
        if len(parts) != 3 or parts[1] not in streams:
            raise InputError(
                f"{name}: an output stream is named as output.<stream>.<variable>; there are "
                f"{', '.join(streams) or 'none'}"
            )
        variable = self.experiment.registry.variable("output_nml", parts[2])
        if variable is None:
            notes = "; ".join(did_you_mean(parts[2], self.experiment.registry.variables("output_nml")))
            raise InputError(f"output_nml has no variable {parts[2]}" + f"; {notes}" * bool(notes))
        return component.stream_setting(streams[parts[1]], parts[2])

    def _key(self, parts: list[str], name: str) -> Setting:
        experiment = self.experiment
        if parts[0] == "job" and len(parts) == 2 and parts[1].replace("_", "-") in experiment.directives:
            return experiment.directives[parts[1].replace("_", "-")]
        if parts[0] == "environment" and len(parts) == 2:
            found = experiment.environment.get(parts[1]) or experiment.mpi.lustre_variables.get(parts[1])
            if found is not None:
                return found
        for program in (one for one in experiment.programs if name.startswith(f"{one.path}.")):
            of_program = {**program.settings}
            of_program |= {f"environment.{key}": setting for key, setting in program.environment.items()}
            of_program |= {f"job.{key.replace('-', '_')}": setting for key, setting in program.job.items()}
            if name.removeprefix(f"{program.path}.") in of_program:
                return of_program[name.removeprefix(f"{program.path}.")]
        if parts[0] == "lustre" and len(parts) == 3:
            for block in experiment.striping:
                if block.what == parts[1] and parts[2] in block.settings:
                    return block.settings[parts[2]]
        tree = self.tree.below(*parts)
        if tree is None or not tree.history:
            keys = list(islice(_paths(self.tree), _MOST_COMPARED + 1))
            known = [
                *(keys if len(keys) <= _MOST_COMPARED else ()),
                *(f"{section}.{key}" for section, key in VARIABLES),
            ]
            notes = "; ".join(did_you_mean(name, known))
            raise InputError(f"nothing sets {name}" + f"; {notes}" * bool(notes))
        return Setting(name, tree.history)


def load_spec(
    source: str | Path | Mapping[str, Any], overrides: Iterable[str] = (), *, files: Files | None = None
) -> Spec:
    """Load a spec from a YAML file or a mapping, with overrides such as "job.nodes=4" laid over it.

    `files` gives other texts than those on the disk, of the spec and of all YAML files that it names. Raises InputError
    if a file cannot be read and SpecError, with every mistake and its position, if the spec cannot be understood.
    """
    overrides, files, room = tuple(overrides), files or Files(), Room()
    if isinstance(source, Mapping):
        node, base = from_plain(source), Path()
        sha256 = _sha256(repr(node.plain()).encode())
    else:
        read, base = read_file(Path(source), files=files, room=room), Path(source).parent
        node, sha256 = read.node, read.sha256
    validate(node, "spec")
    layers = tuple(from_text(text) for text in overrides)
    return _assembled(SpecSource(node, base, _input("spec", sha256, node), layers, files, room), overrides)


def _input(label: str, sha256: str, node: Node) -> InputDocument:
    if "sweep" not in node.value:
        return InputDocument(label, sha256)
    rest = {key: child.plain() for key, child in node.value.items() if key != "sweep"}
    return InputDocument(label, sha256, _sha256(json.dumps(rest, sort_keys=True).encode()))


def _assembled(source: SpecSource, overrides: tuple[str, ...]) -> Spec:
    """The spec of a document: its presets and its site are read, and all laid over each other."""
    documents, base, room = [source.document], source.base, evolve(source.room)
    own = [tree_of(source.node, "spec"), *source.overrides]
    last = _merge_all(own)
    layers = [_defaults(), *_preset_layers(last.get("extends"), base, documents, (), source.files, room)]
    site_name = merge(of_few(_merged, source.room.written - room.written)(tuple(layers)), last).get("site")
    site, machine = EMPTY, None
    if site_name is not None:
        label, document, path = presets.read(str(site_name.value), "site", base, site_name.span, source.files, room)
        documents.append(InputDocument(label, document.sha256))
        machine, defaults = read_site(document, label.removeprefix("site "), path)
        if machine.calibration is not None:
            documents.append(InputDocument(f"calibration of {label}", _sha256(read_bytes(Path(machine.calibration)))))
        site = of_few(_facts, document.written)(document.node.value["machine"], label)
        if defaults is not None:
            layers.append(_layer_of(document, defaults, label))
    tree = merge(of_few(_laid, source.room.written - room.written)(tuple(layers)), _merge_all(map(canonical, own)))
    if machine is None:
        raise SpecError(tuple(missing_keys(tree, source.node.span)))
    return _lowered(source, tree, machine, site, tuple(documents), overrides)


def _lowered(
    source: SpecSource,
    tree: Tree,
    machine: Machine,
    site: Tree,
    documents: tuple[InputDocument, ...],
    overrides: tuple[str, ...],
) -> Spec:
    node = source.node
    experiment = lower(tree, machine, site, node.span, node.keys.get("job"), source.files)
    return Spec(tree, experiment, documents, overrides, _suppressions(tree, node), site, node.span, source)


_MOST_PRESETS = 50  # one that two others extend counts twice


def _preset_layers(
    extends: Tree | None, base: Path, documents: list[InputDocument], seen: tuple[Path, ...], files: Files, room: Room
) -> list[Tree]:
    if extends is None:
        return []
    references = extends.value if isinstance(extends.value, list) else [extends.value]
    layers: list[Tree] = []
    for reference in references:
        label, document, path = presets.read(reference, "preset", base, extends.span, files, room)
        if path.resolve() in seen:
            raise SpecError((problem("SPC007", f"{reference} extends itself", extends.span),))
        if len(documents) + len(seen) > _MOST_PRESETS:
            raise SpecError((problem("SPC006", f"more than {_MOST_PRESETS} presets below one spec", extends.span),))
        tree = _layer_of(document, document.node, label)
        layers += _preset_layers(tree.get("extends"), path.parent, documents, (*seen, path.resolve()), files, room)
        documents.append(_input(label, document.sha256, document.node))
        layer = of_few(_without_extends, document.written)(tree)
        if (site := tree.get("site")) is not None and (moved := _seen_from(base, path.parent, site)) is not site:
            layer = Tree(children={**(layer.children or {}), "site": moved})
        layers.append(layer)
    return layers


def _layer_of(document: Document, node: Node, label: str) -> Tree:
    return of_few(_valid, document.written)(node, label)


@lru_cache(maxsize=64)
def _valid(node: Node, label: str) -> Tree:
    validate(node, "spec")
    return tree_of(node, label)


@lru_cache(maxsize=64)
def _without_extends(tree: Tree) -> Tree:
    return Tree(children={key: child for key, child in (tree.children or {}).items() if key != "extends"})


def _seen_from(base: Path, home: Path, reference: Tree) -> Tree:
    """A path that a preset in `home` gives, as it is to be read from `base`; names stay as they are."""
    last = reference.history[-1]
    if not str(last.value).startswith(("./", "../")):
        return reference
    path = os.path.relpath(home / last.value, base)
    value = path if path.startswith("../") else f"./{path}"
    return Tree((*reference.history[:-1], Origin(last.layer, value, last.span)), key_span=reference.key_span)


def _merge_all(layers: Iterable[Tree]) -> Tree:
    """All layers as one, neighbours first: thousands of values that a point sets do not each copy all keys."""
    left = [EMPTY, *layers]
    while len(left) > 1:
        pairs = [merge(below, above) for below, above in zip(left[::2], left[1::2], strict=False)]
        left = [*pairs, *left[2 * len(pairs) :]]
    return left[0]


@lru_cache(maxsize=32)
def _facts(node: Node, label: str) -> Tree:
    return tree_of(node, label)


@cache
def _defaults() -> Tree:
    return tree_of(from_plain(DEFAULTS), LAYER)


_merged = lru_cache(maxsize=16)(_merge_all)


@lru_cache(maxsize=16)
def _laid(layers: tuple[Tree, ...]) -> Tree:
    """Presets and the defaults of a site over each other: many specs have the same."""
    return _merge_all(map(canonical, layers))


def _suppressions(tree: Tree, node: Node) -> tuple[Suppression, ...]:
    found = []
    block = tree.get("ignore")
    for rule, leaf in (block.children or {}).items() if block else ():
        if not leaf.is_unset:
            found.append(Suppression(rule, str(leaf.value), leaf.key_span))
    if node.span is not None:
        found += _comment_suppressions(node.span.source, node.span.line)
    return tuple(found)


@lru_cache(maxsize=16)
def _comment_suppressions(source: Source, first_line: int) -> tuple[Suppression, ...]:
    """Those in comments, of which the points of a sweep have the same; above the first key they hold for all that the
    spec was made from."""
    found = []
    for suppression in suppressions_in(source, _comments(source)):
        is_above = suppression.span is not None and suppression.span.line < first_line
        is_whole = is_above or suppression.line is None
        found.append(evolve(suppression, files=None, line=None) if is_whole else suppression)
    return tuple(found)


def _comments(source: Source) -> Iterable[tuple[int, str]]:
    """The comments that speak to nmlgen, each with its offset."""
    lines = zip(source.lines, source.line_starts, strict=True)
    found = [(start, match) for line, start in lines for match in _COMMENT.finditer(line)]
    inside = _texts(source) if found else []
    for start, match in found:
        offset = start + match.start()
        number = bisect_right(inside, (offset, len(source.text))) - 1  # of the scalar that begins last before it
        if number < 0 or offset >= inside[number][1]:
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
