"""Examples in docstrings of public functions run as they stand."""

import doctest
import inspect

import pytest
import straightline as sl

FUNCTIONS = {name: one for name in sl.__all__ if inspect.isroutine(one := getattr(sl, name))}
WITHOUT = {"rule"}
"""Functions whose examples are those of a page of the documentation."""


@pytest.mark.parametrize("name", sorted({*FUNCTIONS} - WITHOUT))
def test_the_examples_of_a_function_run(name):
    tests = doctest.DocTestFinder(recurse=False).find(FUNCTIONS[name], name, globs={})
    runner = doctest.DocTestRunner()
    results = [runner.run(test) for test in tests]
    assert sum(result.attempted for result in results) > 1
    assert not any(result.failed for result in results)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_docstring_names_its_arguments_and_errors(name):
    text = inspect.getdoc(FUNCTIONS[name])
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    assert [one for one in parameters if one not in text] == []
    assert "Raises:" in text
