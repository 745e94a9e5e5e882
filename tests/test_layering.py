"""The floors of the package, file by file: imports go down, and never in a circle."""

import ast
import functools
from pathlib import Path

import networkx as nx
import source_files
from source_files import ROOT, sources
from tables import table

FLOORS = {
    "records": (),
    "limits": (),
    "options": (),
    "display": (),
    "ir": ("options",),
    "facts": ("limits", "ir"),
    "definitions": ("ir", "facts"),
    "reference": ("ir", "definitions"),
    "ops": ("limits", "ir", "facts"),
    "runtimes": ("limits", "ir", "reference"),
    "analysis": ("limits", "ir", "facts", "definitions", "reference", "ops", "runtimes"),
    "verification": (*("limits", "display", "ir", "facts", "definitions", "reference", "ops",
     "runtimes"), "analysis"),
    "passes": (*("limits", "options", "ir", "facts", "definitions", "reference", "ops", "analysis"),
     "verification"),
    "version_converter": (*("limits", "ir", "facts", "definitions", "reference", "ops", "analysis",
     "passes"),),
    "versions": ("version_converter",),
    "targets": ("ir", "facts", "ops", "runtimes", "analysis", "passes", "version_converter"),
    "driver": (*("limits", "options", "display", "ir", "facts", "ops", "runtimes", "analysis"),
     *("verification", "passes", "version_converter", "targets")),
    "interop": ("ir", "facts", "verification", "passes", "driver"),
    "reduction": ("display", "ir", "runtimes", "analysis", "passes"),
    "report": (*("limits", "display", "ir", "reference", "runtimes", "analysis", "verification"),
     *("passes", "driver")),
    "batch": (*("limits", "display", "ir", "facts", "runtimes", "verification", "passes"),
     *("targets", "driver", "report")),
    "cli": (*("limits", "options", "display", "ir", "facts", "runtimes", "analysis",
     "verification"), *("passes", "version_converter", "targets", "driver"),
     *("reduction", "report", "batch")),
    "": ()}  # fmt: skip
"""The rooms that each room may import besides itself and `records`; "" are the modules of the root.
The proof shares nothing with the passes, so that a fault of one does not hide that of another."""
NOT_FOR_THE_PROOF = {"analysis/constants", "analysis/iterations", "analysis/safety"}
WITHIN = {
    "ir/io/protobuf": ("ir",),
    "ir/checker": ("ir", "ir/io/protobuf"),
    "ir/io": ("ir", "ir/io/protobuf", "ir/checker"),
    "ir/bridge": ("ir", "ir/io"),
    "reference/overrides": ("reference",),
    "reference/interpreter": ("reference", "reference/overrides"),
    "analysis/constants": ("analysis", "analysis/shapes"),
    "analysis/iterations": ("analysis/shapes", "analysis/constants"),
    "analysis/safety": ("analysis/shapes", "analysis/constants", "analysis/iterations"),
    "analysis": ("analysis/shapes",),
    "verification/proof/canonicalize": ("verification/proof/terms",),
    "verification/proof/arithmetic": (*("verification/proof/terms",
     "verification/proof/canonicalize"),),
    "verification/proof/simplify": (*("verification/proof/terms", "verification/proof/arithmetic"),
     "verification/proof/canonicalize"),
    "verification/proof/definitions": ("verification/proof/terms",
     "verification/proof/canonicalize"),
    "verification/proof/reals": ("verification/proof/terms", "verification/proof/definitions"),
    "verification/proof/equality": (*("verification/proof/terms", "verification/proof/arithmetic"),
     *("verification/proof/simplify", "verification/proof/definitions"),
     *("verification/proof/reals", "verification/proof/canonicalize")),
    "verification/proof/execution": (*("verification/proof/terms",
     "verification/proof/arithmetic"),),
    "verification/proof/control_flow": (*("verification/proof/terms",
     "verification/proof/arithmetic"),
     *("verification/proof/simplify", "verification/proof/execution")),
    "verification/proof": (*("verification/proof/terms", "verification/proof/equality"),
     *("verification/proof/execution", "verification/proof/reals"),
     *("verification/proof/canonicalize", "verification/proof/arithmetic")),
    "verification/runs": ("verification/proof",),
    "verification": (*("verification/checker", "verification/proof/__init__", "verification/proof"),
     "verification/runs"),
    "passes/utils": ("passes",),
    "passes/costs": ("passes", "passes/utils"),
    "passes/cleanup": ("passes", "passes/utils"),
    "passes/control": ("passes", "passes/utils", "passes/costs"),
    "passes/functions": ("passes", "passes/utils"),
    "passes/iteration": ("passes", "passes/utils"),
    "passes/scans": ("passes", "passes/utils", "passes/costs", "passes/iteration"),
    "passes/sequences": ("passes", "passes/utils"),
    "passes/vectorize": (*("passes", "passes/utils", "passes/functions", "passes/iteration",
     "passes/scans"),),
    "passes/loops": (*("passes", "passes/utils", "passes/costs", "passes/iteration",
     "passes/scans"), "passes/vectorize"),
    "passes/recurrences": ("passes", "passes/utils"),
    "passes/recurrences/recognize": (*("passes", "passes/utils", "passes/costs", "passes/iteration",
     "passes/scans"), *("passes/vectorize", "passes/loops", "passes/recurrences")),
    "passes/recurrences/expand": (*("passes", "passes/utils", "passes/iteration", "passes/loops",
     "passes/recurrences"),),
    "passes/simplify/rules": ("passes", "passes/utils"),
    "passes/simplify/raising": ("passes", "passes/utils"),
    "passes/simplify/library": ("passes", "passes/utils", "passes/simplify/rules"),
    "passes/simplify": (*("passes", "passes/utils", "passes/simplify/rules",
     "passes/simplify/library"),),
    "passes/manager": (*("passes", "passes/utils", "passes/costs", "passes/cleanup",
     "passes/control"), *("passes/functions", "passes/simplify", "passes/simplify/raising"),
     *("passes/scans", "passes/sequences", "passes/vectorize", "passes/loops"),
     *("passes/recurrences/recognize", "passes/recurrences/expand")),
    "version_converter/adapters": ("version_converter",),
    "targets": ("targets/classical", "targets/forms")}  # fmt: skip
