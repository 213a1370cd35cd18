"""The placement of a script that somebody wrote: its programs, their ranks, nodes and GPUs, as a spec says them.

A launch by `srun --multi-prog`, or of the parts of a heterogeneous job, starts several programs; wrappers around them
choose the GPU of a rank. What they choose is followed for the ranks of the first node of each program.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

from nmlgen.errors import InputError, SpecError
from nmlgen.experiment.experiment import Experiment, InputFile
from nmlgen.experiment.group import Group
from nmlgen.experiment.programs import CPU, GPU, Program
from nmlgen.experiment.seats import facts_of, seat_text
from nmlgen.experiment.setting import Certainty, Setting, UndecidedError, unknown, written
from nmlgen.files import Files
from nmlgen.lift.jobs import Job
from nmlgen.lift.launches import count_of, options_of, text_called
from nmlgen.lift.programs import Line, lines_of
from nmlgen.lift.wrappers import may_be_script, script_of_shell
from nmlgen.models.icon.nodes import ranks_by_node
from nmlgen.models.icon.placement import WORK, SeatError, gpus_per_node, nodes_of, placement, task_count
from nmlgen.models.icon.ranks import rank_numbers, split
from nmlgen.script.launch import LAYER
from nmlgen.script.parser import parse
from nmlgen.script.wrapper import VISIBLE, Start, effort_of_ranks, follow
from nmlgen.source import UNKNOWN, Source, Span
from nmlgen.spec.programs import DEALING_OPTIONS, DEALT, placed
from nmlgen.spec.raising import label_of
from nmlgen.spec.site import with_nodes
from nmlgen.units.whole import decimal
from nmlgen.values import evolve, frozen

_HOSTS = "SLURM_HOSTFILE"
_MOST_PROGRAMS = 500
"""A bound on work: the seats of each depend on those of the others."""
_FIGURE = re.compile(r"\$\(\s*nvidia-smi\s+(?:--list-gpus|-L)\s*\|\s*wc\s+-l\s*\)")
_REPLACED = re.compile(
    r"--(?:multi-prog|overcommit|hint|gpu-bind|gpus-per-task|het-group|mem-bind|ntasks-per-\w+|nodelist|exact)\b|-O\Z|-w\b"
)
"""Options of srun that a placement takes the place of, besides those that deal ranks."""
_WITH_VALUE = re.compile(
    r"-[wmncN]|--(?:hint|gpu-bind|gpus-per-task|distribution|cpu-bind|het-group|nodelist|\w+-per-\w+)"
)
_SOURCES = re.compile(r"^[ \t]*((?:source|\.|module)[ \t]+\S(?:.*[^ \t\n])?)[ \t]*$", re.MULTILINE)
"""What a wrapper does besides binding and setting variables."""
_THREADS = "OMP_NUM_THREADS"
_IS_ICON = re.compile(r"icon", re.IGNORECASE)
_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")


@frozen(eq=False)
class Placed:
    """An experiment with its programs, if the script starts several or one by a wrapper: `notes` say what was taken
    another way, `remarks` what could not be taken over."""

    experiment: Experiment
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@frozen(eq=False)
class _Binary:
    """The program of a line: the words from the program on, those `before` its wrapper, and the wrapper's source."""

    before: tuple[str | None, ...]
    words: tuple[str | None, ...]
    wrapper: Source | None


class _Undecided(Exception):
    """Why the placement is not known."""


def with_placement(
    experiment: Experiment,
    job: Job,
    directory: Path,
    files: Files,
    *,
    hosts: Sequence[str] | None = None,
    variables: Mapping[str, str] | None = None,
) -> Placed:
    """The experiment with the programs that its launch starts; the same one where that starts one program.

    `hosts` are the names of the nodes by rank, where the script leaves them to another program; `variables` were set
    before it began.
    """
    lines = lines_of(job, experiment) if not experiment.programs else []
    if not lines:
        return Placed(experiment)
    try:
        if len(lines) > _MOST_PROGRAMS:
            raise _Undecided(f"it starts {len(lines)} programs, of more than {_MOST_PROGRAMS} that is not worked out")
        return _unbound(_Placing(experiment, job, directory, files, hosts, dict(variables or {})).placed(lines))
    except _Undecided as reason:
        span = job.launch.launch.command.span if job.launch is not None else None
        return Placed(experiment, (), (f"{span}: which ranks sit where is not in the spec: {reason}",))


