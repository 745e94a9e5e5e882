"""Imports: of scripts that `make test` does not run, and of modules whose names others have."""

import ast
import importlib
import importlib.util
from pathlib import Path

import pytest
from source_files import ROOT, imports, python_files, sources

SCRIPTS = sorted({p.relative_to(ROOT).as_posix() for p in python_files()} - sources())


def missing(file):
    """The names that a file imports from the package and that are not there."""
    for node, _ in imports(ROOT / file):
        module = getattr(node, "module", None) or ""
        if isinstance(node, ast.ImportFrom) and module.split(".")[0] == "straightline":
            if module.startswith("straightline.dev"):  # its own imports may be extras
                continue
            home = importlib.import_module(module)
            for alias in node.names:
                full_name = f"{module}.{alias.name}"
                is_module = hasattr(home, "__path__") and importlib.util.find_spec(full_name)
                if not hasattr(home, alias.name) and not is_module:
                    yield full_name


@pytest.mark.parametrize("folder", ["dev", "examples", "tests"])
def test_names_that_scripts_import_exist(folder):
    files = [file for file in SCRIPTS if file.startswith(f"{folder}/")]
    assert files
    assert {file: names for file in files if (names := list(missing(file)))} == {}


def test_no_module_hides_a_name_of_its_package():
    """Importing `package.module` sets the attribute `module` of the package."""
    hidden = []
    for file in sorted(sources()):
        name = Path(file).stem
        # What comes from the module itself is set after it.
        others = [
            node
            for node, for_types in imports((ROOT / file).with_name("__init__.py"))
            if not (for_types or node.col_offset)
            and isinstance(node, ast.ImportFrom)
            and node.module not in (None, name)
        ]
        imported = [alias.asname or alias.name for node in others for alias in node.names]
        hidden += [file] if name in imported and name != "__init__" else []
    assert hidden == []