"""The same for the rooms of a floor; those that are not named import none of their floor. A floor's
`__init__.py` stands above its rooms: it names what the floor offers."""


def imports(file, root=ROOT, *, types=False):
    """The files that a file imports, wherever in it; those for type checkers only where asked."""
    return [path for path, for_types in _imports(file, root) if types or not for_types]


@functools.cache
def _imports(file, root):
    return [
        (path, for_types)
        for node, for_types in source_files.imports(root / file)
        for path in {
            path
            for name in named(node, Path(file).parts[:-1])
            for path in behind(name, sources(root))
        }
    ]


def named(node, package):
    """Names of an import, as parts below the package, module first."""
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
    """Graph of the imports between files."""
    graph = nx.DiGraph()
    for file in sources():
        graph.add_edges_from((file, other) for other in imports(file, types=types))
    return graph


def floor(file):
    return file.split("/")[0] if "/" in file else ""


def room(file):
    """The folder of a file; an `__init__.py` above other rooms is a room of its own."""
    folder, _, name = file.rpartition("/")
    above = name == "__init__.py" and any(inner.startswith(f"{folder}/") for inner in WITHIN)
    return f"{folder}/__init__" if above else folder


def violations(file, root=ROOT):
    """The files that a file imports although they stand on a higher floor, or in another room."""
    home, own = floor(file), room(file)
    may_load_the_commands = ("__main__.py",)
    for other in imports(file, root):
        if floor(other) != home:
            allowed = floor(other) in ("records", *FLOORS[home]) or file in may_load_the_commands
        else:
            allowed = room(other) in (own, *WITHIN.get(own, ())) or own.endswith("__init__")
        if not allowed:
            yield other


def test_a_file_imports_nothing_from_a_higher_floor():
    found = {file: list(violations(file)) for file in sorted(sources())}
    assert {file: others for file, others in found.items() if others} == {}


def test_the_proof_finds_out_by_itself_what_passes_ask_analyses_for():
    found = {
        room(other)
        for file in sources()
        if file.startswith("verification/proof/")
        for other in imports(file)
    }
    assert "analysis/shapes" in found
    assert not found & NOT_FOR_THE_PROOF


def test_no_file_imports_itself_by_way_of_others():
    circles = nx.strongly_connected_components(import_graph(types=False))
    assert [sorted(circle) for circle in circles if len(circle) > 1] == []


def test_no_file_imports_itself_even_for_types_but_in_the_graph():
    """The classes of a graph refer to each other (DESIGN.md names why)."""
    circles = nx.strongly_connected_components(import_graph(types=True))
    assert {room(file) for circle in circles if len(circle) > 1 for file in circle} <= {"ir"}


def test_no_room_imports_itself_by_way_of_others_even_for_types():
    files = import_graph(types=True)
    rooms = nx.DiGraph((room(a), room(b)) for a, b in files.edges if room(a) != room(b))
    circles = nx.strongly_connected_components(rooms)
    assert [sorted(circle) for circle in circles if len(circle) > 1] == []


@table(
    ("from ..passes import base", "passes/base.py"),
    ("from ..passes.base import Pass", "passes/base.py"),
    ("from .. import passes", "passes/__init__.py"),
    ("import straightline.passes", "passes/__init__.py"),
    ("from straightline.passes.base import Pass", "passes/base.py"),
    ("def f():\n    from ..driver.calls import rewrite", "driver/calls.py"),
)
def test_an_import_from_a_higher_floor_is_found(line, found, tmp_path):
    for file in (
        "ir/graph.py",
        "ir/bad.py",
        "passes/__init__.py",
        "passes/base.py",
        "driver/calls.py",
    ):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    (tmp_path / "ir" / "bad.py").write_text(f"from .graph import Graph\n{line}\n")
    assert found in set(violations("ir/bad.py", tmp_path))


def test_every_folder_has_a_floor():
    assert {floor(file) for file in sources()} == set(FLOORS)
    rooms = {room(file) for file in sources()}
    assert set(WITHIN) <= rooms