def _unbound(found: Placed) -> Placed:
    """The placement whose ranks with GPUs are bound to no cores where nobody knows which are near to which GPU."""
    experiment, said = found.experiment, dict(found.experiment.machine.said)
    for program in experiment.programs:
        facts = facts_of(experiment, program)
        if program.uses_gpus and facts.gpus is not None and facts.gpus.asks_for_cores and not facts.gpus.cores:
            said.setdefault(f"{facts.name}.gpus.cores", ())
    return evolve(found, experiment=evolve(experiment, machine=with_nodes(experiment.machine, said)))


def as_spec_has_it(experiment: Experiment) -> Experiment:
    """The experiment with what a spec of its programs makes of them: the ranks of the models, what the site asks of the
    job. The same one where its ranks cannot be placed: who loads the spec is told why."""
    entries = {id(model.entry) for model in experiment.models}

    def without_ranks(group: Group) -> Group:
        own = id(group) in entries
        kept = {name: one for name, one in group.settings.items() if not (own and name.startswith(_RANKS))}
        return evolve(group, settings=kept) if own else group

    try:
        return placed(experiment.mapped(without_ranks))
    except SpecError:
        return experiment


_RANKS = ("model_min_rank", "model_max_rank", "model_inc_rank", "model_rank_group_size")


def read_hosts(path: str | Path, files: Files) -> list[str]:
    """The names in a file of hosts, one for each rank. Raises InputError if there is none."""
    names = [line.strip() for line in files.read(Path(path)).text.splitlines() if line.strip()]
    if not names or any(re.search(r"[^\w.-]", name) for name in names):
        raise InputError(f"{path} is no file of hosts; expected: the name of a node on each line, one for each rank")
    return names


