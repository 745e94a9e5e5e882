"""Examples in docstrings of public functions and classes run as they stand."""

import doctest
import importlib
import inspect
import re

import pytest
import straightline as sl
from source_files import ROOT

DOCUMENTED = {
    name.removeprefix("straightline.")
    for page in (ROOT / "docs" / "api").glob("*.md")
    for name in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
}


def named(name):
    module, _, attribute = f"straightline.{name}".rpartition(".")
    return getattr(importlib.import_module(module), attribute)


PUBLIC = {name: named(name) for name in sorted({*sl.__all__, *DOCUMENTED})}
CLASSES = {
    name: PUBLIC[name]
    for name in sorted(DOCUMENTED)
    if inspect.isclass(PUBLIC[name]) and not issubclass(PUBLIC[name], BaseException)
}
FUNCTIONS = {
    name: one
    for name, one in PUBLIC.items()
    if inspect.isroutine(one) or hasattr(one, "__wrapped__")
}
WITHOUT = {"rule"}
"""Functions whose examples are those of a page of the documentation."""
TOTAL = {"report.page", "targets.names"}
"""Functions that raise nothing."""


def test_the_reference_documents_functions_of_modules():
    assert {"batch.run", "ir.parse", "passes.straighten", "report.write"} <= {*FUNCTIONS}


@pytest.mark.parametrize("name", sorted({*FUNCTIONS, *CLASSES} - WITHOUT))
def test_the_examples_of_a_function_or_class_run(name):
    tests = doctest.DocTestFinder(recurse=False).find(PUBLIC[name], name, globs={})
    runner = doctest.DocTestRunner()
    results = [runner.run(test) for test in tests]
    assert sum(result.attempted for result in results) > 1
    assert not any(result.failed for result in results)


@pytest.mark.parametrize("name", sorted({*FUNCTIONS} - TOTAL))
def test_a_docstring_names_its_arguments_and_errors(name):
    text = inspect.getdoc(FUNCTIONS[name])
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    assert [one for one in parameters if one not in text] == []
    assert "Raises:" in text
