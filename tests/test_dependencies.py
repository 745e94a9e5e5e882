"""Whatever is imported is named by the dependencies, or by an extra of who imports it."""

import ast
import functools
import importlib.metadata
import re
import sys

import pytest
from source_files import PROJECT, ROOT, imports, python_files

OWN = {"straightline"}
EXTRAS = PROJECT["project"]["optional-dependencies"]
WHO = {
    "package": ("ort", "onnxscript", "dask", "ray", "storage"),
    "tests": ("test", "bench", "browser", "mutants", "docs"),
    "dev": ("test", "bench", "clients", "docs", "browser", "mutants"),
    "examples": ("test",),
}
"""The extras that programs of each kind may ask for, beside the dependencies."""
BROUGHT = {"google", "typing_extensions"}
"""onnx brings protobuf, whose messages are its own, and typing_extensions, which type checkers
alone read."""
OTHERS = {
    "tests": {"torch"},
    "dev": {"onnxoptimizer", "onnxsim", "onnxslim", "polygraphy", "torch", "transformers"}
    | {"MNN", "_tools", "ai_edge_litert", "cv2", "jinja2", "onnx2tf"},
}
"""What is compared with where it happens to be installed."""


def plain(name):
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", name).group()).lower()


def named(extras):
    """The packages that the dependencies and some extras name, with the extras in these."""
    lines = [*PROJECT["project"]["dependencies"]]
    for extra in extras:
        lines += EXTRAS[extra]
    found = {plain(line) for line in lines}
    inner = [re.match(r"straightline\[(.*)\]", line) for line in lines]
    more = {extra for match in inner if match for extra in match[1].split(",")} - {*extras}
    return found | (named((*extras, *more)) if more else set())


@functools.cache
def packages():
    """The packages that an imported name may come from."""
    return importlib.metadata.packages_distributions()


def imported(path):
    """The names of other packages that a file imports."""
    tops = set()
    for node, _ in imports(path):
        if isinstance(node, ast.Import):
            tops |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            tops.add(node.module.split(".")[0])
    return tops - sys.stdlib_module_names - {"tomllib"} - OWN  # since 3.11


def kind_of(path):
    top = path.relative_to(ROOT).parts[0]
    return top if top in WHO else "package"


@pytest.mark.parametrize("kind", WHO)
def test_imported_packages_are_dependencies(kind):
    files = [path for path in python_files() if kind_of(path) == kind]
    ours = {path.stem for path in python_files()} | {path.parent.name for path in python_files()}
    allowed = named(WHO[kind])
    unknown = {}
    for path in files:
        for name in imported(path) - ours - BROUGHT - OTHERS.get(kind, set()):
            homes = packages().get(name, [name])
            if not {plain(home) for home in homes} & allowed:
                unknown.setdefault(name, str(path.relative_to(ROOT)))
    assert unknown == {}
