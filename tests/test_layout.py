"""Where things stand: the tests of a source file are found without searching."""

import ast
import re
from pathlib import Path

from source_files import ROOT, sources, statements
from tables import table

TESTS = Path(__file__).parent


def has_logic(file):
    """Whether a file defines functions, rather than only errors, protocols, names and data."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    functions = [node for node in statements(tree) if isinstance(node, ast.FunctionDef)]
    return any(len(f.body) > 1 or ast.get_docstring(f) is None for f in functions)


def test_a_file_with_logic_has_tests_of_its_name_in_the_same_folder():
    named = [path for path in map(Path, sorted(sources())) if path.stem[0] != "_"]
    without = [p for p in named if not (TESTS / p.parent / f"test_{p.name}").exists()]
    assert [path.as_posix() for path in without if has_logic(path)] == []


def test_folders_of_tests_are_those_of_the_source():
    folders = {path.parent for path in TESTS.rglob("test_*.py")} - {
        TESTS,
        TESTS / "support",
        TESTS / "fuzz",
    }
    ours = {Path(file).parent.as_posix() for file in sources()}
    assert {folder.relative_to(TESTS).as_posix() for folder in folders} <= ours


def test_every_folder_that_is_installed_is_a_package():
    """A folder of data that is none makes the install warn of it, a page long."""
    setup = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    packages = set(re.findall(r'^  "straightline\.([\w.]+)",$', setup, re.MULTILINE))
    data = {"report.assets", "targets.shipped", "passes.costs.shipped"}
    source = {Path(file).parent.as_posix().replace("/", ".") for file in sources()} - {"."}
    assert packages == source | data
    named = re.findall(r'^"straightline\.([\w.]+)" = \["[^/"]+"\]$', setup, re.MULTILINE)
    assert set(named) == data | {"cli"}, "each with what is in it, not in a folder below"
    assert all((ROOT / folder.replace(".", "/")).is_dir() for folder in data)


def test_files_are_small():
    """One concept to a file: one beyond 800 lines holds two. Tests and scripts count, too."""
    folders = [ROOT / name for name in ("dev", "examples", "tests")]
    others = {p.relative_to(ROOT).as_posix() for f in folders for p in f.rglob("*.py")}
    files = sources() | others
    lines = {file: (ROOT / file).read_text(encoding="utf-8").count("\n") for file in files}
    assert {file for file, count in lines.items() if count > 800} == set()


@table(
    ("ops", "__init__.py", "^@describes"),
    ("passes/simplify/library", "__init__.py", "^laws?\\("),
    ("verification/proof/simplify", "__init__.py", "^@(late_)?rule"),
    ("definitions", "registry.py", "import .*(defines|ship)"),
    ("dev/benchmarks/loops", "collection.py", "^CASES = "),
)
def test_a_file_that_registers_something_is_in_the_list_of_its_folder(folder, listing, mark):
    texts = {file.name: file.read_text(encoding="utf-8") for file in (ROOT / folder).glob("*.py")}
    names = {name[:-3] for name, text in texts.items() if re.search(mark, text, re.MULTILINE)}
    assert len(names) > 5
    assert {name for name in names if not re.search(rf"\b{name}\b", texts[listing])} == set()
