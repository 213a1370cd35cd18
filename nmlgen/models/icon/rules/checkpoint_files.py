"""What checkpoints are as files, and the mode that nobody should use any more."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.checkpoints import checkpoints_of
from nmlgen.models.icon.ranks import RestartMode, domains, restart_mode, split
from nmlgen.rules.rule import ComponentRule

MANY_FILES = 1_000_000
"""From so many on a site's administrators ask, where no limit of the site is known. A judgement: the project quota of
HLRN-IV, a soft one."""


class ObsoleteAsync(ComponentRule):
    """The mode async is obsolete: the multifile modes do what it does, with more than one writer.

    ## What it does
    Finds the mode async in effect, written or chosen by ICON because `num_restart_procs` is greater than zero, where
    checkpoints are written. Where it costs 5 % or more [RST013](RST013.md) says so instead, where ranks idle
    [RST005](RST005.md).

    ## Why it matters
    One rank writes the whole checkpoint, whatever the number of restart ranks, and at the next start one rank reads it.
    The ranks set apart for it are missing for computing.

    ## Evidence
    Measured on Levante, R2B5 on two nodes for ten days with a checkpoint every 12 minutes: async 1767 s, joint procs
    multifile 1052 s, dedicated procs multifile with 8 ranks 699 s. The report's last word: async is out of date, and
    joint procs multifile, where nobody has to choose a number of ranks, is to be recommended.

    ## Example
    ```yaml bad
    restart: {restart_write_mode: async, num_restart_procs: 1, checkpointTimeIntval: P5D}
    #                             ^
    ```
    ```yaml good
    restart: {restart_write_mode: joint procs multifile, checkpointTimeIntval: P5D}
    ```

    ## References
    F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON (2025), sections 4.2 and 6.1.
    """

    code = "RST032"
    name = "obsolete-async"
    severity = Severity.ADVICE

    def check(self, component: Component) -> Iterator[Finding]:
        if restart_mode(component) is not RestartMode.ASYNC or not 0 < split(component).restart <= domains(component):
            return
        from nmlgen.advise.cost import if_known, restart_cost
        from nmlgen.advise.first_look import WORTH_SAYING

        found = checkpoints_of(component)
        cost = if_known(restart_cost, component)
        if found is None or (cost is not None and cost.share >= WORTH_SAYING):
            return
        mode, procs = component["io_nml", "restart_write_mode"], component["parallel_nml", "num_restart_procs"]
        yield self.finding(
            mode if str(mode.value).strip() else procs,
            f"the mode async is obsolete: {found}",
            "expected: joint procs multifile, num_restart_procs 0, where all work ranks write and read",
        )


class ManyCheckpointFiles(ComponentRule):
    """Checkpoints in many files are a burden on the metadata servers, and a quota of files may end the run.

    ## What it does
    Multiplies the files of a checkpoint with the checkpoints that are there at the same time: all of the run, unless
    `restart.keep_last` has the chain remove older ones. Finds more than the site lets a project have (`max_files` of
    its file), and a million or more everywhere.

    ## Why it matters
    In the mode joint procs multifile each work rank makes a file for each domain, each of which has to be created,
    opened and closed by the metadata server that all users share. When the quota of files is used up, nothing can be
    written any more, output neither.

    ## Evidence
    ICON 2024.10, `mo_multifile_restart.f90`; the files of the measured runs (report below, section 5.2.2). HLRN-IV lets
    a project have a million files for good, and so do others (lumi, juwels, santis). DKRZ and ECMWF publish quotas of
    bytes only; of balfrin, horeka, hlrs, jupiter and leonardo no figure was found. There a million is too many.

    ## Example
    ```yaml bad
    job: {nodes: 16}
    restart: {restart_write_mode: joint procs multifile, checkpointTimeIntval: PT10M, restartTimeIntval: null}
    #                                                                          ^
    time: {stop: 2008-09-11T00:00:00Z}
    ```
    ```yaml good
    job: {nodes: 16}
    restart: {restart_write_mode: dedicated procs multifile, num_restart_procs: 8, checkpointTimeIntval: PT12H}
    ```

    ## References
    F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON (2025), sections 5.2.2 and 6.1. HLRN-IV, quotas.
    """

    code = "RST033"
    name = "many-checkpoint-files"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        found, machine = checkpoints_of(component), component.experiment.machine
        most = machine.max_files or MANY_FILES
        if found is None or found.all_files < min(most, MANY_FILES):
            return
        interval = component["master_time_control_nml", "checkpointTimeIntval"]
        whose = (
            f"site {machine.name} lets a project have {most}"
            if machine.max_files and found.all_files >= most
            else "a burden on metadata servers and quotas"
        )
        modes = {RestartMode.JOINT: ["dedicated procs multifile with a few ranks"]}.get(found.mode, [])
        expected = ["a longer checkpointTimeIntval", "restart.keep_last", *modes]
        yield self.finding(
            interval if interval.is_written else component["io_nml", "restart_write_mode"],
            f"{found.standing} checkpoints of {found.files} files are {found.all_files} files: {whose}",
            f"{found}",
            f"expected: {', or '.join(expected)}",
        )
