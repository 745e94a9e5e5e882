"""Scripts that `make test` does not run import names that exist."""

import ast
import importlib
import importlib.util

import pytest
from source_files import ROOT, python_files, sources

SCRIPTS = sorted({p.relative_to(ROOT).as_posix() for p in python_files()} - sources())


def missing(file):
    """The names that a file imports from the package and that are not there."""
    for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
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
