"""srun, mpirun and mpiexec, with what stands around them."""

from __future__ import annotations

import pytest
from rows import rows
from script.commands import words_of

from nmlgen.experiment.setting import Certainty, Setting
from nmlgen.script import launch
from nmlgen.script.launch import LaunchCommand, read_launch
from nmlgen.script.options import Option, OptionTable, StaticWord


def read(command: str) -> LaunchCommand:
    found = read_launch(words_of(command))
    assert found is not None
    return found


def shown(setting: Setting | None) -> object:
    return setting and ("?" if setting.certainty is Certainty.UNKNOWN else setting.value)


@rows(
    ("command", "tasks", "executable"),
    [
        ("srun ./icon", None, "./icon"),
        ("srun -n 64 ./icon -x", 64, "./icon"),
        ("srun -n64 ./icon", 64, "./icon"),
        ("srun -l --ntasks=64 --cpu_bind=verbose,cores -- ./icon", 64, "./icon"),
        ("srun --kill-on-bad-exit=1 -K --ntasks 64 ./icon", 64, "./icon"),
        ("time srun -n 64 ./icon", 64, "./icon"),
        ("OMP_NUM_THREADS=2 exec srun -n 64 ./icon", 64, "./icon"),
        ("/usr/bin/srun -n 64 env LD_PRELOAD=x.so ./icon", 64, "./icon"),
        ("srun -n 64 numactl --interleave=0-3 -l ./icon", 64, "./icon"),
        ("srun -n 64 ./wrapper.sh -n 8 -- ./icon", 64, "./icon"),
        ("srun -n $tasks ./icon", "?", "./icon"),
        ("srun --ntasks=$tasks ./icon", "?", "./icon"),
        ('srun -n 64 "$MODEL"', 64, None),
        ("srun -n 64 ${MODEL}", "?", None),
        ("srun $options ./icon", "?", None),
        ("srun -n 64 --$option ./icon", "?", None),
        ("mpirun -np 64 ./icon", 64, "./icon"),
        ("mpirun -n 64 --bind-to core --report-bindings ./icon", 64, "./icon"),
        ("mpirun --mca pml ucx -x LD_PRELOAD=x.so -np 64 ./icon", 64, "./icon"),
        ("mpiexec.hydra -genv I_MPI_DEBUG 5 -ppn 32 -n 64 ./icon", 64, "./icon"),
        ("mpiexec --map-by=core -n 64 timeout -s INT 60 ./icon", 64, "./icon"),
        ("mpirun -vh -np 1 ./icon", "?", None),
        ("mpirun -np 1 ./a : -np 8 ./b", "?", "./a"),
        ("mpirun ./icon", None, "./icon"),
    ],
)
def test_tasks_and_executable(command: str, tasks: object, executable: str | None) -> None:
    found = read(command)
    assert shown(found.ntasks) == tasks
    assert (found.executable.text if found.executable else None) == executable
    assert not found.problems


def test_nodes_and_options() -> None:
    found = read("srun -l -N 2 --ntasks-per-node=32 --hint=nomultithread ./icon a b")
    assert (shown(found.nodes), shown(found.tasks_per_node), shown(found.ntasks)) == (2, 32, None)
    assert found.launch.command.value == "srun"
    options = [option.value for option in found.launch.options]
    assert options == ["-l", "-N", "2", "--ntasks-per-node=32", "--hint=nomultithread"]
    assert [word.text for word in found.arguments] == ["a", "b"]
    assert shown(read("srun -N 2-4 ./icon").nodes) == "2-4"
    assert shown(read("mpirun -ppn 32 ./icon").tasks_per_node) == 32


def test_environment() -> None:
    found = read("A=1 srun --export=ALL,B=2 env C=3 D=$d ./icon")
    values = {name: shown(setting) for name, setting in found.environment.items()}
    assert values == {"A": "1", "B": "2", "C": "3", "D": "?"}
    assert found.for_launcher == {"A"}
    assert read("mpirun -x A=1 -n 2 ./icon").environment["A"].value == "1"
    assert read("mpiexec -env A 1 -n 2 ./icon").environment["A"].value == "1"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("srun -np 4 ./icon", 'srun refuses -n "p"'),
        ("srun -n 0 ./icon", 'srun refuses -n "0"'),
        ("mpirun -np x ./icon", 'mpirun refuses -np "x"'),
    ],
)
def test_what_the_launcher_refuses(command: str, message: str) -> None:
    assert [problem.message for problem in read(command).problems] == [message]


@pytest.mark.parametrize("command", ['srun --ntasks-per-node="" ./icon', "mpirun -n TBG_tasks ./icon"])
def test_a_number_that_comes_later_is_not_refused(command: str) -> None:
    """What `$1` says is empty until somebody starts the script with a word."""
    assert not read(command).problems


@pytest.mark.parametrize(
    ("command", "stops"),
    [("mpirun -np ntasks ./icon", False), ("mpirun -np 8x ./icon", True), ("srun -np 8 ./icon", True)],
)
def test_a_word_for_a_number_may_be_filled_in(command: str, stops: bool) -> None:
    assert [problem.stops for problem in read(command).problems] == [stops]


def test_no_tasks_at_all_are_all_slots_to_open_mpi() -> None:
    """`mpirun -np 0 echo` of Open MPI 4.1 starts one on each slot."""
    found = read("mpirun -np 0 ./icon")
    assert [problem.stops for problem in found.problems] == [False]
    assert shown(found.ntasks) == "?"


@pytest.mark.parametrize(
    "command", ["", "./icon", "echo srun ./icon", "$START ./icon", "sbatch -n 4 job.sh", "env A=1"]
)
def test_other_commands(command: str) -> None:
    assert read_launch(words_of(command)) is None


def test_options_that_nobody_knows_are_not_held_against_all_names() -> None:
    class Name(str):
        looks = 0

        def startswith(self, *given):  # type: ignore[no-untyped-def]
            Name.looks += 1
            return super().startswith(*given)

    table = OptionTable.of(Option(Name(f"option-{number}"), None, "none") for number in range(1_000))
    assert [table.named(f"other-{number}") for number in range(100)] == [()] * 100
    assert Name.looks <= 100
    assert [option.name for option in table.named("option-12")] == ["option-12"]
    assert len(table.named("option-")) == 1_000


def test_an_option_of_mpirun_is_read_with_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []

    def counted(reading: launch._Reading, words: list[StaticWord]) -> int | None:
        given.append(len(words))
        return read_option(reading, words)

    read_option = launch._Reading._mpirun_option
    monkeypatch.setattr(launch._Reading, "_mpirun_option", counted)
    assert read("mpirun" + " -np 4" * 100 + " ./icon").executable is not None
    assert (len(given), max(given)) == (100, 3)
