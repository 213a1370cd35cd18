"""What a job on GPUs asks for and sets: GPUs that a node has not, variables for another network, cores of ranks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.machine import Partition
from nmlgen.experiment.programs import Program
from nmlgen.experiment.seats import facts_of
from nmlgen.experiment.setting import Certainty, Setting
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.nodes import ranks_by_node
from nmlgen.models.icon.parts import GPU, has_part
from nmlgen.models.icon.ranks import split
from nmlgen.models.icon.volume import checkpoint_volume
from nmlgen.pattern import pattern
from nmlgen.rules.rule import ComponentRule, Rule
from nmlgen.rules.slurm_resources import count_of
from nmlgen.units.size import format_bytes

_COUNT = pattern(r"(?:gpu:)?(?:[a-z][\w.-]*:)?([1-9]\d{0,3})", re.IGNORECASE)
_MAP = pattern(r"(?:[\w,]*,)?(?:map_cpu|mask_cpu):([\w,-]+)")
_OF_NETWORKS = {"FI_CXI_": "slingshot", "UCX_": "infiniband"}
_NAMES = {"slingshot": "Slingshot", "infiniband": "InfiniBand"}
_HELD = 0.75
"""The part of a checkpoint's bytes that its variables take at least: see MEM001."""


class IneffectiveVariable(Rule):
    """A variable for another network than that of the machine.

    ## What it does
    Finds variables of libfabric's provider for Slingshot (`FI_CXI_`) on a machine with InfiniBand, and those of UCX on
    one with Slingshot. Sites say their network.

    ## Why it matters
    Nobody reads them: what was tuned elsewhere does nothing here.

    ## Evidence
    Public run scripts of ICON set `FI_CXI_` variables on MareNostrum 5, which has InfiniBand.

    ## Example
    ```yaml bad
    environment: {UCX_TLS: "self,rc_x"}
    #                      ^
    ```
    ```yaml good
    environment: {FI_CXI_RX_MATCH_MODE: software}
    ```

    ## References
    libfabric, fi_cxi(7); UCX documentation.
    """

    code = "GPU008"
    name = "variable-of-another-network"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        network = experiment.machine.network
        if network is None:
            return
        for name, setting in experiment.variables:
            meant = next((other for start, other in _OF_NETWORKS.items() if name.startswith(start)), network)
            if meant != network:
                message = f"{name} is read on {_NAMES[meant]}, and {experiment.machine.name} has {_NAMES[network]}"
                yield self.finding(setting, message, "expected: no such variable here")


class GpusBeyondNode(Rule):
    """More GPUs are asked for on a node than it has.

    ## What it does
    Compares `gpus_per_node`, and a `gres` of GPUs, with the GPUs of a node of the job's partition, and `gpus` with
    those of all its nodes; of a heterogeneous job in each part.

    ## Why it matters
    Slurm refuses the job.

    ## Evidence
    Slurm 22.05: "Requested node configuration is not available". ICON's own target for LUMI asks for as many GPUs as it
    starts tasks on a node, which are nine with a rank that reads boundaries (2024.10, `run/create_target_header`).

    ## Example
    ```yaml bad
    job: {partition: gpu, gpus_per_node: 5}
    #                                    ^
    ```
    ```yaml good
    job: {partition: gpu, nodes: 8, ntasks: 36, ntasks_per_node: null, gpus_per_node: 4}
    launch: {options: [--gpu-bind=single:1, --distribution=plane=4]}
    ```

    ## References
    Slurm manual, sbatch, --gpus-per-node and --gres.
    """

    code = "GPU009"
    name = "gpus-beyond-node"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        if experiment.machine.scheduler != "slurm":
            return
        for part in (experiment.directives, *(program.job for program in experiment.programs if program.job)):
            partition = part.get("partition", experiment.directives.get("partition"))
            known = experiment.machine.partitions.get(str(partition.value)) if partition is not None else None
            if known is not None and known.gpus is not None:
                yield from self._in_all(part, known.name, known.gpus.count)
                yield from self._on_each(part, known.name, known.gpus.count)

    def _on_each(self, part: Mapping[str, Setting], partition: str, there: int) -> Iterator[Finding]:
        for name in ("gpus-per-node", "gres"):
            asked = part.get(name)
            match = _COUNT.fullmatch(str(asked.value)) if asked is not None else None
            if asked is None or match is None or (name == "gres" and not str(asked.value).startswith("gpu:")):
                continue
            if int(match[1]) > there:
                message = f"{match[1]} GPUs are asked for on a node, and partition {partition} has {there} on each"
                yield self.finding(asked, message, f"expected: at most {there}")

    def _in_all(self, part: Mapping[str, Setting], partition: str, there: int) -> Iterator[Finding]:
        """GPUs of all nodes beyond those that they have."""
        asked, nodes = part.get("gpus"), count_of(part.get("nodes"))
        match = _COUNT.fullmatch(str(asked.value)) if asked is not None else None
        if asked is None or match is None or nodes is None:
            return
        most = nodes * there
        if int(match[1]) > most:
            message = f"{match[1]} GPUs are asked for, and {nodes} nodes of partition {partition} have {most}"
            yield self.finding(asked, message, f"expected: at most {most}")


