"""English of the package, as far as a test can tell: first lines, variables, and messages."""

import ast
import re

import pytest
from source_files import ROOT, sources
from straightline.dev.tools import messages
from tables import table

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
HABITS = re.compile(
    r"(?<!here )\b(?:is|are) no (?!more|longer|such|other|less|shorter|faster|difference|iteration)"
    r"|only run time tells|on trust|gives? out\b|for granted|in the way of|taken beforehand"
    r"|opset (?:\d+|\{\}) (?:wants|takes)|does not take|\bas they are\b"
    r"|\b(?:is|are) (?:an?|the|true) [^;:]*, not \{"
)
"""Habits of texts that users read: "is no tensor" for "is not a tensor", "is a number, not 'x'" of
what must be one, and the like."""


def first_line(docstring):
    """The first sentence or line of a docstring, whichever ends first."""
    return re.split(r"\n\n|(?<=[.;:])\s", docstring, maxsplit=1)[0]


def violations(source):
    """Docstrings, names and texts that a reader of the field's best projects would stumble over."""
    tree = ast.parse(source)
    for line, text in messages.texts(tree):
        if HABITS.search(text):
            yield f"{text} in line {line}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            line = first_line(ast.get_docstring(node) or "")
            if line.split(" ")[0] in OPENERS or len(line.split()) > MOST_WORDS:
                yield line
        name = getattr(node, "arg", None) if isinstance(node, ast.arg) else None
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        if name in PARTICIPLES:
            yield f"{name} in line {node.lineno}"


@pytest.mark.parametrize("room", sorted({file.split("/")[0] for file in sources()}))
def test_first_lines_and_names(room):
    for file in sorted(file for file in sources() if file.split("/")[0] == room):
        text = (ROOT / file).read_text(encoding="utf-8")
        public = {name for path, name in PUBLIC if path == file}
        assert [v for v in violations(text) if v.split(" ")[0] not in public] == [], file


@table(
    ('"""Whether two types agree."""', 1),
    ('"""Test whether two types agree."""', 0),
    ('def f(given):\n    """Return it."""\n    found = given\n', 2),
    ('"""' + "word " * 16 + '"""', 1),
    ('"""A short line. ' + "word " * 16 + '"""', 0),
    ("raise Error(f'{x} is no tensor, which opset {n} wants')", 1),
    ("raise Error(f'{x} is not a tensor')", 0),
)
def test_a_violation_is_found(source, count):
    assert len(list(violations(source))) == count
