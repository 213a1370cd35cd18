"""The command that starts the model: srun, mpirun, mpiexec, and what may stand around them.

Options of srun are those of Slurm 22.05; of mpirun and mpiexec those that Open MPI 4.1 and 5 and Intel MPI 2021
(Hydra) take before the program.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from nmlgen.experiment.experiment import Launch
from nmlgen.experiment.launch_words import (
    MPIRUN_ALONE,
    MPIRUN_ENVIRONMENT,
    MPIRUN_TASKS,
    MPIRUN_TASKS_PER_NODE,
    MPIRUN_WITH_TWO_VALUES,
    MPIRUN_WITH_VALUE,
)
from nmlgen.experiment.setting import Certainty, Origin, Setting, unknown
from nmlgen.namelist.placeholders import has_placeholder, has_word_for_number, stands_for_number
from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.script.options import GivenOption, StaticWord, read_options, slurm_options
from nmlgen.units.whole import decimal
from nmlgen.values import evolve, field, frozen

LAYER = "script"
"""The layer that speaks in the settings."""

LAUNCHERS = ("srun", "mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun")
"""The programs that start the model's tasks."""

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z_0-9]*=")
_COUNT = re.compile(r"\s*\+?(\d+)", re.ASCII)
_PREFIXES: Mapping[str, tuple[str, ...]] = {  # commands that run the rest of their words: their options with a value
    "command": (),
    "env": ("-u", "--unset", "-C", "--chdir"),
    "exec": ("-a",),
    "nice": ("-n",),
    "nohup": (),
    "numactl": ("-i", "-N", "-m", "-C", "-p", "--interleave", "--cpunodebind", "--membind", "--physcpubind"),
    "stdbuf": ("-i", "-o", "-e"),
    "taskset": (),
    "time": ("-f", "--format", "-o", "--output"),
    "timeout": ("-s", "--signal", "-k", "--kill-after"),
}
_OPERANDS = {"taskset": 1, "timeout": 1}


@frozen(eq=False)
class LaunchCommand:
    """A command that starts an executable on several tasks.

    `launch` holds the launcher's name and its options as written. `ntasks`, `nodes` and `tasks_per_node` are what the
    options say, None where they say nothing, unknown where only the running shell knows. `executable` is the program,
    None where it cannot be told from the options; `arguments` come behind it. Programs around it, such as env, numactl
    or a wrapper whose own words end at `--`, are left out; `started` has that wrapper, too. `environment` holds
    the variables that the command gives to the model; those of `for_launcher` are the launcher's own, too.
    """

    launch: Launch
    ntasks: Setting | None
    nodes: Setting | None
    tasks_per_node: Setting | None
    executable: StaticWord | None
    arguments: tuple[StaticWord, ...] = ()
    environment: Mapping[str, Setting] = field(factory=dict)
    for_launcher: frozenset[str] = frozenset()
    problems: tuple[SyntaxProblem, ...] = ()
    cpus_per_task: Setting | None = None
    started: tuple[StaticWord, ...] = ()
    other_options: tuple[Setting, ...] = ()


def read_launch(words: Sequence[StaticWord]) -> LaunchCommand | None:
    """Read the words of a command; None if no launcher is in it.

    Assignments before the command are words, too: `OMP_NUM_THREADS=2 time srun ./icon`.
    """
    outer: dict[str, Setting] = {}
    rest = _behind_prefixes(list(words), outer)
    if not rest or rest[0].start.rpartition("/")[2] not in LAUNCHERS or rest[0].text is None:
        return None
    reading = _Reading(rest[0], rest[1:], outer)
    return reading.command()


def _behind_prefixes(words: list[StaticWord], environment: dict[str, Setting]) -> list[StaticWord]:
    """The words behind assignments, env, time, numactl and their like; `environment` takes what they set."""
    at = 0
    while at < len(words):
        word = words[at]
        name = word.start.rpartition("/")[2]
        if _ASSIGNMENT.match(word.start):
            variable = word.start.partition("=")[0]
            environment[variable] = _variable(variable, word.after(len(variable) + 1))
            at += 1
        elif word.text is not None and name in _PREFIXES:
            at = _behind_options(words, at + 1, name)
        else:
            break
    return words[at:]


def _behind_options(words: list[StaticWord], at: int, program: str) -> int:
    """The place behind the options, and the operands, from `at` on, of a program that runs what follows."""
    operands = _OPERANDS.get(program, 0)
    while at < len(words):
        text = words[at].start
        if text == "--":
            return at + 1
        if text.startswith("-"):
            at += 2 if text in _PREFIXES[program] else 1
        elif operands:
            operands -= 1
            at += 1
        else:
            break
    return at


def _variable(name: str, value: StaticWord) -> Setting:
    certainty = Certainty.UNKNOWN if value.text is None else Certainty.WRITTEN
    return Setting(f"environment.{name}", (Origin(LAYER, value.text, value.span),), certainty)


