"""Every code block of the README and the documentation runs as it is pasted.

A page has a folder with the models of examples/models.py, and its Python blocks share their names.
Blocks of `console` show what is printed, which is compared; those of `text` and `json` only show.
A block that imports what is not installed is skipped, with the commands up to the next one.
"""

import ast
import importlib.util
import json
import linecache

import pytest
from pages import PAGES, RUN, SHOWN, blocks, run_console, run_sh, write_shims
from source_files import ROOT
from straightline.passes.costs import calibrate as calibration

WITH_TESTS_OF_THEIR_OWN = {
    "CONTRIBUTING.md": {"python"},
    "docs/own-operators.md": RUN,
    "docs/own-passes.md": RUN,
    "docs/own-rules.md": RUN,
}
"""Their tests forget what these register."""
OTHERS = {
    *("jax", "jax2onnx", "keras", "olive", "optimum", "polygraphy", "skl2onnx", "sklearn"),
    *("tensorflow", "tf2onnx", "torch", "transformers"),
}
"""Packages that only some blocks need."""


def names(page):
    return page.relative_to(ROOT).as_posix()


def to_run(page):
    elsewhere = WITH_TESTS_OF_THEIR_OWN.get(names(page), set())
    return [block for block in blocks(page) if block.language in RUN - elsewhere]


@pytest.fixture(scope="session")
def models():
    where = ROOT / "examples" / "models.py"
    spec = importlib.util.spec_from_file_location("example_models", where)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path, monkeypatch, models):
    models.write(tmp_path)
    write_shims(tmp_path)
    for name in ("_LOADS", "_RUNS"):  # that it measures is enough here
        monkeypatch.setattr(calibration, name, 4)
    monkeypatch.setattr(calibration, "_SAMPLE", 0.0)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    return tmp_path


@pytest.mark.sample(24)
@pytest.mark.parametrize("page", list(filter(to_run, PAGES)), ids=names)
def test_every_block_runs_as_pasted(page, folder):
    known, lacking, ran = {}, False, False
    for block in to_run(page):
        if block.language == "python":
            lacking = bool(not_installed(block.text))
        if lacking:
            continue
        ran = True
        if block.language == "python":
            file = folder / "bin" / "block.py"  # exporters read the source of functions
            file.write_text(block.text, encoding="utf-8")
            linecache.checkcache(str(file))
            exec(compile(block.text, str(file), "exec"), known)
        elif block.language == "sh":
            run_sh(block.text, folder)
        else:
            run_console(block.text, folder)
    if not ran:
        pytest.skip("the packages of all blocks are not installed")


def not_installed(text):
    """The packages that a program imports and that are not there."""
    tops = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            tops |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            tops.add(node.module.partition(".")[0])
    return {top for top in tops & OTHERS if importlib.util.find_spec(top) is None}


def test_a_block_without_its_package_is_noticed(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert not_installed("import jax.numpy\nfrom os import path\nimport typo") == {"jax"}


@pytest.mark.parametrize("page", list(filter(blocks, PAGES)), ids=names)
def test_every_block_has_a_language(page):
    for language, text in blocks(page):
        assert language in SHOWN | RUN, f"{language}: {text}"
        if language == "json":
            json.loads(text)


def test_outputs_on_a_page_are_compared(folder):
    run_console("$ straightline inspect new.onnx\nno control flow\n", folder)
    with pytest.raises(AssertionError, match="shown, but not printed"):
        run_console("$ straightline inspect new.onnx\nmuch control flow\n", folder)
    with pytest.raises(AssertionError, match="there is no file"):
        run_sh("straightline inspect none.onnx\n", folder)
    with pytest.raises(AssertionError):
        run_sh("make no-such-target", folder)
