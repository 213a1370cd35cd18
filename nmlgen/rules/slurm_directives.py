"""Directives that Slurm would refuse, ignore or read otherwise: logs, text, export, dependencies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Setting
from nmlgen.findings import Finding, Severity
from nmlgen.pattern import pattern
from nmlgen.rules.directives import directive, option, text_of
from nmlgen.rules.rule import Rule
from nmlgen.source import encoded

_LOGS = ("output", "error")


_TEXTS = ("job-name", "comment", "account")


_LONGEST_TEXT = 1024


_FILE_PATTERNS = "AajJNnstuxb"


_DEPENDENCIES = (
    "after",
    "afterany",
    "afterburstbuffer",
    "aftercorr",
    "afternotok",
    "afterok",
    "singleton",
)


_MOST_TOLD = 10
"""Dependencies of one text that are told of: it may have hundreds of thousands."""


_JOB_ID = pattern(r"[0-9]+(_\S+)?(\+[0-9]+)?")


_VARIABLE = pattern(r"\$[A-Za-z_{(]|`")


_HOME = pattern(r"~([A-Za-z_][\w-]*)?(/|$)")


def _texts(experiment: Experiment, names: tuple[str, ...]) -> Iterator[tuple[Setting, str]]:
    """Those of the options that are given, each with its text."""
    for name in names:
        setting = directive(experiment, name)
        if setting is None:
            continue
        text = text_of(setting)
        if text is not None:
            yield setting, text


def _exported(experiment: Experiment) -> set[str] | None:
    """The names that --export lets through to the tasks of srun; None where everything is let through."""
    text = text_of(directive(experiment, "export"))
    if text is None or experiment.launch.command.value != "srun":
        return None
    if any(str(option.value).startswith("--export") for option in experiment.launch.options):
        return None
    names = {item.partition("=")[0].strip() for item in text.split(",")}
    return None if any(name.upper() == "ALL" for name in names) else names


class ExportWithoutPath(Rule):
    """With `export: NONE` or a list without ALL, srun starts the tasks without an environment.

    ## What it does
    Finds an `export` that lets neither ALL nor PATH through, where srun starts the model.

    ## Why it matters
    srun obeys the variable SLURM_EXPORT_ENV, which --export of sbatch sets: the tasks get neither PATH nor
    LD_LIBRARY_PATH nor anything else that the script exports. A program that is looked for in PATH, such as env, does
    not start, nor one that needs a module's libraries.

    ## Evidence
    Slurm 22.05, `srun env` in jobs with NONE, NIL, none and X=1: "execve(): env: No such file or directory", exit
    code 2. With ALL,X=1 it works.

    ## Example
    ```yaml bad
    job: {export: NONE}
    #             ^
    ```
    ```yaml good
    job: {export: "ALL,OMP_NUM_THREADS=1"}
    ```

    ## References
    Slurm manual, sbatch and srun, --export.
    """

    code = "SLM010"
    name = "export-without-path"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        names = _exported(experiment)
        if names is not None and "PATH" not in names:
            export = experiment.directives["export"]
            yield self.finding(
                export,
                f'export "{export.value}" leaves the tasks that srun starts without an environment',
                "expected: ALL, which is the default, alone or first in the list",
            )


class ExportWithoutAll(Rule):
    """A list in `export` without ALL keeps the script's own variables from the model.

    ## What it does
    Finds an `export` that lets PATH through but not ALL, where srun starts the model.

    ## Why it matters
    The tasks get the named variables only: what the script itself exports later, for MPI, OpenMP or the modules'
    libraries, does not reach them.

    ## Evidence
    Slurm 22.05: srun inherits the list through SLURM_EXPORT_ENV.

    ## Example
    ```yaml bad
    job: {export: "PATH,HOME"}
    #             ^
    ```
    ```yaml good
    job: {export: ALL}
    ```

    ## References
    Slurm manual, sbatch and srun, --export.
    """

    code = "SLM011"
    name = "export-without-all"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        names = _exported(experiment)
        if names is not None and "PATH" in names:
            export = experiment.directives["export"]
            yield self.finding(
                export,
                f'export "{export.value}" hands only these variables to the tasks that srun starts',
                "expected: ALL, which is the default, alone or first in the list",
            )


def _directory(path: str) -> str:
    """The directory part of a log's path; empty where it lies beside the script."""
    directory = path.rpartition("/")[0] + "/" if "/" in path else ""
    return "" if re.fullmatch(r"(\./+)*", directory) else directory