class ShortMapOfCores(Rule):
    """A list of cores is shorter than the tasks of a node.

    ## What it does
    Counts the cores that `--cpu-bind=map_cpu:...` or `SLURM_CPU_BIND` names, or the sets of cores of `mask_cpu:...`,
    and the tasks of the fullest node.

    ## Why it matters
    Slurm begins the list anew: two ranks share a core, and all others wait for them.

    ## Evidence
    Slurm manual, srun, --cpu-bind: "If the number of tasks exceeds the number of elements in this list, elements in the
    list will be reused". ICON's target for LUMI names eight cores (2024.10, `run/create_target_header`).

    ## Example
    ```yaml bad
    job: {nodes: 64, ntasks_per_node: 3}
    launch: {options: ["--cpu-bind=map_cpu:1,9"]}
    #                 ^
    ```
    ```yaml good
    job: {nodes: 64, ntasks_per_node: 3}
    launch: {options: ["--cpu-bind=map_cpu:1,9,17"]}
    ```

    ## References
    Slurm manual, srun, --cpu-bind.
    """

    code = "GPU010"
    name = "short-map-of-cores"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        found = _map(experiment)
        if found is None or experiment.launch.command.value != "srun":
            return
        setting, count = found
        of_part = experiment.dealt[:1]  # of a heterogeneous job these are the options of the first step
        most = max(map(len, of_part or ranks_by_node(experiment)), default=0)
        if most > count and not (of_part and _names_later_part(experiment)):
            yield self.finding(
                setting,
                f"{count} cores are named, and a node has {most} tasks: Slurm begins the list anew",
                "expected: a core for each task of a node",
            )


class GpuSupportForAll(Rule):
    """Cray MPICH's support of GPUs is switched on for a program that has none.

    ## What it does
    Finds `MPICH_GPU_SUPPORT_ENABLED` 1 for all programs of a job of which one runs on processors and does not take it
    back in an `environment` of its own; in a script, one that a file for `srun --multi-prog` starts and whose name says
    that it is for processors, such as `icon-cpu`, unless its wrapper may take it back.

    ## Why it matters
    A program that is not linked with the library for GPUs stops in MPI_Init; one that is, takes part of a GPU.

    ## Evidence
    CSCS documentation, Cray MPICH.

    ## Example
    ```yaml bad
    job: {partition: gpu, nodes: 8, ntasks_per_node: null}
    model: {device: gpu}
    environment: {MPICH_GPU_SUPPORT_ENABLED: "1"}
    #                                        ^
    programs:
      post: {command: ./post, tasks: 2, device: cpu}
    namelists: {coupling_mode_nml: {coupled_to_output: true}}
    ```
    ```yaml good
    job: {partition: gpu, nodes: 8, ntasks_per_node: null}
    model: {device: gpu, environment: {MPICH_GPU_SUPPORT_ENABLED: "1"}}
    programs:
      post: {command: ./post, tasks: 2, device: cpu}
    namelists: {coupling_mode_nml: {coupled_to_output: true}}
    ```

    ## References
    Cray MPICH, intro_mpi(3), MPICH_GPU_SUPPORT_ENABLED.
    """

    code = "GPU011"
    name = "gpu-support-for-all"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        name = "MPICH_GPU_SUPPORT_ENABLED"
        setting = experiment.environment.get(name)
        if setting is None or setting.certainty is Certainty.UNKNOWN or str(setting.value) != "1":
            return
        for program in experiment.programs:
            if not program.uses_gpus and name not in program.environment:
                message = f"{name} is 1 for {program.path}, too, which uses no GPU"
                yield self.finding(setting, message, "expected: in the environment of the programs that use GPUs")
                return
        for path in experiment.on_processors[:1]:
            message = f"{name} is 1 for {path}, too, which uses no GPU"
            yield self.finding(setting, message, "expected: in the wrapper of the programs that use GPUs")