class _Reading:
    """One reading of a launcher's words."""

    def __init__(self, launcher: StaticWord, words: list[StaticWord], environment: dict[str, Setting]) -> None:
        self.launcher = launcher
        self.name = launcher.start.rpartition("/")[2]
        self.words = words
        self.for_launcher = frozenset(environment)
        self.environment = environment
        self.counts: dict[str, Setting] = {}
        self.counting: set[int] = set()
        """The identities of the words that say how many tasks there are."""
        self.problems: list[SyntaxProblem] = []
        self.is_certain = True

    def command(self) -> LaunchCommand:
        rest = self._srun() if self.name == "srun" else self._mpirun()
        options = self.words[: len(self.words) - len(rest)]
        if rest and rest[0].text is None and rest[0].splits and not rest[0].beginning:
            self.is_certain = False  # it may hold options as well as the program
        program = _behind_prefixes(list(rest), self.environment) if self.is_certain else []
        ends = [number for number, word in enumerate(program, start=1) if word.text == "--"]
        started = tuple(program)
        program = program[ends[0] :] if ends else program
        if any(word.text == ":" for word in rest):
            self.is_certain = False  # several programs, each with its own tasks
        command = Setting("launch.command", (Origin(LAYER, self.name, self.launcher.span),))
        return LaunchCommand(
            Launch(command, tuple(_option(word) for word in options if word.text != "--")),
            self._count("ntasks"),
            self._count("nodes"),
            self._count("ntasks-per-node"),
            program[0] if program else None,
            tuple(program[1:]),
            self.environment,
            self.for_launcher,
            tuple(self.problems),
            self._count("cpus-per-task") if "cpus-per-task" in self.counts else None,
            started,
            tuple(_option(word) for word in options if word.text != "--" and id(word) not in self.counting),
        )

    def _count(self, name: str) -> Setting | None:
        found = self.counts.get(name)
        if self.is_certain:
            return found
        return unknown(name, self.launcher.span) if found is None else evolve(found, certainty=Certainty.UNKNOWN)

    def _srun(self) -> list[StaticWord]:
        given, rest = read_options(self.words, slurm_options("srun"))
        options_in = Counter(id(option.word) for option in given)
        for option in given:
            is_count = option.option is not None and option.option.name in ("ntasks", "cpus-per-task")
            if is_count and options_in[id(option.word)] == 1:
                self._set_aside(option)
            if option.is_undecided or (option.option is None and option.word.text is None):
                self.is_certain = False
            elif option.option is not None and option.value is not None:
                self._srun_option(option, option.option.name, option.value)
        return rest

    def _set_aside(self, option: GivenOption) -> None:
        """Remember the words of an option that counts, and has them for itself."""
        self.counting.add(id(option.word))
        if option.takes_next_word and option.value is not None:
            self.counting.add(id(option.value))

    def _srun_option(self, given: GivenOption, name: str, value: StaticWord) -> None:
        if name in ("ntasks", "nodes", "ntasks-per-node", "cpus-per-task"):
            self._set_count(name, given.written, value)
        elif name == "export":
            for item in (value.text or "").split(","):
                variable, equals, text = item.partition("=")
                if equals:
                    origin = Origin(LAYER, text, value.span)
                    self.environment[variable] = Setting(f"environment.{variable}", (origin,))

    def _set_count(self, name: str, written: str, word: StaticWord) -> None:
        value: int | str | None = word.text
        certainty = Certainty.UNKNOWN
        if word.text is not None:
            match = _COUNT.fullmatch(word.text)
            count = decimal(match[1]) if match is not None else None
            if count is not None and count > 0:
                value, certainty = count, Certainty.WRITTEN
            elif word.text == "" or has_placeholder(word.text) or stands_for_number(word.text):  # or one given with $1
                value = None
            elif name == "nodes":
                certainty = Certainty.WRITTEN  # a range
            elif count == 0 and self.name != "srun":
                value = None
                message = (
                    f"{self.name} {written} 0 is refused, or starts as many tasks as there are slots: Open MPI's does"
                )
                expected = "a whole number above 0"
                self.problems.append(SyntaxProblem("launch-refused", message, word.span, expected, stops=False))
            else:
                message = f'{self.name} refuses {written} "{word.text}"'
                expected, stops = "a whole number above 0", not has_word_for_number(word.text)
                if self.name == "srun" and written == "-n" and word.text == "p":
                    expected, stops = "-n or --ntasks; -np is mpirun's", True
                self.problems.append(SyntaxProblem("launch-refused", message, word.span, expected, stops))
        self.counts[name] = Setting(name, (Origin(LAYER, value, word.span),), certainty)

    def _mpirun(self) -> list[StaticWord]:
        at = 0
        while at < len(self.words) and self.words[at].start.startswith("-"):
            length = self._mpirun_option(self.words[at : at + 3])
            if length is None:
                self.is_certain = False
                return []
            at += length
        return self.words[at:]

    def _mpirun_option(self, words: list[StaticWord]) -> int | None:
        """How many words, of three, the option that they begin with takes; None where that is not known."""
        word, *behind = words
        written, equals, _ = word.start.partition("=")
        name = written.lstrip("-")
        if equals:
            behind = [word.after(len(written) + 1)]
        elif word.text is None:
            return None
        if name in (*MPIRUN_TASKS, *MPIRUN_TASKS_PER_NODE):
            if name in MPIRUN_TASKS:
                self.counting.update(id(word) for word in words[: 1 if equals else 2])
            if behind:
                self._set_count("ntasks" if name in MPIRUN_TASKS else "ntasks-per-node", written, behind[0])
        elif name in MPIRUN_WITH_TWO_VALUES:
            if name in MPIRUN_ENVIRONMENT and not equals and len(behind) > 1 and behind[0].text is not None:
                self.environment[behind[0].text] = _variable(behind[0].text, behind[1])
            return 1 if equals else 3
        elif name in MPIRUN_WITH_VALUE:
            if name == "x" and behind and _ASSIGNMENT.match(behind[0].start):
                variable = behind[0].start.partition("=")[0]
                self.environment[variable] = _variable(variable, behind[0].after(len(variable) + 1))
        elif not equals:
            return 1 if name in MPIRUN_ALONE else None
        return 1 if equals else 2


def _option(word: StaticWord) -> Setting:
    certainty = Certainty.UNKNOWN if word.text is None else Certainty.WRITTEN
    return Setting("launch.options", (Origin(LAYER, word.text, word.span),), certainty)
