"""Seeded fuzzers that know the structure of what they change. `tests/test_fuzzing.py` runs a few cases of each,
`benchmarks/fuzz.py` as many as one likes."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from attrs import evolve

from fuzzing import editing
from fuzzing.argued import argued_commands
from fuzzing.cases import Case, Fuzzer
from fuzzing.crossed import crossed_configurations, crossed_sites, crossed_specs, crossed_sweeps
from fuzzing.declared import declared_sites, declared_specs
from fuzzing.grown import GROWN
from fuzzing.kept import kept
from fuzzing.large import large
from fuzzing.limited import MEMORY, Ended, calls, warm_up
from fuzzing.mated import mated_specs
from fuzzing.mazes import mazes_of_directories, mazes_of_namelists, mazes_of_scripts, mazes_of_specs
from fuzzing.multiplied import multiplied_specs
from fuzzing.radamsa import radamsa_from
from fuzzing.recoded import recoded_from
from fuzzing.registered import registered_namelists
from fuzzing.repeated import paired_from, repeated_from
from fuzzing.slurm import replies
from fuzzing.specs import calibrations, configurations, site_files, specs, sweeps
from fuzzing.spliced import spliced_logs, spliced_namelists, spliced_replies, spliced_scripts
from fuzzing.tangled import odd_files, reckoned_sweeps, tangled_from
from fuzzing.texts import logs, namelists, scripts
from fuzzing.woven import woven_documents, woven_models, woven_scripts

KINDS: dict[str, Fuzzer] = {
    "specs": specs,
    "sites": site_files,
    "calibrations": calibrations,
    "sweeps": sweeps,
    "configurations": configurations,
    "namelists": namelists,
    "scripts": scripts,
    "logs": logs,
    "slurm": replies,
    "crossed-specs": crossed_specs,
    "crossed-sites": crossed_sites,
    "crossed-sweeps": crossed_sweeps,
    "crossed-configurations": crossed_configurations,
    "spliced-scripts": spliced_scripts,
    "spliced-namelists": spliced_namelists,
    "spliced-logs": spliced_logs,
    "spliced-slurm": spliced_replies,
    "woven-scripts": woven_scripts,
    "woven-models": woven_models,
    "woven-documents": woven_documents,
    "declared-specs": declared_specs,
    "declared-sites": declared_sites,
    "recoded-specs": recoded_from(declared_specs),
    "recoded-documents": recoded_from(woven_documents),
    "recoded-sites": recoded_from(crossed_sites),
    "recoded-sweeps": recoded_from(crossed_sweeps),
    "recoded-configurations": recoded_from(crossed_configurations),
    "recoded-namelists": recoded_from(spliced_namelists),
    "recoded-scripts": recoded_from(woven_scripts),
    "recoded-models": recoded_from(woven_models),
    "recoded-logs": recoded_from(spliced_logs),
    "recoded-slurm": recoded_from(spliced_replies),
    "recoded-kept": recoded_from(kept),
    "mated-specs": mated_specs,
    "odd-files": odd_files,
    "reckoned-sweeps": reckoned_sweeps,
    "tangled-specs": tangled_from(mated_specs),
    "tangled-documents": tangled_from(declared_sites),
    "tangled-configurations": tangled_from(configurations),
    "tangled-namelists": tangled_from(namelists),
    "tangled-models": tangled_from(woven_models),
    "tangled-scripts": tangled_from(scripts),
    "tangled-jobs": tangled_from(woven_scripts),
    "tangled-logs": tangled_from(logs),
    "tangled-slurm": tangled_from(replies),
    "tangled-kept": tangled_from(kept),
    "repeated-specs": repeated_from(mated_specs),
    "repeated-sites": repeated_from(crossed_sites),
    "repeated-sweeps": repeated_from(sweeps),
    "repeated-documents": repeated_from(woven_documents),
    "repeated-configurations": repeated_from(crossed_configurations),
    "repeated-namelists": repeated_from(registered_namelists),
    "repeated-models": repeated_from(woven_models),
    "repeated-scripts": repeated_from(spliced_scripts),
    "repeated-jobs": repeated_from(woven_scripts),
    "repeated-logs": repeated_from(spliced_logs),
    "repeated-slurm": repeated_from(replies),
    "repeated-kept": repeated_from(kept),
    "paired-specs": paired_from(mated_specs),
    "paired-sites": paired_from(crossed_sites),
    "paired-sweeps": paired_from(sweeps),
    "paired-documents": paired_from(woven_documents),
    "paired-configurations": paired_from(crossed_configurations),
    "paired-namelists": paired_from(registered_namelists),
    "paired-models": paired_from(woven_models),
    "paired-scripts": paired_from(spliced_scripts),
    "paired-jobs": paired_from(woven_scripts),
    "paired-logs": paired_from(spliced_logs),
    "paired-slurm": paired_from(replies),
    "paired-kept": paired_from(kept),
    "radamsa-specs": radamsa_from(mated_specs),
    "radamsa-sites": radamsa_from(declared_sites),
    "radamsa-calibrations": radamsa_from(calibrations),
    "radamsa-sweeps": radamsa_from(crossed_sweeps),
    "radamsa-documents": radamsa_from(woven_documents),
    "radamsa-configurations": radamsa_from(crossed_configurations),
    "radamsa-namelists": radamsa_from(spliced_namelists),
    "radamsa-models": radamsa_from(woven_models),
    "radamsa-scripts": radamsa_from(spliced_scripts),
    "radamsa-jobs": radamsa_from(woven_scripts),
    "radamsa-logs": radamsa_from(spliced_logs),
    "radamsa-slurm": radamsa_from(replies),
    "radamsa-kept": radamsa_from(kept),
    "mazes-scripts": mazes_of_scripts,
    "mazes-namelists": mazes_of_namelists,
    "mazes-specs": mazes_of_specs,
    "mazes-directories": mazes_of_directories,
    "registered-namelists": registered_namelists,
    "argued-commands": argued_commands,
    "multiplied-specs": multiplied_specs,
    **GROWN,
    "kept": kept,
    "large": large,
}
EDITOR = "editor"
"""The kind that speaks to the language server."""


def ends(
    kind: str, seed: object, count: int, directory: Path, cpu: int | None = None
) -> Iterator[tuple[Case, list[Ended]]]:
    """So many cases of a kind, each with how its calls ended in the directory; `cpu` as `call` has it."""
    if kind == EDITOR:
        yield from editing.ends(seed, count, directory, cpu)
        return
    known = set[str]()
    for case in islice(KINDS[kind](random.Random(f"{kind} {seed}")), count):
        done = case.run(directory, cpu)
        _load(done, known, case, directory)
        yield case, done


def _load(done: list[Ended], known: set[str], case: Case, directory: Path) -> None:
    """Load what a command needs once, where all calls are copied from."""
    for end in done:
        if end.fault is None and end.arguments[0] not in known:
            known.add(end.arguments[0])
            warm_up(directory, end.arguments, case.environment(directory))


_BATCH = 60
_LOADED = set[str]()
"""The commands of which a call was done where all processes are copied from: one that does many calls may load more."""


def many(
    kind: str, seed: object, count: int, directory: Path, cpu: int | None = None
) -> Iterator[tuple[Case, list[Ended]]]:
    """The same as `ends`, much faster: many cases in one process. A case of which something is wrong there is run by
    itself, and if nothing is wrong then, its calls are said to have failed behind others."""
    if kind == EDITOR:
        yield from editing.ends(seed, count, directory, cpu)
        return
    generated = islice(KINDS[kind](random.Random(f"{kind} {seed}")), count)
    while cases := list(islice(generated, _BATCH)):
        shutil.rmtree(directory, ignore_errors=True)
        homes = [directory / "cases" / str(number) for number in range(len(cases))]
        waiting = list(zip(cases, homes, strict=True))
        while waiting:
            asked = [one for case, home in waiting for one in case.asked(home)]
            done = iter(calls(asked, directory / "said", cpu))
            for number, (case, home) in enumerate(waiting):
                found = list(islice(done, len(case.calls)))
                if len(found) == len(case.calls) and not any(map(_is_odd, found)):
                    _load(found, _LOADED, case, home)
                    yield case, found
                    continue
                alone = case.run(directory / "alone", cpu)
                if any(end.fault for end in alone):
                    yield case, alone
                else:
                    yield case, [evolve(end, error=end.error + _BEHIND) if end.fault else end for end in found] or alone
                if len(found) < len(case.calls) or any(end.code < 0 for end in found):
                    waiting = waiting[number + 1 :]
                    break
            else:
                waiting = []


_BEHIND = "\n(only behind other calls)"


def _is_odd(end: Ended) -> bool:
    return end.fault is not None or end.memory > MEMORY
