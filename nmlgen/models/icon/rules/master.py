"""The master namelist: which models a run has, and which ranks compute them."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import MODEL_GROUP, MOST_MODELS, MOST_TASKS, Component, claimed
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import Group, effective, integer
from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.parts import parts
from nmlgen.rules.rule import ComponentRule, Rule
from nmlgen.source import Span
from nmlgen.values import frozen

_HAMOCC, _OCEAN, _TESTBED = 4, 2, 99


@frozen
class _Ranks:
    """The ranks that a model claims, of those that there are."""

    model: Group
    claimed: frozenset[int]


def _claims(experiment: Experiment) -> tuple[_Ranks, ...]:
    """Who claims which ranks; empty for a single model, which gets them all.

    Raises UndecidedError where the blocks do not advance: another rule says so.
    """
    if len(experiment.models) < 2:
        return ()
    tasks = integer(experiment.tasks)
    if tasks > MOST_TASKS // len(experiment.models):
        raise UndecidedError(experiment.tasks)
    return tuple(_Ranks(model.entry, claimed(experiment.registry, model.entry, tasks)) for model in experiment.models)


def _of(experiment: Experiment, model: Group, name: str) -> Setting:
    return effective(experiment.registry, model, MODEL_GROUP, name)


def _name(experiment: Experiment, model: Group) -> str:
    return str(_of(experiment, model, "model_name").value).strip()


def _spans(ranks: list[int]) -> str:
    """Ranks in ascending order as text: "3", "0 to 2", "1, 4 to 7 and others"."""
    parts: list[list[int]] = []
    for rank in ranks:
        if parts and parts[-1][1] == rank - 1:
            parts[-1][1] = rank
        else:
            parts.append([rank, rank])
    texts = [str(low) if low == high else f"{low} to {high}" for low, high in parts]
    return ", ".join(texts[:3]) + (" and others" if len(texts) > 3 else "")


def _where(experiment: Experiment, model: Group, name: str) -> Span | None:
    """Where a variable of a model was written, else its group."""
    setting = _of(experiment, model, name)
    return setting.span if setting.is_written else model.span


class UnnamedModel(ComponentRule):
    """A run has one model to fifteen, and every model has a name and a namelist file.

    ## What it does
    Finds a master namelist without any `master_model_nml`, a sixteenth one, and a `model_name` or a
    `model_namelist_filename` that is empty or not set.

    ## Why it matters
    ICON aborts as its first act.

    ## Evidence
    ICON 2024.10 rejected a file without the group, an empty and a missing name, and a missing file name: "no of models
    < 1", "my_model_name = NULL", "my_namelist_filename = NULL"
    (`mo_master_init.f90:50-52,159-160`). It stops at a sixteenth: "no of models >= max no of models"
    (`mo_master_nml.f90:260`).

    ## Example
    ```yaml bad
    namelists:
      master_model_nml: {model_name: ""}
    #                                ^
    ```
    ```yaml good
    namelists:
      master_model_nml: {model_name: atm}
    ```

    ## References
    ICON namelist overview, master_model_nml.
    """

    code = "MST001"
    name = "unnamed-model"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        model = component.group(MODEL_GROUP)
        if model is None:
            yield self.finding(None, "the master namelist starts no model", "expected: a group master_model_nml")
            return
        if component.number == MOST_MODELS:
            message = f"ICON starts at most {MOST_MODELS} models, and this is one more"
            yield self.finding(model.span, message, "expected: the models in several runs")
        for name, example in (("model_name", "atm"), ("model_namelist_filename", "NAMELIST_atm")):
            setting = component[MODEL_GROUP, name]
            if not str(setting.value).strip():
                verb = "is empty" if setting.is_written else "is not set"
                yield self.finding(
                    setting if setting.is_written else model.span,
                    f"{name} {verb}",
                    f'expected: a name, such as "{example}"',
                )


class HamoccAlone(ComponentRule):
    """HAMOCC as a model of its own needs an ocean model beside it.

    ## What it does
    Finds `model_type` 4 in a run that has no model of type 2.

    ## Why it matters
    HAMOCC exchanges its state with the ocean's ranks at every step. A single program that computes both, an ocean
    with `lhamocc`, is of type 2.

    ## Evidence
    ICON 2024.10, `mo_hamocc_model.f90:147-260`; a build without the ocean rejected it: "my_process_component is
    unknown" (`icon.f90:264`).

    ## Example
    ```yaml bad
    namelists:
      master_model_nml: {model_type: 4}
    #                                ^
    ```
    ```yaml good
    namelists:
      master_model_nml: {model_type: 1}
    ```

    ## References
    ICON namelist overview, master_model_nml.
    """

    code = "MST002"
    name = "hamocc-without-ocean"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        own = component[MODEL_GROUP, "model_type"]
        if own.value != _HAMOCC:
            return
        types = {other[MODEL_GROUP, "model_type"].value for other in component.experiment.components}
        if _OCEAN not in types:
            yield self.finding(
                own,
                "model_type is 4, HAMOCC, and no model is an ocean",
                "expected: a further master_model_nml with model_type 2, or this one as such",
            )


class IconTestbed(ComponentRule):
    """The testbed is no part of a common ICON.

    ## What it does
    Finds `model_type` 99 where nobody says whether the executable has the testbed; where somebody does, RUN008 judges.

    ## Why it matters
    Only a build that was configured with `--enable-testbed` has it; any other aborts.

    ## Evidence
    ICON 2024.10: "my_process_component is unknown" (`icon.f90:253-264`); configure leaves the testbed out by default.

    ## Example
    ```yaml bad
    namelists:
      master_model_nml: {model_type: 99}
    #                                ^
    ```
    ```yaml good
    namelists:
      master_model_nml: {model_type: 1}
    ```

    ## References
    ICON namelist overview, master_model_nml.
    """

    code = "MST003"
    name = "testbed-model"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        setting = component[MODEL_GROUP, "model_type"]
        if setting.value == _TESTBED and "testbed" not in parts(component.experiment):
            yield self.finding(
                setting,
                "model_type is 99, the testbed, which few builds have",
                "expected: an executable configured with --enable-testbed, or another model_type",
            )


class RankWithoutModel(Rule):
    """Where several models share a job, every rank belongs to one of them, and every model has a rank.

    ## What it does
    Walks the ranks of every `master_model_nml` as ICON does: blocks of `model_rank_group_size` ranks from
    `model_min_rank` to `model_max_rank`, `model_inc_rank` apart. Finds ranks of the job that no model takes, and a
    model that gets none, either because its ranks lie beyond the job's or because a later model takes them all. A
    single model gets all ranks, whatever it asks for.

    ## Why it matters
    A rank without a model aborts the job. A model without a rank is missing without a word, and the others may wait
    for it for ever.

    ## Evidence
    ICON 2024.10 rejected ranks between and behind those of two models: "my_model_no < 1" (`mo_master_init.f90:158`).
    With a second model that had no rank the run did not end.

    ## Example
    ```namelist bad
    &master_model_nml
      model_type = 1, model_name = "atm", model_namelist_filename = "NAMELIST_atm"
      model_min_rank = 0, model_max_rank = 191
    !                                      ^
    /
    &master_model_nml
      model_type = 2, model_name = "oce", model_namelist_filename = "NAMELIST_oce"
      model_min_rank = 193, model_max_rank = 255
    /
    ```
    ```namelist good
    &master_model_nml
      model_type = 1, model_name = "atm", model_namelist_filename = "NAMELIST_atm"
      model_min_rank = 0, model_max_rank = 191
    /
    &master_model_nml
      model_type = 2, model_name = "oce", model_namelist_filename = "NAMELIST_oce"
      model_min_rank = 192, model_max_rank = 255
    /
    ```

    ## References
    ICON namelist overview, master_model_nml.
    """

    code = "MST004"
    name = "rank-without-model"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        claims = _claims(experiment)
        if not claims:
            return
        tasks = integer(experiment.tasks)
        own = range(tasks - experiment.others) if experiment.others is not None else range(0)
        left = sorted(set(own).difference(*(claim.claimed for claim in claims)))
        if left:
            before = [claim for claim in claims if claim.claimed and max(claim.claimed) < left[0]] or list(claims)
            nearest = max(before, key=lambda claim: max(claim.claimed, default=-1))
            yield self.finding(
                _where(experiment, nearest.model, "model_max_rank"),
                f"no model takes rank {_spans(left)} of the {tasks} ranks",
                "expected: every rank from model_min_rank to model_max_rank of some master_model_nml",
            )
        taken: set[int] = set()
        for claim in reversed(claims):  # the last model that claims a rank gets it
            if not claim.claimed - taken:
                reason = "later models take all its ranks" if claim.claimed else f"none of its ranks is below {tasks}"
                yield self.finding(
                    _where(experiment, claim.model, "model_min_rank"),
                    f'the model "{_name(experiment, claim.model)}" gets no rank: {reason}',
                    "expected: at least one rank of its own",
                )
            taken |= claim.claimed


class RankOfTwoModels(Rule):
    """Of two models that claim a rank, the later one gets it.

    ## What it does
    Finds ranks that more than one `master_model_nml` claims.

    ## Why it matters
    ICON says nothing; the earlier model computes on fewer ranks than its author wrote.

    ## Evidence
    ICON 2024.10 ran with two models that both claimed rank 1 (`mo_master_init.f90:75-103`).

    ## Example
    ```namelist bad
    &master_model_nml
      model_type = 1, model_name = "atm", model_namelist_filename = "NAMELIST_atm"
      model_min_rank = 0, model_max_rank = 192
    /
    &master_model_nml
      model_type = 2, model_name = "oce", model_namelist_filename = "NAMELIST_oce"
      model_min_rank = 192, model_max_rank = 255
    !                  ^
    /
    ```
    ```namelist good
    &master_model_nml
      model_type = 1, model_name = "atm", model_namelist_filename = "NAMELIST_atm"
      model_min_rank = 0, model_max_rank = 191
    /
    &master_model_nml
      model_type = 2, model_name = "oce", model_namelist_filename = "NAMELIST_oce"
      model_min_rank = 192, model_max_rank = 255
    /
    ```

    ## References
    ICON namelist overview, master_model_nml.
    """

    code = "MST005"
    name = "rank-of-two-models"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        claims = _claims(experiment)
        for number, later in enumerate(claims):
            for earlier in claims[:number]:
                both = sorted(later.claimed & earlier.claimed)
                if both:
                    first, last = _name(experiment, earlier.model), _name(experiment, later.model)
                    yield self.finding(
                        _where(experiment, later.model, "model_min_rank"),
                        f'"{first}" and "{last}" both claim rank {_spans(both)}; "{last}" gets it',
                        "expected: ranks of its own for every model",
                    )
