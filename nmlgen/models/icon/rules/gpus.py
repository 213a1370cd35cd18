"""Work ranks and GPUs: who has one, who holds one for nothing, and what a build for GPUs makes of settings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Certainty, Setting
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.nodes import Node, nodes
from nmlgen.models.icon.parts import GPU, has_part
from nmlgen.models.icon.ranks import numbers_in_job, rank_numbers, split
from nmlgen.pattern import pattern
from nmlgen.rules.directives import directive
from nmlgen.rules.rule import ComponentRule, Rule

_SHORTEST = 1000
_COMPUTES = ("test", "work")
_GRES = pattern(r"gpu(?::[a-z0-9_.-]+)?:([1-9]\d?)(?:\(.*\))?", re.IGNORECASE)
_CHOOSES = pattern(r"--(gpus-per-task|gpu-bind|ntasks-per-gpu|gpus-per-socket|tres-bind|tres-per-task|multi-prog)\b")
_CHOOSING = ("gpus-per-task", "gpu-bind", "ntasks-per-gpu", "gpus-per-socket", "tres-bind", "tres-per-task")
_SHARES = ("CRAY_CUDA_MPS", "CUDA_MPS_PIPE_DIRECTORY")
"""Where one of these is set, several ranks use one GPU by intention."""


class ResetOnGpus(ComponentRule):
    """A build for GPUs takes the singular value decomposition, whatever is asked for.

    ## What it does
    Finds `llsq_svd` false with transport where the executable is one for GPUs (`device: gpu`, `model.parts`, a site or
    a `config.log` that says so).

    ## Why it matters
    ICON sets it to true with one line in the log; a comparison with processors compares something else then.

    ## Evidence
    ICON 2024.10, `mo_nml_crosscheck.f90:599-612` (read, not tried).

    ## Example
    ```yaml bad
    model: {parts: {gpu: true}}
    parallel: {nproma: 0, nblocks_c: 1}
    namelists:
      run_nml: {ltransport: true}
      transport_nml: {llsq_svd: false}
    #                           ^
    ```
    ```yaml good
    model: {parts: {gpu: true}}
    parallel: {nproma: 0, nblocks_c: 1}
    namelists:
      run_nml: {ltransport: true}
      transport_nml: {llsq_svd: true}
    ```

    ## References
    ICON namelist overview, transport_nml.
    """

    code = "GPU002"
    name = "reset-on-gpus"
    severity = Severity.WARNING
    kinds = ("atmosphere",)

    def check(self, component: Component) -> Iterator[Finding]:
        if has_part(component, GPU) is not True or not component["run_nml", "ltransport"].value:
            return
        setting = component["transport_nml", "llsq_svd"]
        if setting.is_written and setting.value is False:
            yield self.finding(
                setting, "llsq_svd is false, and a build for GPUs sets it to true", "expected: llsq_svd true"
            )


class ShortBlocksOnGpus(ComponentRule):
    """A GPU computes a block at once: short blocks leave it without work.

    ## What it does
    Finds `nproma` below 1000 where the executable is one for GPUs (`device: gpu`, `model.parts`, a site or a
    `config.log` that says so).

    ## Why it matters
    Each block is a launch of each kernel; most of the GPU waits.

    ## Evidence
    ICON's own targets for GPUs take one block (`nblocks_c` 1), or `nproma` of 4000 to 10240; the one that keeps
    `nproma` 8 does so by an oversight (ICON 2024.10, `run/create_target_header`, set_run_target_juwels). Not measured.

    ## Example
    ```yaml bad
    model: {parts: {gpu: true}}
    parallel: {nproma: 32}
    #                  ^
    ```
    ```yaml good
    model: {parts: {gpu: true}}
    parallel: {nproma: 0, nblocks_c: 1}
    ```

    ## References
    ICON namelist overview, parallel_nml: nproma, nblocks_c, nproma_sub.
    """

    code = "GPU003"
    name = "short-blocks-on-gpus"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        nproma = component["parallel_nml", "nproma"]
        if has_part(component, GPU) is True and 0 < nproma.value < _SHORTEST:
            yield self.finding(
                nproma,
                f"nproma is {nproma.value}: on a GPU each block is too short to keep it busy",
                "expected: nproma 0 and nblocks_c 1, one block a rank, and nproma_sub for the memory of radiation",
            )


class WorkRankWithoutGpu(Rule):
    """More work ranks sit on a node than the job has GPUs there.

    ## What it does
    Counts the work ranks that each node gets by the launcher's distribution, and holds them against the GPUs that the
    job asks for on a node. A job of several models or programs is left out, and one in which several ranks share a GPU
    by MPS. What a wrapper shows is followed for single ranks, also for those of the programs of `--multi-prog`.

    ## Why it matters
    Two work ranks share a GPU, or one has none and computes on the processor: all others wait for it.

    ## Evidence
    Slurm 22.05 deals nine tasks on two nodes in blocks, 0-4 and 5-8: rank 4, a work rank, is the fifth on its node.
    ICON's own target for Levante's GPUs starts five tasks on a node with one I/O rank in all (ICON 2025.10,
    `run/create_target_header`, set_run_target_bullx_gpu).

    ## Example
    ```yaml bad
    job: {nodes: 4, ntasks_per_node: 5, gpus_per_node: 4}
    #                                                  ^
    launch: {options: [--gpu-bind=single:1]}
    ```
    ```yaml good
    job: {nodes: 4, ntasks_per_node: 5, gpus_per_node: 4}
    launch: {options: [--gpu-bind=single:1, --distribution=plane=4]}
    ```

    ## References
    Slurm manual, srun, --distribution; [GPUs, and several programs in one job](../gpus.md).
    """

    code = "GPU004"
    name = "work-rank-without-gpu"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        asked = _gpus(experiment)
        if any(name in experiment.environment for name in _SHARES):
            return
        if any(gpus is not None for gpus in experiment.shown.values()):
            yield from self._by_wrapper(experiment)
            return
        if asked is None:
            return
        setting, count = asked
        crowded = [node for node in nodes(experiment) if _work(node) > count]
        if crowded:
            worst = max(crowded, key=_work)
            yield self.finding(
                setting,
                f"{_work(worst)} work ranks sit on node {worst.number} of the job, which has {count} GPUs",
                "expected: as many work ranks as GPUs, and the others dealt behind them: "
                f"--distribution=plane={count} for srun; or device: gpu, by which nmlgen places every rank",
            )

    def _by_wrapper(self, experiment: Experiment) -> Iterator[Finding]:
        """What the wrapper makes of the ranks that it was followed for."""
        kinds, models = _kinds(experiment), _models(experiment)
        count = len({gpus for gpus in experiment.shown.values() if gpus})
        expected = f"expected: {count} work ranks on a node and the others behind them: --distribution=plane={count}"
        if len(experiment.models) > 1 or _starts_several(experiment):
            expected = f"expected: at most {count} work ranks of a program on a node"
        for node in nodes(experiment):
            owners: dict[tuple[int, str], int] = {}
            for rank in node.ranks:
                if kinds.get(rank) not in _COMPUTES or rank not in experiment.shown:
                    continue
                gpus = experiment.shown[rank]
                if gpus == "" or gpus is None:
                    what = "no GPU" if gpus == "" else "no GPU of its own"
                    message = f"rank {rank} computes, and the wrapper gives it {what} on node {node.number} of the job"
                    yield self.finding(experiment.executable, message, expected)
                    return
                owner = owners.setdefault((models[rank], gpus), rank)
                if owner != rank:
                    message = f"the work ranks {owner} and {rank} both get GPU {gpus} of node {node.number}"
                    yield self.finding(experiment.executable, message, expected)
                    return


class GpuHeldForNothing(Rule):
    """Ranks that do not compute sit in the places of work ranks, and GPUs stand idle.

    ## What it does
    Finds nodes with no more tasks than GPUs of which some only write output or checkpoints, or read boundaries.

    ## Why it matters
    Such ranks never use a GPU, and the job has paid for it.

    ## Evidence
    ICON 2024.10 switches accelerators on for work ranks alone (`mo_nh_stepping.f90:501`). In a public production run 31
    of 960 GPUs were held by I/O ranks.

    ## Example
    ```yaml bad
    job: {nodes: 4, ntasks_per_node: 4, gpus_per_node: 4}
    parallel: {num_io_procs: 4}
    #                        ^
    launch: {options: [--gpu-bind=single:1]}
    ```
    ```yaml good
    job: {nodes: 4, ntasks_per_node: 5, gpus_per_node: 4}
    parallel: {num_io_procs: 4}
    launch: {options: [--gpu-bind=single:1, --distribution=plane=4]}
    ```

    ## References
    [GPUs, and several programs in one job](../gpus.md).
    """

    code = "GPU005"
    name = "gpu-held-for-nothing"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        yield from self._by_wrapper(experiment)
        asked = _gpus(experiment)
        if asked is None:
            return
        _, count = asked
        found = nodes(experiment)
        idle = sum(min(len(node.ranks) - _work(node), count - _work(node)) for node in found if _work(node) < count)
        if idle > 0 and all(len(node.ranks) <= count for node in found):
            yield self.finding(
                experiment.components[0]["parallel_nml", "num_io_procs"],
                f"{idle} of {count * len(found)} GPUs are held by ranks that do not compute",
                f"expected: {count} work ranks on each node, and the others besides with --distribution=plane={count}; "
                "or device: gpu, by which nmlgen places every rank",
            )

    def _by_wrapper(self, experiment: Experiment) -> Iterator[Finding]:
        """Ranks that the wrapper takes for others: of those that do not compute, it gives a GPU to some."""
        if not experiment.shown or len(experiment.models) != 1:
            return
        kinds = _kinds(experiment)
        others = {rank: gpus for rank, gpus in experiment.shown.items() if kinds.get(rank, "work") not in _COMPUTES}
        held = [rank for rank, gpus in others.items() if gpus]
        if held and len(held) < len(others):
            rank = held[0]
            yield self.finding(
                experiment.executable,
                f"rank {rank} ({kinds[rank]}) does not compute, and the wrapper gives it GPU {others[rank]}",
                "expected: a wrapper that is told all ranks that do not compute: I/O, restart and prefetching ones",
            )


class OneGpuForAll(Rule):
    """Several ranks of a node see all its GPUs, and all take the first one.

    ## What it does
    Finds a job that asks for GPUs and starts several work ranks on a node, where neither an option of Slurm nor a
    wrapper gives each rank a GPU of its own. ParaStation's Slurm, which does so by itself, is left out.

    ## Why it matters
    ICON chooses no GPU: each rank uses the first that it sees (`mo_acc_device_management.f90:600-667` is never called).
    All ranks of a node compute on one GPU, and the others stand idle.

    ## Evidence
    Slurm 22.05: with `--gpus-per-node=4` alone every task has CUDA_VISIBLE_DEVICES=0,1,2,3.

    ## Example
    ```yaml bad
    job: {ntasks_per_node: 4, gpus_per_node: 4}
    #                                        ^
    ```
    ```yaml good
    job: {nodes: 4, ntasks_per_node: 5, gpus_per_node: 4}
    launch: {options: [--gpu-bind=single:1, --distribution=plane=4]}
    ```

    ## References
    Slurm manual, srun, --gpus-per-task and --gpu-bind; [GPUs, and several programs in one job](../gpus.md).
    """

    code = "GPU006"
    name = "one-gpu-for-all"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        asked = _gpus(experiment)
        mpi = experiment.mpi.implementation
        shown = set(experiment.shown.values())
        knows = shown == {None} if shown else experiment.knows_inputs
        if asked is None or not knows or experiment.launch.command.value != "srun":
            return
        if (mpi is not None and mpi.value == "parastation") or _chooses(experiment):
            return
        setting, count = asked
        most = max(map(_work, nodes(experiment)), default=0)
        if count > 1 and most > 1:
            yield self.finding(
                setting,
                f"{most} work ranks on a node see {count} GPUs each, and ICON takes the first one in all of them",
                "expected: --gpus-per-task=1 or --gpu-bind in launch.options, a wrapper as executable, or device: gpu",
            )


def _chooses(experiment: Experiment) -> bool:
    """Whether something gives each rank a GPU of its own, or may."""
    options = experiment.launch.options
    if any(option.certainty is Certainty.UNKNOWN or _CHOOSES.match(str(option.value)) for option in options):
        return True
    if any(name in experiment.directives for name in _CHOOSING) or "SLURM_GPU_BIND" in experiment.environment:
        return True
    return not experiment.shown and str(experiment.executable.value).endswith(".sh")


def _starts_several(experiment: Experiment) -> bool:
    options = [option for option in experiment.launch.options if option.certainty is not Certainty.UNKNOWN]
    return any(str(option.value) == "--multi-prog" for option in options)


def _kinds(experiment: Experiment) -> dict[int, str]:
    """What each rank of a job of one model does, or of several that are not placed."""
    found: dict[int, str] = {}
    for component in experiment.components:
        for kind, numbers in rank_numbers(split(component), numbers_in_job(component)).items():
            found.update(dict.fromkeys(numbers, kind))
    return found


def _models(experiment: Experiment) -> dict[int, int]:
    """The number of the model that each rank belongs to."""
    return {rank: number for number, share in enumerate(experiment.shares) for rank in share}


def _gpus(experiment: Experiment) -> tuple[Setting, int] | None:
    """The GPUs of a node that a job of one model asks for, and where; None where nmlgen places the ranks itself, and
    where the model shares the job's ranks with other programs."""
    if experiment.programs or len(experiment.models) != 1 or _starts_several(experiment):
        return None
    asked = directive(experiment, "gpus-per-node")
    if asked is not None:
        number = re.fullmatch(r"(?:[a-z0-9_.-]+:)?([1-9]\d?)", str(asked.value), re.IGNORECASE)
    else:
        asked = directive(experiment, "gres")
        number = _GRES.fullmatch(str(asked.value)) if asked is not None else None
    return None if asked is None or number is None else (asked, int(number[1]))


def _work(node: Node) -> int:
    return sum(count for (_, kind), count in node.crew.items() if kind in _COMPUTES)