def _is_shell(text: str) -> bool:
    """Whether a shell would expand something in the text, which Slurm does not."""
    return bool(_VARIABLE.search(text) or _HOME.match(text))


class LogPathNotExpanded(Rule):
    """Slurm expands neither `$HOME` nor `~` in the path of a log.

    ## What it does
    Finds a variable, a command substitution or `~` in the directory of `output` or `error`.

    ## Why it matters
    Slurm looks for a directory of that very name below the working directory. There is none: the job fails when it
    starts, after its wait in the queue, and leaves no log that would say why.

    ## Evidence
    Slurm 22.05 makes `WORKDIR/$HOME/x.1` of `-o $HOME/x.%j`, and the job ends with JobLaunchFailure, as with `~/x.log`.

    ## Example
    ```yaml bad
    job: {output: "$HOME/logs/%x.%j.log"}
    #             ^
    ```
    ```yaml good
    job: {output: "%x.%j.log"}
    ```

    ## References
    Slurm manual, sbatch, filename pattern.
    """

    code = "SLM012"
    name = "log-path-not-expanded"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for setting, path in _texts(experiment, _LOGS):
            if _is_shell(_directory(path)):
                yield self.finding(
                    setting,
                    f'{option(setting)} "{path}" is not expanded by Slurm: the job fails when it starts',
                    "expected: a path in full, with Slurm's own patterns, such as %u, %x and %j",
                )


class TextNotExpanded(Rule):
    """Slurm expands no shell variable in a directive.

    ## What it does
    Finds a variable, a command substitution or `~` in `job_name`, `comment`, or the file name of `output` or `error`.

    ## Why it matters
    The characters stay as they are: the job is called `$USER`.

    ## Evidence
    Slurm 22.05: `--job-name=$USER` and `--comment=$(date)` are taken literally, and so is a log `a$b.12.log`.

    ## Example
    ```yaml bad
    job: {comment: "run of $USER"}
    #              ^
    ```
    ```yaml good
    job: {comment: "run of the ocean group"}
    ```

    ## References
    Slurm manual, sbatch, filename pattern.
    """

    code = "SLM013"
    name = "text-not-expanded"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        names = [(setting, path.rpartition("/")[2]) for setting, path in _texts(experiment, _LOGS)]
        for setting, text in (*_texts(experiment, ("job-name", "comment")), *names):
            if _is_shell(text):
                yield self.finding(
                    setting,
                    f'{option(setting)} "{setting.value}" is not expanded by Slurm',
                    "expected: the text itself; a log's name takes Slurm's patterns, such as %u, %x and %j",
                )


class SlashInLogName(Rule):
    """A job name with a slash makes a directory of a log's name.

    ## What it does
    Finds `/` in the job name where `output` or `error` uses %x.

    ## Why it matters
    Slurm puts the name in as it is. The directory that comes of it does not exist: the job fails when it starts, after
    its wait in the queue, and leaves no log.

    ## Evidence
    Slurm 22.05: job name `a/b` and `-o %x.%j` give `a/b.44`; the job ends with JobLaunchFailure.

    ## Example
    ```yaml bad
    job: {job_name: tc/r2b5, output: "%x.%j.log"}
    #               ^
    ```
    ```yaml good
    job: {job_name: tc-r2b5, output: "%x.%j.log"}
    ```

    ## References
    Slurm manual, sbatch, filename pattern.
    """

    code = "SLM014"
    name = "slash-in-log-name"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        job_name = directive(experiment, "job-name")
        name = text_of(job_name)
        logs = [option(log) for log, path in _texts(experiment, _LOGS) if "x" in _patterns(path).values()]
        if name is not None and "/" in name and logs:
            yield self.finding(
                job_name,
                f'job_name "{name}" holds a slash and {" and ".join(logs)} %x: the job fails when it starts',
                "expected: a job name without /, or logs named without %x",
            )


class LogDirectoryMustExist(Rule):
    """The directory of a log must exist when the job starts.

    ## What it does
    Finds `output` or `error` in a directory below the one the job is submitted from. Of a whole path nothing is said:
    as a rule it names a directory that is there.

    ## Why it matters
    Slurm opens the log before the script's first line and makes no directory. Where it is missing, the job fails when
    it starts, after its wait in the queue, and leaves no log.

    ## Evidence
    Slurm 22.05 accepts `--output=/nonexistent/x`; the job ends with JobLaunchFailure.

    ## Example
    ```yaml bad
    job: {output: "logs/%x.%j.log"}
    #             ^
    ```
    ```yaml good
    job: {output: "%x.%j.log"}
    ```

    ## References
    Slurm manual, sbatch, --output.
    """

    code = "SLM015"
    name = "log-directory-must-exist"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for setting, path in _texts(experiment, _LOGS):
            directory = _directory(path)
            if directory and not directory.startswith("/") and not _is_shell(directory):
                yield self.finding(
                    setting,
                    f'{option(setting)} "{path}" needs the directory {directory} before the job starts',
                    "expected: a log beside the script; else make the directory before sbatch",
                )


