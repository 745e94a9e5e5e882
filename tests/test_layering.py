"""The floors of the package, file by file: imports go down, and never in a circle."""

import ast
import functools
from pathlib import Path

import networkx as nx
import pytest
from source_files import ROOT, sources

_BELOW = ("budget", "ir", "reference", "facts", "operators", "analysis", "passes")

FLOORS = {
    "budget": (),
    "ir": (),
    "showing": (),
    "reference": ("budget", "ir", "showing"),
    "facts": ("budget", "ir"),
    "operators": ("budget", "ir", "facts"),
    "analysis": ("budget", "ir", "reference", "facts", "operators"),
    "proof": ("budget", "ir", "showing", "reference", "facts", "operators", "analysis"),
    "verification": ("budget", "ir", "showing", "reference", "proof"),
    "passes": ("budget", "ir", "reference", "facts", "operators", "analysis", "verification"),
    "versions": _BELOW,
    "targets": ("ir", "operators", "passes", "versions", "analysis"),
    "": (*_BELOW, "showing", "proof", "verification", "versions", "targets"),
    "report": ("ir", "showing", "reference", "analysis", "passes", ""),
    "batch": ("budget", "ir", "showing", "reference", "verification", "passes", "targets", ""),
    "cli": (
        *("budget", "ir", "showing", "reference", "passes", "proof", "verification", "versions"),
        *("report", "batch", "targets", ""),
    ),
}
"""What each floor may import besides itself; "" are the modules of the root. The proof shares
nothing with the passes, so that a fault of one does not hide that of another."""
NOT_FOR_THE_PROOF = {"analysis/constants", "analysis/trips", "analysis/safety"}
WITHIN = {
    "analysis/shapes": (),
    "analysis/constants": ("analysis", "analysis/shapes"),
    "analysis/trips": ("analysis/shapes", "analysis/constants"),
    "analysis/safety": ("analysis/shapes", "analysis/constants", "analysis/trips"),
    "passes/tools": ("passes",),
    "passes/cleanup": ("passes", "passes/tools"),
    "passes/control": ("passes", "passes/tools"),
    "passes/functions": ("passes", "passes/tools"),
    "passes/loops": ("passes", "passes/tools", "passes/functions", "passes/scans"),
    "passes/recurrences": ("passes", "passes/tools", "passes/scans", "passes/loops"),
    "passes/scans": ("passes", "passes/tools"),
    "passes/sequences": ("passes", "passes/tools"),
}
"""The same for the rooms of two floors: "passes" are the files that stand in no room."""
MAY_LOAD_THE_COMMANDS = ("__main__.py",)
TYPE_ONLY_CIRCLE = {
    f"ir/{name}.py" for name in ("block", "graph", "model", "node", "structure", "value", "wiring")
}


def imports(file, root=ROOT, *, types=False):
    """The files that a file imports, wherever in it; those for type checkers only where asked."""
    return _imports(file, root, types)


@functools.cache
def _imports(file, root, types):
    return tuple(_parsed_imports(file, root, types))


def _parsed_imports(file, root, types):
    tree = ast.parse((root / file).read_text(encoding="utf-8"))
    typing = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and (types or id(node) not in typing):
            names = named(node, Path(file).parts[:-1])
            yield from {path for name in names for path in behind(name, sources(root))}


def named(node, package):
    """What an import names: as parts below the package, module first."""
    if isinstance(node, ast.Import):
        names = [alias.name.split(".") for alias in node.names]
        return [tuple(name[1:]) for name in names if name[0] == "straightline"]
    if node.level:
        base = (*package[: len(package) - node.level + 1], *(node.module or "").split("."))
    elif (node.module or "").split(".")[0] == "straightline":
        base = tuple(node.module.split(".")[1:])
    else:
        return []
    base = tuple(part for part in base if part)
    return [(*base, alias.name) for alias in node.names]


def behind(name, files):
    """The file that a name stands for, or else the one that defines it."""
    for parts in (name, name[:-1]):
        path = "/".join(parts)
        found = {f"{path}.py", f"{path}/__init__.py".lstrip("/")} & files
        if found:
            return found
    return set()


def import_graph(*, types):
    """Who imports whom."""
    graph = nx.DiGraph()
    for file in sources():
        graph.add_edges_from((file, other) for other in imports(file, types=types))
    return graph


def floor(file):
    return file.split("/")[0] if "/" in file else ""


def room(file):
    return "/".join(file.split("/")[:2]) if file.count("/") > 1 else floor(file)


def violations(file, root=ROOT):
    """The files that a file imports although they stand on a higher floor, or in another room."""
    home, own = floor(file), room(file)
    for other in imports(file, root):
        if floor(other) != home:
            allowed = floor(other) in FLOORS[home] or file in MAY_LOAD_THE_COMMANDS
        else:
            allowed = own not in WITHIN or room(other) in (own, *WITHIN[own])
        if not allowed:
            yield other


def test_a_file_imports_nothing_from_a_higher_floor():
    found = {file: list(violations(file)) for file in sorted(sources())}
    assert {file: others for file, others in found.items() if others} == {}


def test_the_proof_finds_out_by_itself_what_passes_ask_analyses_for():
    found = {room(other) for file in sources() if floor(file) == "proof" for other in imports(file)}
    assert "analysis/shapes" in found
    assert not found & NOT_FOR_THE_PROOF


def test_no_file_imports_itself_by_way_of_others():
    circles = nx.strongly_connected_components(import_graph(types=False))
    assert [sorted(circle) for circle in circles if len(circle) > 1] == []


def test_types_are_imported_in_one_circle_only():
    found = nx.strongly_connected_components(import_graph(types=True))
    circles = [circle for circle in found if len(circle) > 1]
    # The rules make terms, and terms are made by the rules: what they say of each other is typed.
    assert [c for c in circles if {floor(file) for file in c} != {"proof"}] == [TYPE_ONLY_CIRCLE]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("from ..passes import base", "passes/base.py"),
        ("from ..passes.base import Pass", "passes/base.py"),
        ("from .. import passes", "passes/__init__.py"),
        ("import straightline.passes", "passes/__init__.py"),
        ("from straightline.passes.base import Pass", "passes/base.py"),
        ("def f():\n    from ..api import rewrite", "api.py"),
    ],
)
def test_an_import_from_a_higher_floor_is_found(tmp_path, line, found):
    for file in ("ir/graph.py", "ir/bad.py", "passes/__init__.py", "passes/base.py", "api.py"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    (tmp_path / "ir" / "bad.py").write_text(f"from .graph import Graph\n{line}\n")
    assert found in set(violations("ir/bad.py", tmp_path))


def test_every_folder_has_a_floor():
    assert {floor(file) for file in sources()} == set(FLOORS)
    rooms = {room(file) for file in sources() if floor(file) in ("analysis", "passes")}
    assert rooms - {"analysis", "passes"} == set(WITHIN)
