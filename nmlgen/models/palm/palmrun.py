"""A job as palmrun keeps it: `JOBS/<run>/INPUT/<run>_p3d`, and above `JOBS` a configuration `.palm.config.<id>` and a
list of files `.palm.iofiles` (`bin/palmrun:358-456` of 25.10.1).

Both are read, never run: what the shell would put in, a `$` or a backquote, is told and left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nmlgen import disk
from nmlgen.command_line import command_words
from nmlgen.errors import InputError
from nmlgen.files import Files
from nmlgen.models.job import ModelJob
from nmlgen.units.whole import decimal

_CONFIG = ".palm.config."
_FILES = ".palm.iofiles"
_LAUNCHERS = ("srun", "mpirun", "mpiexec")
_FILLED = re.compile(r"\{\{(\w+)\}\}")
_SHELL = re.compile(r"[$`]")
_DIRECTIVE = re.compile(r"#SBATCH\s+(?:--([a-z][a-z-]*)(?:=|\s+)|-([A-Za-z])\s*)(.+)")
_SHORT = {"A": "account", "p": "partition", "C": "constraint", "q": "qos", "N": "nodes", "n": "ntasks", "t": "time"}
_SHORT |= {"J": "job-name", "o": "output", "e": "error"}
_OF_PBS = re.compile(r"#PBS\s+-([AqNoej])\b")
"""What is taken already, or what a build names itself."""
_OF_RUN = ("job-name", "output", "error")
"""What a build names itself."""
_EXPORT = re.compile(r"export\s+([A-Za-z_]\w*)=(.*)")
_STACK = re.compile(r"ulimit\s+-s\s+(unlimited|\d+)")
_LOAD = re.compile(r"module\s+load\s+([^;&|]+)")
_PURGE = re.compile(r"module\s+purge")
_OF_BATCH = {"project_account": "account", "queue": "partition"}
_OF_DOMAIN = re.compile(r"(?:_N\d\d|_O)\Z")
_MOST_WRITERS = 1
_MOST_FILLED = 500_000
"""A bound on memory: characters that variables bring into all lines together."""


class _Config:
    """The lines of a configuration by what they are: variables, and commands and directives in their order."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.left = _MOST_FILLED
        self.variables: dict[str, str] = {}
        self.lines: dict[str, list[str]] = {"BD": [], "IC": [], "EC": [], "OC": []}
        for line in text.splitlines():
            kind, _, rest = line.partition(":")
            if line.startswith("%"):
                name, _, value = line[1:].partition(" ")
                self.variables.setdefault(name, value.strip())
            elif kind in self.lines:
                self.lines[kind].append(rest.strip())
        self.values = {"queue": self.variables.get("defaultqueue", "")} | self.variables

    def filled(self, text: str) -> str:
        """A text with the variables that the configuration sets; what only palmrun's options say stays. Raises
        InputError for very much that they bring."""

        def value(found: re.Match[str]) -> str:
            brought = self.values.get(found[1]) or found[0]
            self.left -= len(brought)
            if self.left < 0:
                raise InputError(f"{self.name}: its variables bring more than {_MOST_FILLED} characters into its lines")
            return brought

        return _FILLED.sub(value, text)


def job_of(path: Path, files: Files) -> ModelJob | None:
    """The job whose directory, or whose INPUT, a path is; None if it is none of palmrun's."""
    home = (path.parent if path.name == "INPUT" else path).absolute()
    run = home.name
    namelist = home / "INPUT" / f"{run}_p3d"
    if not disk.is_file(namelist):
        return None
    return _Job(home, run, namelist, files).job()


