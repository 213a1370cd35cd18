"""Programs that are started with ICON: whether they and ICON come together in MPI."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.coupling import COUPLING_GROUP
from nmlgen.experiment.experiment import Experiment
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.rules.coupled import is_coupled
from nmlgen.rules.rule import Rule


class ProgramWithoutCoupling(Rule):
    """A program that is started with ICON is one that a model is coupled to.

    ## What it does
    Finds a program below `programs` in a job of which no model is coupled to anything: none of the switches
    `coupled_to_...` is on; in a script, one of those that join YAC, hiopy and CLEO, behind a colon of the launch or in
    the file of `srun --multi-prog`. Where a model has plugins of ComIn, with which programs can join, too, nothing is
    found.

    ## Why it matters
    ICON and its programs are one MPI job. A program that joins YAC, such as hiopy, waits for ICON until the time limit;
    `finish.status` says OK before that, and nothing of its output is there. With a program that uses MPI without YAC it
    is ICON that waits, and one without MPI has the job aborted, or waits, too. What is to run beside ICON by itself is
    a job of its own.

    ## Evidence
    ICON 2024.10 on two ranks, beside one of a program that defines a component for YAC 3.4: not coupled, ICON wrote all
    its files and did not end, and the program never came back from `yac_cinit`; with `coupled_to_output` both ended.
    Beside a program that calls `MPI_Init` alone ICON read no namelist, coupled or not; beside `sleep` Open MPI 4.1
    aborted the job.

    ## Example
    ```yaml bad
    job: {ntasks_per_node: null}
    model: {device: cpu, tasks_per_node: 64}
    programs:
      hiopy: {command: ./write-zarr, tasks: 4}
    #                  ^
    ```
    ```yaml good
    job: {ntasks_per_node: null}
    model: {device: cpu, tasks_per_node: 64}
    programs:
      hiopy: {command: ./write-zarr, tasks: 4}
    namelists: {coupling_mode_nml: {coupled_to_output: true}}
    ```

    ## References
    ICON 2024.10, `mo_mpi.f90:2745` and `mo_coupling_utils.f90:124`; ICON's documentation, "Output Coupling".
    """

    code = "CPL012"
    name = "program-without-coupling"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        programs = [
            (program.settings.get("command") or next(iter(program.settings.values())), program.name)
            for program in experiment.programs
            if program.model is None
        ]
        if not experiment.programs:  # a script of nmlgen's own says them, too
            programs = [(setting, str(setting.value)) for setting in experiment.joining]
        if not programs or any(_may_join(component) for component in experiment.components):
            return
        for setting, name in programs:
            yield self.finding(
                setting,
                f'the program "{name}" starts with ICON, and no model is coupled: the job hangs or is aborted',
                "expected: coupled_to_output, or the switch for that program, true in coupling_mode_nml of a model, or "
                "the program in a job of its own",
            )


def _may_join(component: Component) -> bool:
    """Whether a component takes part in what other programs join. Raises UndecidedError where that is not known."""
    group = component.group(COUPLING_GROUP)
    switches = () if group is None else group.settings.items()
    is_on = any(name.startswith("coupled_to_") and setting.value is True for name, setting in switches)
    return is_on or component.group("comin_nml") is not None or is_coupled(component)
