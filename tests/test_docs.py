"""The documentation speaks of what there is: every pass and option, every exit code."""

import dataclasses
import re
from pathlib import Path

import pytest
import typer.main
from straightline.cli import commands, exit_codes
from straightline.dev.tools import loop_pages, passes
from straightline.passes import PASSES
from straightline.targets.registry import names
from straightline.version_converter.schemas import OLDEST, REVIEWED

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGE = (DOCS / "command-line.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(commands.app).commands


@pytest.mark.parametrize("kind", PASSES, ids=lambda kind: kind.name)
def test_every_pass_has_a_section_or_page_with_its_options(kind):
    page = (DOCS / "passes.md").read_text(encoding="utf-8")
    long = passes.pages().get(kind.name)
    page = page if long is None else (DOCS / long).read_text(encoding="utf-8")
    assert f"\n## {kind.name}\n" in page
    for field in dataclasses.fields(kind):
        assert f"`{field.name}`" in page or field.metadata.get("code_only")


@pytest.mark.parametrize("name", loop_pages.PAGES)
def test_the_tables_of_the_pages_about_loops_are_those_of_the_code(name):
    page = (loop_pages.FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert loop_pages.written(name, page) == page


def test_every_target_is_listed():
    page = (DOCS / "targets.md").read_text(encoding="utf-8")
    line = page.partition("## Shipped targets\n\n")[2].partition("\n")[0]
    assert tuple(re.findall(r"`([\w-]+)`", line)) == names()


@pytest.mark.parametrize("name", ["opset-conversion", "from-onnx-converter"])
def test_opsets_of_conversions(name):
    assert f"{OLDEST} to {REVIEWED}" in (DOCS / f"{name}.md").read_text(encoding="utf-8")


def test_the_files_of_the_graph_are_introduced():
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    told = page.partition("## The files of `ir/`")[2].partition("\n## ")[0]
    files = {path.stem for path in (ROOT / "ir").glob("*.py")} - {"__init__"}
    assert {name for name in files if f"`{name}`" not in told} == set()


def test_every_command_and_option_is_described_and_none_else():
    every = (typer.main.get_command(commands.app), *COMMANDS.values())
    real = {name for command in every for p in command.params for name in options(p)}
    told = set(re.findall(r"`(--[a-z-]+)", PAGE)) | set(re.findall(r", `(--[a-z-]+)", PAGE))
    assert told - {"--help"} == real - {"--help"}
    for name in COMMANDS:
        assert re.search(rf"^## {name}\b", PAGE, re.MULTILINE), name


def options(parameter):
    return [name for name in (*parameter.opts, *parameter.secondary_opts) if name[:2] == "--"]


def test_every_exit_code_is_described():
    codes = {
        value
        for name, value in vars(exit_codes).items()
        if name.startswith("EXIT_") and isinstance(value, int)
    }
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)}
    assert told == {0, *codes, *exit_codes.EXIT_CODES}


PAGES = (*ROOT.glob("*.md"), *DOCS.rglob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_and_files_are_there(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), target
    for file in re.findall(r"`(?:python )?([a-z_/]+/[a-z_0-9]+\.py)", text):
        assert (ROOT / file).exists(), file


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_anchors_are_headings_of_their_page(page):
    text = page.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", text):
        linked = page.parent / target if target else page
        assert linked.suffix != ".md" or anchor in anchors(linked), f"{target}#{anchor}"


def anchors(page):
    """Return the anchors that the site gives to the headings of a page."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    words = [re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings]
    return {re.sub(r"[-\s]+", "-", one) for one in words}


def test_the_first_page_is_short():
    """600 words apart from code and tables; what is longer belongs to a page of its own."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for left_out in (r"```.*?```", r"^\|[^\n]*", r"<!--.*?-->", r"\]\([^)]*\)"):
        text = re.sub(left_out, " ", text, flags=re.DOTALL | re.MULTILINE)
    assert len(text.split()) <= 600
