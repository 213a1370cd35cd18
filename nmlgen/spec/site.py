"""A site file, read into the machine's facts and a layer of defaults."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from nmlgen.errors import InputError, SpecError
from nmlgen.experiment.machine import CoreLists, FileSystem, Gpus, Machine, MpiInstallation, NodeLocal, Partition
from nmlgen.spec import presets
from nmlgen.spec.document import of_few
from nmlgen.spec.nodes import Document, Node
from nmlgen.spec.problems import problem
from nmlgen.spec.validate import validate
from nmlgen.units.size import parse_size
from nmlgen.units.wall_time import parse_wall_time
from nmlgen.values import evolve, frozen


@frozen
class Site:
    """What a site gives to the specs that name it: its facts and the layer of its defaults."""

    name: str
    machine: Machine
    facts: dict[str, Any]
    defaults: dict[str, Any]


def read_site_of(reference: str, base: Path) -> Site:
    """The site that a spec in the directory `base` would name; raises SpecError if there is none."""
    label, document, path = presets.read(reference, "site", base, None)
    machine, defaults = read_site(document, label.removeprefix("site "), path)
    facts = _said(document.node.value["machine"].plain())
    return Site(reference, machine, facts, (None if defaults is None else defaults.plain()) or {})


def read_site(document: Document, name: str, path: Path) -> tuple[Machine, Node | None]:
    """The facts of the site file of that path and its `defaults`.

    Raises SpecError if it does not match the schema, or names a calibration that is none.
    """
    machine = of_few(_machine, document.written)(document, name)
    facts = document.node.value["machine"]
    if machine.calibration is not None:
        machine = evolve(machine, calibration=_calibration(path.parent / machine.calibration, facts))
    return machine, document.node.value.get("defaults")


@lru_cache(maxsize=32)
def _machine(document: Document, name: str) -> Machine:
    validate(document.node, "site")
    return machine_of(name, document.node.value["machine"].plain())


def _calibration(path: Path, facts: Node) -> str:
    from nmlgen.advise.calibration import Calibration  # few sites name one

    try:
        Calibration.load(path)
    except InputError as error:
        raise SpecError((problem("SPC007", str(error), facts.value["calibration"].span),)) from None
    return str(path)


def machine_of(name: str, facts: dict[str, Any]) -> Machine:
    """The machine that the block `machine:` of a site file describes."""
    facts = _said(facts)
    lustre = facts.get("lustre", {})
    return Machine(
        name=name,
        scheduler=facts["scheduler"],
        account_required=facts.get("account_required", False),
        cores_per_node=facts.get("cores_per_node"),
        threads_per_core=facts.get("threads_per_core"),
        memory_per_node=_size(facts),
        file_system=facts["file_system"],
        ost_count=lustre.get("ost_count"),
        recommended_stripe_size=parse_size(lustre["recommended_stripe_size"])
        if "recommended_stripe_size" in lustre
        else None,
        max_recommended_stripe_count=lustre.get("max_recommended_stripe_count"),
        partitions={key: _partition(key, value) for key, value in facts.get("partitions", {}).items()},
        features=tuple(facts.get("features", ())),
        plugin_options=tuple(facts.get("plugin_options", ())),
        fortran=tuple(facts.get("fortran", ())),
        parts=facts.get("parts", {}),
        file_systems=tuple(
            FileSystem(path, value["type"], value.get("ost_count"))
            for path, value in facts.get("file_systems", {}).items()
        ),
        node_local={key: _node_local(key, value) for key, value in facts.get("node_local", {}).items()},
        mpi={key: _mpi(key, value) for key, value in facts.get("mpi", {}).items()},
        darshan_library=facts.get("darshan", {}).get("library"),
        calibration=facts.get("calibration"),
        network=facts.get("network"),
        max_files=facts.get("max_files"),
        all_memory_by_request=facts.get("all_memory_by_request", False),
        set_up_s=parse_wall_time(facts["set_up_time"]) if "set_up_time" in facts else None,
        run_script_variables={name: str(value) for name, value in facts.get("run_script_variables", {}).items()},
    )


def _said(facts: dict[str, Any]) -> dict[str, Any]:
    """What a block `machine:` says. A key with null is not there, but for names of partitions and MPI libraries, of
    which nothing more is said then."""
    entries = {
        key: {name: said or {} for name, said in (facts.get(key) or {}).items()} for key in ("partitions", "mpi")
    }
    said: dict[str, Any] = _without_nulls({**facts, **entries})
    return said


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value if item is not None] if isinstance(value, list) else value


def _partition(name: str, facts: dict[str, Any]) -> Partition:
    return Partition(
        name=name,
        max_time=parse_wall_time(facts["max_time"]) if "max_time" in facts else None,
        max_nodes=facts.get("max_nodes"),
        exclusive=facts.get("exclusive"),
        cores_per_node=facts.get("cores_per_node"),
        threads_per_core=facts.get("threads_per_core"),
        memory_per_node=_size(facts),
        numa=CoreLists(tuple(facts.get("numa", ()))),
        gpus=gpus_of(facts["gpus"]) if "gpus" in facts else None,
    )


def gpus_of(facts: dict[str, Any]) -> Gpus:
    """The GPUs that a block `gpus:` describes."""
    return Gpus(
        count=facts["count"],
        kind=facts.get("kind"),
        vendor=facts.get("vendor", "nvidia"),
        memory=parse_size(facts["memory"]) if "memory" in facts else None,
        cores=CoreLists(tuple(facts.get("cores", ()))),
        cards=tuple(facts.get("cards", ())),
        asks_for_cores=facts.get("asks_for_cores", False),
        job=facts.get("job", {}),
        environment=facts.get("environment", {}),
    )


NODE_FACTS = ("numa", "gpus.cores", "gpus.cards")
"""What a spec may say of the nodes of a partition, where its site does not."""


def with_nodes(machine: Machine, said: Mapping[str, tuple[str, ...]]) -> Machine:
    """The machine with what an experiment says of nodes: lists by the name of a partition and one of `NODE_FACTS`."""
    if not said:
        return machine
    partitions = dict(machine.partitions)
    for key, lists in said.items():
        name = next(key.removesuffix(f".{fact}") for fact in NODE_FACTS if key.endswith(f".{fact}"))
        partition = partitions.get(name) or Partition(name)
        if partition.cores_per_node is None:
            partition = evolve(partition, cores_per_node=machine.cores_per_node)
        gpus = partition.gpus or (Gpus(len(lists)) if lists else None)
        if key.endswith(".numa"):
            partition = evolve(partition, numa=CoreLists(lists))
        elif gpus is not None and key.endswith(".cores"):
            partition = evolve(partition, gpus=evolve(gpus, cores=CoreLists(lists)))
        elif gpus is not None:
            partition = evolve(partition, gpus=evolve(gpus, cards=lists))
        partitions[name] = partition
    return evolve(machine, partitions=partitions, said=said)


def _node_local(name: str, facts: dict[str, Any]) -> NodeLocal:
    first = [facts["constraint"]] if "constraint" in facts else []
    constraints = dict.fromkeys(first + facts.get("constraints", []))
    return NodeLocal(
        name=name,
        type=facts["type"],
        mount=facts["mount"],
        directory=facts.get("directory"),
        directories=tuple(facts.get("directories", ())),
        capacity_per_node=parse_size(facts["capacity_per_node"]) if "capacity_per_node" in facts else None,
        bandwidth_per_node=parse_size(facts["bandwidth_per_node"]) if "bandwidth_per_node" in facts else None,
        constraints=tuple(constraints),
        exclusive=facts.get("exclusive", False),
    )


def _mpi(name: str, facts: dict[str, Any]) -> MpiInstallation:
    versions = {version: tuple(modules) for version, modules in facts.get("versions", {}).items()}
    modules = tuple(facts.get("modules", ()))
    return MpiInstallation(name, facts.get("version"), modules, facts.get("environment", {}), versions)


def _size(facts: dict[str, Any]) -> int | None:
    return parse_size(facts["memory_per_node"]) if "memory_per_node" in facts else None
