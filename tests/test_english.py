"""English of the package, as far as a test can tell: first lines, and names of variables."""

import ast
import re

import pytest
from source_files import ROOT, sources

OPENERS = {"What", "Whether", "That", "It", "They"}
"""A first line is a verb or a noun phrase: a clause as a subject names nothing."""
MOST_WORDS = 15
PARTICIPLES = {
    *("asked", "called", "done", "drawn", "fed", "found", "given", "gone", "got", "held", "kept"),
    *("known", "left", "made", "meant", "named", "placed", "put", "said", "seen", "shown", "sized"),
    *("taken", "told", "used", "wanted", "written"),
}
"""Names that say what happened to a value, not what it is."""
PUBLIC = {
    ("batch/result.py", "left"),
    ("driver/inspect.py", "left"),
    ("driver/result.py", "left"),
    ("interop/export_passes.py", "known"),
    ("ir/did_you_mean.py", "known"),
    ("ir/io/write_target.py", "taken"),
    ("ir/operator.py", "given"),
    ("report/page.py", "taken"),
    ("report/svg.py", "taken"),
    ("targets/registry.py", "given"),
    ("targets/target.py", "written"),
    ("verification/certificate.py", "taken"),
    ("version_converter/errors.py", "kept"),
}
"""Parameters that other people's scripts may name."""
OPEN = {}
"""Rooms that are still to be reworded."""


def first_line(docstring):
    """The first sentence or line of a docstring, whichever ends first."""
    return re.split(r"\n\n|(?<=[.;:])\s", docstring, maxsplit=1)[0]


def violations(source):
    """Docstrings and names that a reader of the field's best projects would stumble over."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            line = first_line(ast.get_docstring(node) or "")
            if line.split(" ")[0] in OPENERS or len(line.split()) > MOST_WORDS:
                yield line
        name = getattr(node, "arg", None) if isinstance(node, ast.arg) else None
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        if name in PARTICIPLES:
            yield f"{name} in line {node.lineno}"


CLOSED = sorted(file for file in sources() if not file.startswith(tuple(OPEN)))


@pytest.mark.parametrize("file", CLOSED)
def test_first_lines_and_names(file):
    text = (ROOT / file).read_text(encoding="utf-8")
    public = {name for path, name in PUBLIC if path == file}
    assert [v for v in violations(text) if v.split(" ")[0] not in public] == []


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('"""Whether two types agree."""', 1),
        ('"""Test whether two types agree."""', 0),
        ('def f(given):\n    """Return it."""\n    found = given\n', 2),
        ('"""' + "word " * 16 + '"""', 1),
        ('"""A short line. ' + "word " * 16 + '"""', 0),
    ],
)
def test_a_violation_is_found(source, count):
    assert len(list(violations(source))) == count
