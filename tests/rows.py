"""Tables judged in one test that names every row that fails: an item for each row costs more than the row."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from inspect import Parameter, signature
from typing import Any

import pytest

Test = Callable[..., None]
Parameters = type(pytest.param())


def shown(value: Any) -> str:
    try:
        return repr(value)[:200]
    except ValueError:  # a number of too many digits
        return f"<{type(value).__name__}>"


def rows(
    names: str | tuple[str, ...], table: Iterable[Any], ids: Callable[[Any], str] = shown, parts: int = 1
) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, in one test for all rows, or in as many as there are `parts`.

    Each row has its own `tmp_path`, and what it does with `monkeypatch` ends with it; other fixtures are shared. Where
    no row fails and some are skipped, so is the test, after the others have been judged.
    """
    names = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names
    table = list(table)
    assert table, "a table without a row tests nothing"

    def name(row: Any) -> str:
        return (isinstance(row, Parameters) and row.id) or "-".join(map(ids, values(row, names).values()))

    def decorated(test: Test) -> Test:
        shape = signature(test)
        fixtures = [parameter for name, parameter in shape.parameters.items() if name not in names]
        if parts > 1:
            fixtures.insert(0, Parameter("part", Parameter.POSITIONAL_OR_KEYWORD))

        @wraps(test)
        def all_rows(part: int = 0, **given: Any) -> None:
            chosen = table[part::parts]
            outcomes = judged(test, [values(row, names) for row in chosen], given)
            tell([(name(chosen[number]), error) for number, error in outcomes], len(chosen))

        all_rows.__signature__ = shape.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return all_rows if parts == 1 else pytest.mark.parametrize("part", range(parts))(all_rows)

    return decorated


def values(row: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The values of a row by their names."""
    if isinstance(row, Parameters):
        assert not row.marks, "rows have no marks"
        return dict(zip(names, row.values, strict=True))
    return dict(zip(names, row if len(names) > 1 else (row,), strict=True))


def judged(test: Test, table: list[dict[str, Any]], given: dict[str, Any]) -> Iterator[tuple[int, BaseException]]:
    """The numbers of the rows that fail or are skipped, and why."""
    for number, row in enumerate(table):
        fixtures = dict(given)
        if "tmp_path" in given:
            fixtures["tmp_path"] = given["tmp_path"] / str(number)
            fixtures["tmp_path"].mkdir()
        if "capsys" in given:
            given["capsys"].readouterr()
        try:
            if "monkeypatch" in given:
                with given["monkeypatch"].context() as fixtures["monkeypatch"]:
                    test(**fixtures, **row)
            else:
                test(**fixtures, **row)
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
            yield number, error


def tell(outcomes: list[tuple[str, BaseException]], of: int) -> None:
    """Fail or skip as the rows did."""
    failed = [(name, error) for name, error in outcomes if not isinstance(error, pytest.skip.Exception)]
    if failed:
        head = f"{len(failed)} of {of} rows fail: {', '.join(name for name, _ in failed)}"
        texts = (f"{name}:\n{''.join(traceback.format_exception(error))}" for name, error in failed)
        pytest.fail("\n\n".join([head, *texts]), pytrace=False)
    if outcomes:
        pytest.skip(f"{len(outcomes)} of {of} rows: {', '.join(sorted({str(error) for _, error in outcomes}))}")