class KernelsOneByOne(Rule):
    """Kernels of a GPU wait for each other.

    ## What it does
    Finds `NVCOMPILER_ACC_SYNCHRONOUS` 1.

    ## Why it matters
    It is for the search for mistakes: no kernel starts before the last one has ended, and the processor waits.

    ## Evidence
    A public production script of ICON sets it to 1, a later one of the same project to 0. Not measured.

    ## Example
    ```yaml bad
    environment: {NVCOMPILER_ACC_SYNCHRONOUS: "1"}
    #                                         ^
    ```
    ```yaml good
    environment: {NVCOMPILER_ACC_SYNCHRONOUS: "0"}
    ```

    ## References
    NVIDIA HPC SDK, OpenACC, environment variables.
    """

    code = "GPU012"
    name = "kernels-one-by-one"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for name, setting in experiment.variables:
            is_known = name == "NVCOMPILER_ACC_SYNCHRONOUS" and setting.certainty is not Certainty.UNKNOWN
            if is_known and str(setting.value) == "1":
                message = "NVCOMPILER_ACC_SYNCHRONOUS is 1: each kernel waits for the one before"
                yield self.finding(setting, message, "expected: 0, or no such variable; 1 finds mistakes")


class StateBeyondGpus(ComponentRule):
    """The fields of a model alone are more than its GPUs hold.

    ## What it does
    Adds up the variables that ICON keeps for its restart, takes three quarters of it as certain, and compares it with
    the memory of one GPU for each work rank, where the site says it and the executable is one for GPUs.

    ## Why it matters
    All fields of the time loop lie on the GPUs: the model stops while it copies them there, or, where memory is shared
    with the processor, runs from that.

    ## Evidence
    The sizes are those that nmlgen expects of a checkpoint, within 0.1 % of measured ones. ICON creates its fields on
    the device (2024.10, `!$ACC ENTER DATA` of each list of variables). On a GPU there is more: coefficients,
    tendencies, halos, and radiation's fields, which `nproma_sub` bounds. Not tried.

    ## Example
    ```yaml bad
    model: {parts: {gpu: true}}
    grid: {file: iconR02B10-grid.nc, name: R2B10, num_lev: 90}
    job: {partition: gpu, nodes: 2, ntasks_per_node: 4, gpus_per_node: 4}
    launch: {options: [--gpu-bind=single:1]}
    parallel: {num_io_procs: 0, nproma: 0, nblocks_c: 1}
    #                                                 ^
    ```
    ```yaml good
    model: {parts: {gpu: true}}
    grid: {file: iconR02B06-grid.nc, name: R2B6, num_lev: 90}
    job: {partition: gpu, nodes: 8, ntasks: 36, ntasks_per_node: null, gpus_per_node: 4}
    launch: {options: [--gpu-bind=single:1, --distribution=plane=4]}
    parallel: {nproma: 0, nblocks_c: 1}
    ```

    ## References
    ICON namelist overview, parallel_nml: nproma_sub; [GPUs, and several programs in one job](../gpus.md).
    """

    code = "GPU013"
    name = "state-beyond-gpus"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        if has_part(component, GPU) is not True or component.kind not in (None, "atmosphere"):
            return
        gpus = _nodes_of(component).gpus
        if gpus is None or gpus.memory is None:
            return
        work = split(component).work
        held = round(_HELD * checkpoint_volume(component).low)
        if held > work * gpus.memory:
            where = component["parallel_nml", "nblocks_c"]
            yield self.finding(
                where if where.is_written else component["parallel_nml", "nproma"],
                f"the model's fields take at least {format_bytes(held)}, and {work} GPUs hold "
                f"{format_bytes(work * gpus.memory)}",
                f"expected: at least {-(-held // gpus.memory)} GPUs, and more for what ICON holds besides",
            )


def _nodes_of(component: Component) -> Partition:
    """What is known of the nodes that a component runs on."""
    experiment = component.experiment
    program = next((one for one in experiment.programs if one.model == component.number), None)
    return facts_of(experiment, program or Program("model", component.number, {}, {}, {}))


def _names_later_part(experiment: Experiment) -> bool:
    options = [str(one.value) for one in experiment.launch.options if one.certainty is not Certainty.UNKNOWN]
    return any(re.match(r"--(?:het|pack)-group=(?!0\b)", option) for option in options)


def _map(experiment: Experiment) -> tuple[Setting, int] | None:
    """The list of cores that tasks are bound to, and how many it names."""
    options = [option for option in experiment.launch.options if option.certainty is not Certainty.UNKNOWN]
    for option in reversed(options):
        text = str(option.value)
        match = _MAP.fullmatch(text.partition("=")[2]) if text.startswith("--cpu-bind=") else None
        if match is not None:
            return option, len(match[1].split(","))
    setting = experiment.environment.get("SLURM_CPU_BIND")
    if setting is not None and setting.certainty is not Certainty.UNKNOWN:
        match = _MAP.fullmatch(str(setting.value))
        return None if match is None else (setting, len(match[1].split(",")))
    return None
