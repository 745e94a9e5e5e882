"""Cases of a test as rows, whose columns are named once: by the parameters of the test."""

import inspect
from typing import Any

import pytest


def table(*rows: Any, **options: Any) -> Any:
    """Run a test once for each row: tuples hold its first parameters, other rows the first alone.

    Parameters with values by then, from a decorator below this one, have no column.
    """

    def mark(test: Any) -> Any:
        valued = {name for mark in getattr(test, "pytestmark", ()) for name in _names(mark)}
        free = [
            name for name in inspect.signature(test).parameters if name not in {"self"} | valued
        ]
        first = rows[0].values if isinstance(rows[0], type(pytest.param())) else rows[0]
        names = free[: len(first)] if isinstance(first, tuple) else free[0]
        return pytest.mark.parametrize(names, rows, **options)(test)

    return mark


def cases(check: Any, *rows: tuple[Any, ...]) -> Any:
    """Make a test that calls a check with each row; rows may leave out what has a default."""
    parameters = list(inspect.signature(check).parameters.values())[: max(map(len, rows))]
    full = [(*row, *(p.default for p in parameters[len(row) :])) for row in rows]
    names = [parameter.name for parameter in parameters]

    def test(**row: Any) -> None:
        check(**row)

    test.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names]
    )
    return pytest.mark.parametrize(names, full)(test)


def _names(mark: Any) -> list[str]:
    """Parameters that a mark has values for."""
    names = mark.args[0] if mark.name == "parametrize" else ()
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
