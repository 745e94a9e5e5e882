"""The lowest Python that `requires-python` names, and element types that the lowest onnx has.

mypy's copy of typeshed tells in which versions a module has a name: no older interpreter is needed.
"""

import ast
import functools
import operator
import sys
from pathlib import Path

import onnx
import pytest
from source_files import LOWEST, ROOT, TOOL, python_files, sources
from tables import table

mypy = pytest.importorskip("mypy", reason="typeshed comes with mypy")
STUBS = Path(mypy.__file__).parent / "typeshed" / "stdlib"
STANDARD = sys.stdlib_module_names | {"tomllib"}  # since 3.11
COMPARISONS = {ast.GtE: operator.ge, ast.Lt: operator.lt, ast.Gt: operator.gt, ast.LtE: operator.le}


def decided(test):
    """The value of a condition on the version or the platform; None for any other one."""
    if not isinstance(test, ast.Compare):
        return None
    left = ast.unparse(test.left)
    if left == "sys.version_info":
        return COMPARISONS[type(test.ops[0])](LOWEST, ast.literal_eval(test.comparators[0]))
    return None


def live(tree):
    """All nodes below one that the lowest Python runs."""
    waiting = [*ast.iter_child_nodes(tree)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and (value := decided(node.test)) is not None:
            waiting += node.body if value else node.orelse
            continue
        yield node
        waiting += ast.iter_child_nodes(node)


@functools.cache
def stub_of(module):
    """The stub of a module; None where it is not of the standard library, or too new."""
    for line in (STUBS / "VERSIONS").read_text().splitlines():
        name, _, versions = line.partition("#")[0].partition(":")
        if name == module and tuple(map(int, versions.split("-")[0].split("."))) > LOWEST:
            return None
    path = STUBS.joinpath(*module.split("."))
    return next((p for p in (path.with_suffix(".pyi"), path / "__init__.pyi") if p.exists()), None)


@functools.cache
def names_of(module):
    """The names that a module of the standard library has; None where it is not there."""
    stub = stub_of(module)
    if stub is None:
        return None
    found = set()
    for node in live(ast.parse(stub.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            package = module if stub.stem == "__init__" else module.rpartition(".")[0]
            base = package if node.level else ""
            found |= names_of(".".join(filter(None, (base, node.module)))) or set()
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in node.names}
    return frozenset(found)


def missing(text):
    """The modules and names of the standard library in a program that the lowest Python lacks."""
    tree = ast.parse(text, feature_version=LOWEST)
    modules = {}
    nodes = [*live(tree)]
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.split(".")[0]
                if alias.name.split(".")[0] in STANDARD:
                    modules[alias.asname or name] = name
                    if names_of(alias.name) is None:
                        yield alias.name
        elif isinstance(node, ast.ImportFrom) and not node.level:
            if node.module.split(".")[0] not in STANDARD:
                continue
            known = names_of(node.module)
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if known is None or (alias.name not in known and stub_of(inner) is None):
                    yield inner
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = modules.get(node.value.id)
            known = None if module is None else names_of(module)
            inner = f"{module}.{node.attr}"
            if known is not None and node.attr not in known and stub_of(inner) is None:
                yield inner


def test_every_program_runs_on_the_lowest_python():
    """The package is for mypy, which is told the lowest Python."""
    programs = {path.relative_to(ROOT).as_posix(): path for path in python_files()}
    absent = {name: [*missing(programs[name].read_text())] for name in programs.keys() - sources()}
    assert {path: names for path, names in absent.items() if names} == {}


def newer_types(text):
    """The element types in a program that onnx 1.20 lacks; a name in quotes may be absent."""
    types = dict(onnx.TensorProto.DataType.items())
    newer = [name for name, number in types.items() if number > types["INT2"]]
    # A program is parsed where it names one at all.
    for node in ast.walk(ast.parse(text)) if any(name in text for name in newer) else ():
        if isinstance(node, ast.Attribute) and node.attr in newer:
            yield node.attr


def test_every_program_names_element_types_of_the_lowest_onnx():
    programs = [path for path in python_files() if "tests" not in path.relative_to(ROOT).parts]
    found = {str(path.relative_to(ROOT)): [*newer_types(path.read_text())] for path in programs}
    assert {path: names for path, names in found.items() if names} == {}
    assert [*newer_types("TensorProto.FLOAT6E2M3, TensorProto.INT2")] == ["FLOAT6E2M3"]


@table(
    ("from typing import Never", ["typing.Never"]),
    ("import typing\nx: typing.Never", ["typing.Never"]),
    ("import tomllib", ["tomllib"]),
    ("import sys\nif sys.version_info >= (3, 11):\n    import tomllib", []),
    ("from concurrent.futures import Future\nimport os.path\nos.path.join", []),
    ("import contextlib\ncontextlib.chdir", ["contextlib.chdir"]),
)
def test_a_newer_name_is_noticed(text, names):
    assert [*missing(text)] == names


def test_newer_syntax_is_noticed():
    with pytest.raises(SyntaxError):
        [*missing("try:\n    pass\nexcept* ValueError:\n    pass")]


def test_the_checkers_know_the_lowest_python():
    assert TOOL["mypy"]["python_version"] == ".".join(map(str, LOWEST))
    assert TOOL["ruff"]["target-version"] == "py" + "".join(map(str, LOWEST))
