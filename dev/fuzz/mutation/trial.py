"""Trying a mutant: put it into a process that is ready to test, and run the tests there."""

import gc
import importlib.util
import sys
import types
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from typing import Any

import pytest

from mutation.mutants import ROOT, Mutant
from mutation.reach import forget, run_test

Functions = dict[tuple[str, str, int], list[types.FunctionType]]


def functions_here() -> Functions:
    """The functions of this project that were imported, by file, name and first line."""
    gc.unfreeze()  # the tests freeze what they collect, and the collector does not list that
    found: Functions = {}
    for function in gc.get_objects():
        if type(function) is types.FunctionType:
            code = function.__code__
            if code.co_filename.startswith(f"{ROOT}/"):
                key = code.co_filename, code.co_name, code.co_firstlineno
                found.setdefault(key, []).append(function)
    return found


def first_failure(items: Sequence[pytest.Item]) -> dict[str, Any]:
    """Run tests until one fails. For use in a child, as what follows."""
    for count, item in enumerate(items, 1):
        following = items[count] if count < len(items) else None
        if not run_test(item, following):
            return {"caught": item.nodeid, "run": count}
    return {"caught": None, "run": len(items)}


def first_failure_with(
    mutant: Mutant, text: str, functions: Functions, items: Sequence[pytest.Item]
) -> dict[str, Any]:
    """The same with a mutant in the source."""
    if not items:
        return {"caught": None, "run": 0}  # pytest would run everything
    if patch(mutant, text, functions):
        return first_failure(items)
    return _first_failure_anew(mutant, text, items)


def patch(mutant: Mutant, text: str, functions: Functions) -> bool:
    """Give the functions that were imported the changed code; False where nothing can take it.

    The function objects stay, so whoever holds one (a decorator, a class, an importing module)
    has the change.
    """
    if mutant.function is None:
        return False
    file = str(ROOT / mutant.path)
    holders = functions.get((file, *mutant.function), [])
    changed = compile(text, file, "exec", dont_inherit=True)
    codes = [c for c in _codes(changed) if (c.co_name, c.co_firstlineno) == mutant.function]
    if not holders or len(codes) != 1:
        return False
    if any(found.__code__.co_freevars != codes[0].co_freevars for found in holders):
        return False
    for found in holders:
        found.__code__ = codes[0]
    return True


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


def _first_failure_anew(mutant: Mutant, text: str, items: Sequence[pytest.Item]) -> dict[str, Any]:
    """Import the package and the tests again, the mutant in it, and run the tests in a session of
    their own: for what runs when a module is imported."""
    forget()
    sys.meta_path.insert(0, _Finder(mutant.path, text))
    failures = _Failures()
    arguments = [f"--rootdir={ROOT}", "-x", "-p", "no:cacheprovider", "--capture=no"]
    status = pytest.main([*arguments, *(item.nodeid for item in items)], plugins=[failures])
    caught = failures.first or ("the import" if status != pytest.ExitCode.OK else None)
    return {"caught": caught, "run": failures.count}


class _Failures:
    """Remembers the first test that failed."""

    def __init__(self) -> None:
        self.first: str | None = None
        self.count = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.count += report.when == "call"
        if report.failed and self.first is None:
            self.first = report.nodeid


class _Finder:
    """Finds the module that is changed, and gives it the changed text."""

    def __init__(self, path: str, text: str) -> None:
        parts = path.removesuffix(".py").split("/")
        self._package = parts[-1] == "__init__"
        self._name = ".".join(["straightline", *(parts[:-1] if self._package else parts)])
        self._file = str(ROOT / path)
        self._text = text

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != self._name:
            return None
        return importlib.util.spec_from_file_location(
            name, self._file, loader=_Loader(name, self._file, self._text)
        )


class _Loader(SourceFileLoader):
    def __init__(self, name: str, file: str, text: str) -> None:
        super().__init__(name, file)
        self._text = text

    def get_code(self, fullname: str) -> types.CodeType:
        return compile(self._text, self.path, "exec", dont_inherit=True)
