"""Tables judged in one test that names every row that fails: an item for each row costs more than the row."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from inspect import Parameter, signature
from typing import Any

import pytest


def rows(
    names: str | tuple[str, ...], table: Iterable[Any], ids: Callable[[Any], str] = repr, parts: int = 1
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `pytest.mark.parametrize`, in one test for all rows, or in as many as there are `parts`.

    Each row has its own `tmp_path`, and what it does with `monkeypatch` ends with it; other fixtures are shared.
    """
    names = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names
    table = list(table)
    assert table, "a table without a row tests nothing"

    def row(value: Any) -> tuple[str, dict[str, Any]]:
        if isinstance(value, type(pytest.param())):
            assert not value.marks, "rows have no marks"
            values, name = value.values, value.id
        else:
            values, name = (value if len(names) > 1 else (value,)), None
        assert len(values) == len(names), values
        return name or "-".join(map(ids, values)), dict(zip(names, values, strict=True))

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        shape = signature(test)
        fixtures = [parameter for name, parameter in shape.parameters.items() if name not in names]

        @wraps(test)
        def all_rows(**given: Any) -> None:
            part = given.pop("part", 0)
            chosen = [row(value) for value in table[part::parts]]
            failures = list(failing(test, chosen, given))
            if failures:
                head = f"{len(failures)} of {len(chosen)} rows fail"
                names_of_failed = ", ".join(name for name, _ in failures)
                pytest.fail("\n\n".join([f"{head}: {names_of_failed}", *(text for _, text in failures)]), pytrace=False)

        if parts > 1:
            fixtures.insert(0, Parameter("part", Parameter.POSITIONAL_OR_KEYWORD))
        all_rows.__signature__ = shape.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return all_rows if parts == 1 else pytest.mark.parametrize("part", range(parts))(all_rows)

    return decorated


def failing(
    test: Callable[..., None], chosen: list[tuple[str, dict[str, Any]]], given: dict[str, Any]
) -> Iterator[tuple[str, str]]:
    """The rows that fail, and how."""
    for number, (name, values) in enumerate(chosen):
        fixtures = dict(given)
        if "tmp_path" in given:
            fixtures["tmp_path"] = given["tmp_path"] / str(number)
            fixtures["tmp_path"].mkdir()
        if "capsys" in given:
            given["capsys"].readouterr()
        try:
            if "monkeypatch" in given:
                with given["monkeypatch"].context() as fixtures["monkeypatch"]:
                    test(**fixtures, **values)
            else:
                test(**fixtures, **values)
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
            seen = error.__traceback__ and error.__traceback__.tb_next
            yield name, f"{name}:\n" + "".join(traceback.format_exception(type(error), error, seen))