class _Job:
    def __init__(self, home: Path, run: str, namelist: Path, files: Files) -> None:
        self.home = home
        self.run = run
        self.namelist = namelist
        self.files = files
        self.remarks: list[str] = []
        self.notes: list[str] = []
        self.identifier = ""
        self.base = home

    def job(self) -> ModelJob:
        config = self.config()
        model = {"name": "palm", "executable": "palm"}
        keys: dict[str, Any] = {"model": model}
        scheduler = "slurm"
        if config is not None:
            model["executable"] = f"MAKE_DEPOSITORY_{self.identifier}/palm"
            base = config.variables.get("base_directory", "")
            model["directory"] = base if _is_path(base) else str(self.base)
            if _is_path(fast := config.variables.get("fast_io_catalog", "")):
                keys["run_directory"] = f"{fast.rstrip('/')}/{self.run}"
            self.notes.append(f"model.executable: taken from where palmbuild -c {self.identifier} leaves it")
            if any(line.startswith("#PBS") for line in config.lines["BD"]):
                scheduler = "pbs"
            keys |= {"job": self.directives(config), "launch": self.launch(config), "modules": self.modules(config)}
            keys |= self.commands(config)
        keys["input_files"] = self.inputs()
        keys["namelist_files"] = {"ENVPAR": {"envpar": self.envpar()}}
        self.notes.append("ENVPAR: as palmrun writes it for `-a d3#`, which keeps no restart files")
        keys = {key: value for key, value in keys.items() if value}
        return ModelJob(self.run, self.namelist, keys, scheduler, tuple(self.remarks), tuple(self.notes))

    def config(self) -> _Config | None:
        """The configuration in the directory above JOBS, or in that of the job; the default one of several."""
        for directory in (self.home, self.home.parent.parent):
            names = [name for name in disk.names(directory) if name.startswith(_CONFIG)]
            found = [name for name in names if not name.endswith(("~", ".in"))]
            if not found:
                continue
            name = f"{_CONFIG}default" if f"{_CONFIG}default" in found else sorted(found)[0]
            self.identifier, self.base = name.removeprefix(_CONFIG), directory
            if len(found) > 1:
                others = ", ".join(sorted(set(found) - {name}))
                self.notes.append(f"of several configurations {name} is taken, not {others}")
            return _Config(name, self.files.read(directory / name).text)
        self.remarks.append(f"there is no {_CONFIG}<id> in the job's directory, nor in the one above JOBS")
        return None

    def directives(self, config: _Config) -> dict[str, Any]:
        """What the directives ask for, but for what palmrun's options say."""
        asked: dict[str, Any] = {}
        for name, key in _OF_BATCH.items():
            value = config.filled(f"{{{{{name}}}}}")
            if not _FILLED.search(value) and not _is_open(value):
                asked[key] = value
        if config.lines["BD"] and not asked.get("account"):
            self.remarks.append("job.account: %project_account does not say it")
        of_options = []
        for line in config.lines["BD"]:
            filled = config.filled(line)
            found = _DIRECTIVE.fullmatch(filled)
            if found is None:
                if line.startswith("#PBS") and not (_FILLED.search(filled) or _OF_PBS.match(line) or "<" in filled):
                    self.remarks.append(f"not taken over: {filled}")
                continue
            name, value = found[1] or _SHORT.get(found[2], found[2]), found[3].strip()
            if name in _OF_RUN:
                continue
            if _FILLED.search(value):
                of_options.append(name)
            elif not _is_open(value):
                number = decimal(value)
                asked[name.replace("-", "_")] = value if number is None else number
        if "mem_per_cpu" in asked:
            asked["mem_per_cpu"] = f"{asked['mem_per_cpu']}M"  # %memory is in MB
        told = [name for name in of_options if name not in asked]
        if told:
            self.remarks.append(
                f"palmrun's options say {', '.join(told)}: -X the tasks, -T those of a node, -t the time"
            )
        return asked

    def launch(self, config: _Config) -> dict[str, Any]:
        """The launcher and its options without those that say how many tasks there are."""
        words = _words(config.variables.get("execute_command", ""))
        if not words or words[0] not in _LAUNCHERS:
            self.remarks.append(f"launch: %execute_command starts with none of {', '.join(_LAUNCHERS)}")
            return {}
        options: list[str] = []
        for word in words[1:]:
            if word.removeprefix("./") == "palm":
                break
            if _FILLED.search(word):
                if "=" not in word and options:
                    options.pop()  # its value is a word of its own
            elif word in ("hostfile", "-machinefile", "--hostfile"):
                self.notes.append(f"launch.options: without {word}, which is palmrun's")
            elif _SHELL.search(word):
                self.remarks.append(f"launch.options: only the shell knows {word}")
            else:
                options.append(word)
        return {"command": words[0], **({"options": options} if options else {})}

    def modules(self, config: _Config) -> list[str]:
        said = config.variables.get("module_commands", "")
        found = [name for load in _LOAD.findall(said) for name in load.split()]
        left = _LOAD.sub("", _PURGE.sub("", said))
        if re.search(r"\w", left):
            self.remarks.append(f"modules: not taken over: {left.strip(' ;&')}")
        return [name for name in found if not _SHELL.search(name)]

    def commands(self, config: _Config) -> dict[str, Any]:
        """What the commands before the run set; others are told."""
        environment: dict[str, str] = {}
        limits: dict[str, Any] = {}
        for line in config.lines["IC"]:
            stack = _STACK.match(line)
            size = None if stack is None else "unlimited" if stack[1] == "unlimited" else decimal(stack[1])
            export = _EXPORT.fullmatch(line)
            words = _words(export[2]) if export is not None else []
            if size is not None:
                limits["limits"] = {"stack": size}
            elif export is not None and len(words) == 1 and not _SHELL.search(words[0]):
                environment[export[1]] = words[0]
            elif line and not line.startswith("module list"):
                self.remarks.append(f"not taken over: IC:{line}")
        lines = [f"{kind}:{line}" for kind in ("EC", "OC") for line in config.lines[kind]]
        if lines:
            self.notes.append(f"not taken over: {len(lines)} commands for after the run (EC:, OC:)")
        return {"environment": environment, "shell": limits}

    def inputs(self) -> dict[str, Any]:
        """The files beside the namelist that a first run takes, by the names that PALM looks for."""
        there = [name for name in disk.names(self.namelist.parent) if name.startswith(f"{self.run}_")]
        of_domains: dict[str, list[tuple[str, str]]] = {}
        for name in there:
            of_domains.setdefault(name, []).append(("", name))
            if (domain_of := _OF_DOMAIN.search(name)) is not None:
                of_domains.setdefault(name[: domain_of.start()], []).append((domain_of[0], name))
        found: dict[str, Any] = {}
        taken = {self.namelist.name}
        for target, ending, is_open in self.connections():
            for domain, name in of_domains.get(f"{self.run}{ending}", ()):
                if is_open or not domain:
                    taken.add(name)
                    if name != self.namelist.name:
                        source = self.namelist.parent / name
                        found.setdefault(f"{target}{domain}", {"source": str(source)})
        for name in sorted(set(there) - taken):
            self.notes.append(f"input_files: without {name}, which no line of {_FILES} takes for a first run")
        return found

    def connections(self) -> Iterator[tuple[str, str, bool]]:
        """The name that PALM looks for, the ending of a file and whether those of other domains are meant, too."""
        for directory in (self.home, self.home.parent.parent):
            if disk.is_file(directory / _FILES):
                for line in self.files.read(directory / _FILES).text.splitlines():
                    words = line.split()
                    if line.startswith("#") or len(words) < 5 or not words[1].startswith("in"):
                        continue
                    if "d3#" in words[2].split(":") and words[3].rstrip("/").endswith("/INPUT"):
                        yield words[0], words[4].rstrip("*"), words[4].endswith("*")
                return
        for target, ending in _ENDINGS.items():
            yield target, ending, True

    def envpar(self) -> dict[str, Any]:
        return {
            "run_identifier": self.run,
            "host": self.identifier or "default",
            "write_binary": False,
            "write_svf": False,
            "write_spinup_data": False,
            "read_svf": False,
            "maximum_parallel_io_streams": _MOST_WRITERS,
            "version_string": "PALM",
            "progress_bar_disabled": True,
        }


_ENDINGS = {
    "PARIN": "_p3d",
    "PIDS_STATIC": "_static",
    "PIDS_DYNAMIC": "_dynamic",
    "PIDS_CHEM": "_chemistry",
    "PIDS_SALSA": "_salsa",
    "PIDS_VM": "_vmeas",
    "PIDS_WTM": "_wtmpar",
    "TOPOGRAPHY_DATA": "_topo",
    "LSF_DATA": "_lsf",
    "NUDGING_DATA": "_nudge",
}
"""What palmrun's own list of files takes most often; without a list."""


def _is_open(value: str) -> bool:
    """Whether a value is still to be filled in, by somebody or by the shell."""
    return not value or "<" in value or _SHELL.search(value) is not None


def _is_path(value: str) -> bool:
    return value.startswith("/") and not _is_open(value)


def _words(text: str) -> list[str]:
    try:
        return command_words(text, comments=True)
    except ValueError:
        return text.split()
