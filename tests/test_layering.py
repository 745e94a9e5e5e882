"""The floors of the package: a module imports from its own floor and lower ones only."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOT_MODULES = {path.stem for path in ROOT.glob("[a-z]*.py")} | {""}
MAY_IMPORT = {
    "ir": set(),
    "reference": {"ir"},
    "facts": {"ir"},
    "operators": {"ir", "facts"},
    "analysis": {"ir", "reference", "facts", "operators"},
    "passes": {"ir", "reference", "facts", "operators", "analysis"},
    "versions": {"ir", "reference", "facts", "operators", "analysis", "passes"},
    "cli": {"ir", "reference", "passes", "versions", *ROOT_MODULES},
}
MODULES = [path for package in MAY_IMPORT for path in sorted((ROOT / package).rglob("*.py"))]


def imported(path, root):
    """What a module imports, as paths within the package: "ir.graph"; "" is the root itself."""
    package = path.relative_to(root).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (a.name.partition(".")[2] for a in node.names if is_ours(a.name))
        elif isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            module = [*base, *(node.module or "").split(".")] if node.module else list(base)
            # "from .. import ir" names a package of the root
            names = [a.name for a in node.names] if not module else [""]
            yield from (".".join([*module, name]).strip(".") for name in names)
        elif isinstance(node, ast.ImportFrom) and is_ours(node.module):
            yield node.module.partition(".")[2]


def is_ours(name):
    return name.split(".")[0] == "straightline"


def violations(path, root=ROOT):
    home = path.relative_to(root).parts[0]
    floors = [name.split(".")[0] for name in imported(path, root)]
    return [floor for floor in floors if floor != home and floor not in MAY_IMPORT[home]]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_nothing_from_a_higher_floor(path):
    assert violations(path) == []


def test_an_import_from_a_higher_floor_is_found(tmp_path):
    (tmp_path / "ir").mkdir()
    bad = tmp_path / "ir" / "bad.py"
    for line, floor in (
        ("from ..passes import base", "passes"),
        ("from .. import reference", "reference"),
        ("import straightline.passes", "passes"),
        ("from straightline.versions import x", "versions"),
        ("def f():\n    from ..api import rewrite", "api"),
    ):
        bad.write_text(f"from .graph import Graph\n{line}\n")
        assert violations(bad, tmp_path) == [floor]


def test_every_package_has_a_floor():
    found = {p.parent.name for p in ROOT.glob("*/__init__.py") if p.parent.name != "tests"}
    assert found == set(MAY_IMPORT)