class _Placing:
    """The state of finding one placement."""

    def __init__(
        self,
        experiment: Experiment,
        job: Job,
        directory: Path,
        files: Files,
        hosts: Sequence[str] | None,
        variables: dict[str, str],
    ) -> None:
        self.experiment, self.job, self.directory, self.files = experiment, job, directory, files
        self.hosts, self.variables = hosts, variables
        self.span: Span | None = job.launch.launch.command.span if job.launch is not None else None
        self.notes: list[str] = []
        self.remarks: list[str] = []
        self._effort = effort_of_ranks()

    def placed(self, lines: list[Line]) -> Placed:
        binaries = [self.binary(line) for line in lines]
        models = self.models(lines, binaries)
        experiment = self.prepared(lines, models)
        nodes = self.nodes(lines, experiment)
        programs: list[Program] = []
        listed = list(self.listed(lines, binaries, models))
        for label, model, line_number, ranks in listed:
            line, binary = lines[line_number], binaries[line_number]
            kinds = self.kinds(experiment, model, len(ranks))
            starts = self.starts(binary, line, ranks, nodes, experiment)
            path = f"models.{label}" if model is not None else f"programs.{label}"
            path = "model" if model is not None and len(experiment.models) == 1 else path
            programs.append(self.program(path, model, line, binary, ranks, kinds, starts, experiment))
        if (first := programs[0].settings.get("executable")) is not None:
            experiment = evolve(experiment, executable=evolve(first, name="model.executable"))
        experiment = evolve(experiment, programs=tuple(programs), inputs=self.inputs(experiment, binaries))
        experiment = self.seated(experiment, [ranks for _, _, _, ranks in listed], nodes)
        return Placed(experiment, tuple(self.notes), tuple(self.remarks))

    # --- Programs ---

    def binary(self, line: Line) -> _Binary:
        """The program of a line, behind its wrapper."""
        for number, word in enumerate(line.words):
            source = self.wrapper(word)
            if source is not None:
                return _Binary(line.words[:number], line.words[number + 1 :], source)
        return _Binary((), line.words, None)

    def wrapper(self, word: str | None) -> Source | None:
        """The text of a script of a shell that the job writes, or that lies where a word leads to."""
        if not word or word.startswith("-"):
            return None
        source = self.job.written(word)
        if source is not None:
            return source if source.text.startswith("#!") else None
        path = self.directory / word
        try:
            return script_of_shell(path, self.files) if may_be_script(path) else None
        except (OSError, InputError, ValueError):
            return None

    def models(self, lines: Sequence[Line], binaries: Sequence[_Binary]) -> list[tuple[int, list[int]]]:
        """The line of each model and its ranks in the job: the master namelist counts those of ICON alone."""
        experiment = self.experiment
        own = [number for number, binary in enumerate(binaries) if self.starts_icon(binary)]
        bounds = [model.entry.settings.get("model_max_rank") for model in experiment.models]
        total = sum(len(line.ranks) for line in lines)
        if len(experiment.models) > 1:
            highest = [count_of(setting) for setting in bounds]
            if None in highest:
                raise _Undecided("the ranks of the models are not known")
            total = 1 + max(number for number in highest if number is not None)
        if sum(len(lines[number].ranks) for number in own) != total:
            ends = list(accumulate(len(line.ranks) for line in lines))
            if total not in ends:  # the first ones, if they are as many as the models have ranks
                raise _Undecided(f"the models have {total} ranks, and no programs of the launch have as many")
            own = list(range(ends.index(total) + 1))
        world = [(number, rank) for number in own for rank in lines[number].ranks]
        world.sort(key=lambda item: item[1])
        tasks = written("ntasks", total, LAYER, self.span)
        try:
            shares = evolve(experiment, launch=evolve(experiment.launch, tasks=tasks)).shares
        except UndecidedError as error:
            raise _Undecided(f"the ranks of the models are not known: {error}") from None
        found: list[tuple[int, list[int]]] = []
        end = 0
        for share in shares:
            if sorted(share) != list(range(end, end + len(share))) or not share:
                raise _Undecided("the models do not lie one behind the other in the order of the master namelist")
            mine = world[end : end + len(share)]
            end += len(share)
            if len({number for number, _ in mine}) > 1:
                raise _Undecided("the ranks of a model start several programs")
            found.append((mine[0][0], [rank for _, rank in mine]))
        if end != total:
            raise _Undecided("not every rank of ICON belongs to a model")
        return found

    def starts_icon(self, binary: _Binary) -> bool:
        words = [word for word in binary.words[:1] if word]
        if binary.wrapper is not None and not words:
            words = [binary.wrapper.text]
        return any(_IS_ICON.search(word.rpartition("/")[2] if "\n" not in word else word) for word in words)

    def listed(
        self, lines: Sequence[Line], binaries: Sequence[_Binary], models: Sequence[tuple[int, list[int]]]
    ) -> Iterator[tuple[str, int | None, int, Sequence[int]]]:
        """The programs in the order of a spec: its label, its model, its line, its ranks."""
        taken: set[str] = set()
        for model, (at, ranks) in enumerate(models):
            label = label_of(self.experiment.components[model], taken)
            taken.add(label)
            yield label, model, at, ranks
        own = {at for at, _ in models}
        for number, line in enumerate(lines):
            if number not in own:
                label = _label(binaries[number], taken)
                taken.add(label)
                yield label, None, number, line.ranks

    def kinds(self, experiment: Experiment, model: int | None, count: int) -> list[str]:
        if model is None:
            return ["work"] * count
        try:
            found = rank_numbers(split(experiment.components[model]))
        except UndecidedError as error:
            raise _Undecided(str(error)) from None
        return [kind for kind, numbers in found.items() for _ in numbers]

    def program(
        self,
        path: str,
        model: int | None,
        line: Line,
        binary: _Binary,
        ranks: Sequence[int],
        kinds: Sequence[str],
        starts: Mapping[int, Start],
        experiment: Experiment,
    ) -> Program:
        """What a spec says of a program but for its seats."""
        own = dict(zip(ranks, kinds, strict=True))
        device = self.device(binary, {rank: start for rank, start in starts.items() if own[rank] in WORK})
        settings = {"device": written(f"{path}.device", device, LAYER, self.span)}
        program = binary.words
        if binary.wrapper is not None and not program:
            program = next((start.words[start.program :] for start in starts.values()), ())
        if binary.before:
            shown = " ".join(word or "..." for word in binary.before)
            self.remarks.append(f"{path}: {shown}, which stands before its wrapper, is not in the spec")
        if binary.wrapper is not None and (sourced := _SOURCES.search(binary.wrapper.text)) is not None:
            self.remarks.append(f"{path}: what its wrapper does by `{sourced[1]}` is not in the spec")
        if model is None:
            settings["command"] = self.command(path, program)
        elif len(experiment.models) > 1:
            settings["executable"] = self.executable(f"{path}.executable", program)
        environment = self.environment(path, starts)
        threads = environment.pop(_THREADS, None) if device == CPU else None
        count = str(threads.value) if threads is not None and threads.certainty is not Certainty.UNKNOWN else ""
        if binary.wrapper is None and device == CPU and line.cpus is not None:
            count = str(line.cpus)
        if (cpus := decimal(count) or 1) > 1:
            settings["cpus_per_task"] = written(f"{path}.cpus_per_task", cpus, LAYER, self.span)
        job: dict[str, Setting] = {}
        if line.part:
            asked = self.job.directives.parts[line.part]
            job = {
                name: evolve(setting, name=f"{path}.job.{name.replace('-', '_')}")
                for name, setting in asked.items()
                if name not in DEALT
            }
        return Program(path, model, settings, job, environment)

    def command(self, path: str, words: Sequence[str | None]) -> Setting:
        if not words or None in words:
            return unknown(f"{path}.command", self.span)
        known = [word for word in words if word is not None]
        if any("%t" in word or "%o" in word for word in known):
            self.remarks.append(f"{path}.command: srun puts a number in the place of %t and %o, and nmlgen does not")
        return written(f"{path}.command", shlex.join(known), LAYER, self.span)

    def executable(self, name: str, words: Sequence[str | None]) -> Setting:
        """The binary; where the script links or copies it, what it links."""
        word = next(iter(words), None)
        if word is None:
            return unknown(name, self.span)
        if len(words) > 1:
            self.remarks.append(f"{name}: its arguments are not in the spec: {' '.join(w or '...' for w in words[1:])}")
        file = self.brought(word)
        if file is not None:
            return evolve(file.source, name=name)
        return written(name, word, LAYER, self.span)

    def brought(self, word: str) -> InputFile | None:
        """The input file of that name."""
        target = word.removeprefix("./")
        return next((file for file in self.experiment.inputs if file.target == target), None)

    def inputs(self, experiment: Experiment, binaries: Iterable[_Binary]) -> tuple[InputFile, ...]:
        """The input files without the programs."""
        programs = {word.removeprefix("./") for binary in binaries for word in binary.words[:1] if word}
        return tuple(file for file in experiment.inputs if file.target not in programs)

    # --- Ranks ---

    def prepared(self, lines: Sequence[Line], models: Sequence[tuple[int, list[int]]]) -> Experiment:
        """The experiment without what a placement takes the place of."""
        experiment, launch = self.experiment, self.job.launch
        assert launch is not None
        asked = self.job.directives.parts[0] if lines[0].part is not None else experiment.directives
        directives = {name: setting for name, setting in asked.items() if name not in DEALT}
        if "nodes" not in directives and launch.nodes is not None and lines[0].part is None:
            directives["nodes"] = evolve(launch.nodes, name="nodes")
        if "nodes" not in directives and self.hosts is not None:
            directives["nodes"] = written("nodes", len(set(self.hosts)), LAYER, self.span)
        options: list[Setting] = []
        lost: list[str] = []
        skips = False
        for option in launch.other_options:
            text = "" if option.certainty is Certainty.UNKNOWN else str(option.value)
            if skips:
                skips = False
            elif DEALING_OPTIONS.match(text) or _REPLACED.match(text):
                skips = "=" not in text and _WITH_VALUE.fullmatch(text) is not None
                if re.match(r"--(?:hint|overcommit|mem-bind)", text):
                    lost.append(text)
            elif option.certainty is not Certainty.UNKNOWN or not self._counts(option):
                options.append(option)
        if lost:
            self.notes.append(f"{self.span}: {' '.join(lost)}: cores are those of nmlgen's placement")
        total = sum(len(ranks) for _, ranks in models)
        environment = {name: setting for name, setting in experiment.environment.items() if name != _HOSTS}
        environment = self.without_exported_hosts(environment)
        tasks = written("ntasks", total, LAYER, self.span)
        experiment = evolve(
            experiment,
            directives=directives,
            environment=environment,
            launch=evolve(experiment.launch, options=tuple(options), tasks=tasks),
        )
        if len(experiment.models) > 1:
            return experiment
        line, _ = models[0]
        binary = self.binary(lines[line])
        return evolve(experiment, executable=self.executable("model.executable", binary.words))

    @staticmethod
    def _counts(option: Setting) -> bool:
        text = option.span.text if option.span is not None else ""
        return DEALING_OPTIONS.match(text) is not None or _REPLACED.match(text) is not None

    @staticmethod
    def without_exported_hosts(environment: dict[str, Setting]) -> dict[str, Setting]:
        """Without the variables of srun that place ranks."""
        return {
            name: setting
            for name, setting in environment.items()
            if name not in ("SLURM_DISTRIBUTION", "SLURM_CPU_BIND", "SLURM_DIST_PLANESIZE")
        }

    def nodes(self, lines: Sequence[Line], experiment: Experiment) -> list[int] | None:
        """The number of the node of each rank of the job; None where that is left to another program."""
        total = sum(len(line.ranks) for line in lines)
        if lines[0].part is not None:
            return self.of_parts(lines)
        hosts = self.hosts
        if hosts is None:
            named = self.experiment.environment.get(_HOSTS)
            if named is not None:
                text = self.job.named.get(_HOSTS) or ""
                if named.certainty is not Certainty.UNKNOWN:
                    text = text or text_called(str(named.value), self.job.files) or ""
                hosts = [] if UNKNOWN in text else text.split()
        if hosts is not None and len(hosts) >= total:
            numbers: dict[str, int] = {}
            return [numbers.setdefault(host, len(numbers)) for host in hosts[:total]]
        if hosts:
            raise _Undecided(f"the file of hosts names {len(hosts)}, and the job has {total} ranks")
        if hosts is None and not any("arbitrary" in text for text in options_of_job(self.job)):
            tasks = written("ntasks", total, LAYER, self.span)
            plain = evolve(self.experiment, launch=evolve(self.experiment.launch, tasks=tasks))
            try:
                found = {rank: node for node, ranks in enumerate(ranks_by_node(plain)) for rank in ranks}
                return [found[rank] for rank in range(total)]
            except (UndecidedError, KeyError):
                pass
        self.remarks.append(
            f"{self.span}: which node each rank sits on is not known: name the file of hosts of a run with --hosts, or "
            "see what the spec says of tasks"
        )
        return None

    def of_parts(self, lines: Sequence[Line]) -> list[int] | None:
        """Slurm's own dealing in each part of a heterogeneous job."""
        every = [ranks for line in lines for ranks in line.nodes]
        return [node for node, ranks in enumerate(every) for _ in ranks]

    # --- Wrappers ---

    def starts(
        self,
        binary: _Binary,
        line: Line,
        ranks: Sequence[int],
        nodes: Sequence[int] | None,
        experiment: Experiment,
    ) -> dict[int, Start]:
        """What the wrapper of a program does for its ranks on its first node."""
        if binary.wrapper is None:
            return {}
        gpus = gpus_per_node(experiment, Program("", None, {}, {}, {})) or int(
            self.variables.get("SLURM_GPUS_ON_NODE", "0") or 0
        )
        text = binary.wrapper.text
        script = parse(Source(binary.wrapper.name, _FIGURE.sub(str(gpus), text) if gpus else text))
        node = nodes[ranks[0]] if nodes is not None else 0
        here = [rank for rank, number in enumerate(nodes) if number == node] if nodes is not None else list(ranks)
        surroundings: dict[str, str | None] = dict(self.variables)
        for name, setting in self.experiment.environment.items():
            surroundings[name] = None if setting.certainty is Certainty.UNKNOWN else str(setting.value)
        if gpus:
            surroundings.setdefault("SLURM_GPUS_ON_NODE", str(gpus))
        if line.cpus is not None:
            surroundings["SLURM_CPUS_PER_TASK"] = str(line.cpus)
        found: dict[int, Start] = {}
        mine = set(ranks)
        for local, rank in enumerate(here[:_MOST_RANKS]):
            if rank not in mine:
                continue
            numbers = {"SLURM_PROCID": str(rank), "SLURM_LOCALID": str(local), "SLURM_NODEID": str(node)}
            start = follow(
                script, binary.words, {**surroundings, **numbers}, self._effort, any_program=not binary.words
            )
            if start is not None:
                found[rank] = start
        return found

    def device(self, binary: _Binary, starts: Mapping[int, Start]) -> str:
        """On what the work ranks of a program compute: what the names of its wrapper and program say; else on GPUs, if
        its wrapper shows each of a node one of its own. Two programs may be shown the same."""
        name = binary.wrapper.name if binary.wrapper is not None else ""
        words = [word.rpartition("/")[2].lower() for word in (name, *binary.words[:1]) if word]
        said = {kind for kind in (GPU, CPU) if any(kind in word for word in words)}
        if len(said) == 1:
            return said.pop()
        shown = [start.gpus for start in starts.values() if start.knows_gpus]
        is_one_each = bool(shown) and len(shown) == len(starts) and all(shown) and len(set(shown)) == len(shown)
        return GPU if is_one_each else CPU

    def environment(self, path: str, starts: Mapping[int, Start]) -> dict[str, Setting]:
        """The variables that a wrapper gives to all ranks of its program."""
        found: dict[str, Setting] = {}
        own: list[str] = []
        for name in dict.fromkeys(name for start in starts.values() for name in start.environment):
            values = {start.environment.get(name) for start in starts.values()}
            full = f"{path}.environment.{name}"
            if name in VISIBLE:
                continue
            if len(values) > 1:
                own.append(name)
            elif (text := values.pop()) is None:
                found[name] = unknown(full, self.span)
            else:
                found[name] = written(full, text, LAYER, self.span)
        if own:
            self.notes.append(f"{path}: {', '.join(own)} differ from rank to rank, and are left to nmlgen's placement")
        return found

    # --- Seats ---

    def seated(self, experiment: Experiment, ranks: Sequence[Sequence[int]], nodes: Sequence[int] | None) -> Experiment:
        """The experiment whose programs say as many tasks as they have, and their seats where the usual ways would
        place them elsewhere."""
        programs = [self.counted(experiment, number, len(own)) for number, own in enumerate(ranks)]
        experiment = evolve(experiment, programs=tuple(programs))
        if nodes is not None:
            said = list(experiment.programs)
            for number, own in enumerate(ranks):
                actual = [nodes[rank] for rank in own]
                if self.usual(experiment, number) != actual:
                    said[number] = self.with_seats(experiment, number, actual)
            experiment = evolve(experiment, programs=tuple(said))
        return self.with_room(experiment)

    def counted(self, experiment: Experiment, number: int, count: int) -> Program:
        """A program with its number of tasks, where that is not what it has by itself."""
        program = experiment.programs[number]
        try:
            if program.uses_gpus and task_count(experiment, number) == count:
                return program
        except (SeatError, UndecidedError):
            pass
        tasks = written(f"{program.path}.tasks", count, LAYER, self.span)
        return evolve(program, settings={**program.settings, "tasks": tasks})

    @staticmethod
    def usual(experiment: Experiment, number: int) -> list[int] | None:
        try:
            return nodes_of(experiment, number)
        except (SeatError, UndecidedError, ValueError):
            return None

    def with_seats(self, experiment: Experiment, number: int, actual: list[int]) -> Program:
        program = experiment.programs[number]
        first = min(actual) if program.job else 0
        seats = written(f"{program.path}.seats", seat_text([node - first for node in actual]), LAYER, self.span)
        settings = {key: setting for key, setting in program.settings.items() if key != "tasks"}
        return evolve(program, settings={**settings, "seats": seats})

    def with_room(self, experiment: Experiment) -> Experiment:
        """Without the widths of ranks where nodes have not so many cores."""
        widths = [program for program in experiment.programs if program.said("cpus_per_task") is not None]
        try:
            placement(experiment)
            return experiment
        except UndecidedError:
            return experiment
        except SeatError as error:
            if not widths:
                self.remarks.append(str(error))
                return experiment
            self.notes.append(f"{self.span}: {error}; each has one")
        programs = [
            evolve(one, settings={key: setting for key, setting in one.settings.items() if key != "cpus_per_task"})
            for one in experiment.programs
        ]
        return self.with_room(evolve(experiment, programs=tuple(programs)))


_MOST_RANKS = 512


def options_of_job(job: Job) -> list[str]:
    """The options of the launch, those in two words as one."""
    options = options_of(job.launch) if job.launch is not None else []
    return [*options, *(f"{one} {other}" for one, other in pairwise(options))]


def _label(binary: _Binary, taken: set[str]) -> str:
    """A name for a program that is no model: made of its own, with a number where that is taken."""
    word = next((word for word in binary.words if word), "") or (binary.wrapper.name if binary.wrapper else "")
    name = re.sub(r"[^A-Za-z0-9_]+", "_", word.rpartition("/")[2].partition(".")[0]).strip("_")[:36]
    name = name if _PLAIN_NAME.fullmatch(name) else "program"
    found, number = name, 2
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    return found
