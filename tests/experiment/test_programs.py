"""Programs of a job, from what was recorded of them and back."""

from __future__ import annotations

import pytest

from nmlgen.experiment.programs import CPU, GPU, LAYER, Program, programs_from
from nmlgen.experiment.setting import Setting, written


def said(**values: object) -> dict[str, Setting]:
    return {key.replace("__", "."): written(key, value, "test") for key, value in values.items()}


def test_programs_by_their_keys() -> None:
    programs = programs_from(
        said(
            programs__post__device=CPU,
            programs__post__command="./post",
            programs__post__job__mem="1G",
            programs__post__environment__OMP_NUM_THREADS="2",
            programs__post__weather="fine",
            models__atm__device=GPU,
            models__atm__tasks=4,
            models__oce__device=CPU,
            models__none__tasks=3,
            grid__name="R2B4",
        )
    )
    assert [(one.path, one.model, one.name, one.uses_gpus) for one in programs] == [
        ("models.atm", 0, "atm", True),
        ("models.oce", 1, "oce", False),
        ("programs.post", None, "post", False),
    ]
    post = programs[2]
    assert {key: setting.value for key, setting in post.settings.items()} == {"device": CPU, "command": "./post"}
    assert {key: setting.value for key, setting in post.job.items()} == {"mem": "1G"}
    assert {key: setting.value for key, setting in post.environment.items()} == {"OMP_NUM_THREADS": "2"}
    assert (post.said("command"), post.said("tasks")) == ("./post", None)


def test_the_only_model() -> None:
    (program,) = programs_from(said(model__device=GPU, model__io_nodes=1, model__release="2024.10"))
    assert (program.path, program.model, program.name) == ("model", 0, "model")
    assert set(program.settings) == {"device", "io_nodes"}


@pytest.mark.parametrize(
    ("path", "executable", "expected"),
    [("model", "icon", ["model.device"]), ("models.atm", "icon", ["models.atm.executable", "models.atm.device"])],
)
def test_what_is_recorded(path: str, executable: str, expected: list[str]) -> None:
    settings = {"executable": written("executable", executable, "test"), "device": written("device", GPU, LAYER)}
    settings["tasks"] = written("tasks", 4, LAYER)  # nobody said it
    assert list(Program(path, 0, settings, {}, {}).recorded()) == expected


def test_what_is_recorded_is_read_again() -> None:
    recorded = said(
        models__atm__device=GPU,
        models__atm__job__mem="1G",
        models__atm__environment__A="1",
        programs__x__device=CPU,
        programs__x__tasks=2,
    )
    programs = programs_from(recorded)
    assert {key: one.value for program in programs for key, one in program.recorded().items()} == {
        key: one.value for key, one in recorded.items()
    }
