"""Every code block of the README and the documentation runs as it is pasted.

A page has a folder with the models of examples/models.py, and its Python blocks share their names.
Blocks of `console` show what is printed, which is compared; those of `text` and `json` only show.
"""

import importlib.util
import json

import pytest
from pages import PAGES, RUN, SHOWN, blocks, run_console, run_sh, write_shims
from source_files import ROOT

WITH_TESTS_OF_THEIR_OWN = {
    "CONTRIBUTING.md": {"python"},
    "docs/own-passes.md": RUN,
    "docs/own-rules.md": RUN,
}
"""Their tests forget what these register."""


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
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    return tmp_path


@pytest.mark.parametrize("page", list(filter(to_run, PAGES)), ids=names)
def test_every_block_runs_as_pasted(page, folder):
    known = {}
    for block in to_run(page):
        if block.language == "python":
            exec(compile(block.text, names(page), "exec"), known)
        elif block.language == "sh":
            run_sh(block.text, folder)
        else:
            run_console(block.text, folder)


@pytest.mark.parametrize("page", list(filter(blocks, PAGES)), ids=names)
def test_every_block_has_a_language(page):
    for language, text in blocks(page):
        assert language in SHOWN | RUN, f"{language}: {text}"
        if language == "json":
            json.loads(text)


def test_what_a_page_shows_is_compared(folder):
    run_console("$ straightline inspect new.onnx\nno control flow\n", folder)
    with pytest.raises(AssertionError, match="shown, but not printed"):
        run_console("$ straightline inspect new.onnx\nmuch control flow\n", folder)
    with pytest.raises(AssertionError, match="there is no file"):
        run_sh("straightline inspect none.onnx\n", folder)
    with pytest.raises(AssertionError):
        run_sh("make no-such-target", folder)