def _patterns(path: str) -> dict[str, str]:
    """The % patterns of a log's path, each with its letter; none where a backslash switches them off."""
    if "\\" in path:
        return {}
    return {match[0]: match[1] for match in re.finditer(r"%%|%\d*(.?)", path) if match[0] != "%%"}


class UnknownFilePattern(Rule):
    """A % pattern that Slurm does not know stays in the log's name.

    ## What it does
    Finds a percent sign in `output` or `error` that is followed by none of Slurm's letters.

    ## Why it matters
    The log is called `%Z.log`, and every job writes over that of the one before.

    ## Evidence
    Slurm 22.05 replaces %A %a %J %j %N %n %s %t %u %x and %%, and leaves %Z, %U, %c, %w and %W alone; %b came later.

    ## Example
    ```yaml bad
    job: {output: "%x.%Z.log"}
    #             ^
    ```
    ```yaml good
    job: {output: "%x.%8j.log"}
    ```

    ## References
    Slurm manual, sbatch, filename pattern.
    """

    code = "SLM016"
    name = "unknown-file-pattern"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for setting, path in _texts(experiment, _LOGS):
            unknown = [p for p, letter in _patterns(path).items() if letter not in tuple(_FILE_PATTERNS)]
            if unknown:
                yield self.finding(
                    setting,
                    f'{option(setting)} "{path}" holds {", ".join(unknown)}, which Slurm does not replace',
                    "expected: %x job name, %j job id, %u user, %N host, %A and %a of an array, %% a percent sign",
                )


class UnknownDependency(Rule):
    """A dependency that Slurm cannot read.

    ## What it does
    Finds a `dependency` whose type is unknown or whose job id is missing or no number.

    ## Why it matters
    sbatch refuses the job.

    ## Evidence
    Slurm 22.05: "Job dependency problem" for `foo:1`, `afterok`, `afterok:` and `afterok:x`; `expand:1` is no longer
    supported. Types may be in upper case.

    ## Example
    ```yaml bad
    job: {dependency: "afterdone:4711"}
    #                 ^
    ```
    ```yaml good
    job: {dependency: "afterok:4711"}
    ```

    ## References
    Slurm manual, sbatch, --dependency.
    """

    code = "SLM024"
    name = "unknown-dependency"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        return islice(self._found(directive(experiment, "dependency")), _MOST_TOLD)

    def _found(self, dependency: Setting | None) -> Iterator[Finding]:
        items = re.split(r"[,?]", text_of(dependency) or "")
        for item in dict.fromkeys(item.strip() for item in items):
            kind, _, ids = item.partition(":")
            if dependency is None or not item:
                continue
            if kind.lower() not in _DEPENDENCIES:
                yield self.finding(
                    dependency,
                    f'Slurm knows no dependency "{kind}"',
                    f"expected: one of {', '.join(_DEPENDENCIES)}",
                )
            elif kind.lower() != "singleton" and not all(_JOB_ID.fullmatch(job) for job in ids.split(":")):
                yield self.finding(
                    dependency,
                    f'dependency "{item}" names no job',
                    f"expected: the number of a job, as in {kind}:4711",
                )


class TextTooLong(Rule):
    """A job name, comment or account of more than 1024 characters.

    ## What it does
    Finds it.

    ## Why it matters
    sbatch refuses the job, with a message that names none of them.

    ## Evidence
    Slurm 22.05 takes a comment of 1024 characters; with 1025, and so for the other two: "Pathname of a file, directory
    or other parameter too long".

    ## Example
    ```yaml bad
    job: {comment: a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-lon}
    #              ^
    ```
    ```yaml good
    job: {comment: the third of five members}
    ```

    ## References
    Slurm manual, sbatch, --comment.
    """  # noqa: E501

    code = "SLM025"
    name = "text-too-long"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for setting, text in _texts(experiment, _TEXTS):
            length = len(encoded(text))
            if length > _LONGEST_TEXT:
                yield self.finding(
                    setting,
                    f"{option(setting)} has {length} bytes",
                    f"expected: at most {_LONGEST_TEXT}",
                )
