"""The documentation as a site: every page is in its menu, every public name in its reference."""

import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
import straightline as sl
from straightline import batch, interop, report
from tables import table

ROOT = Path(__file__).resolve().parent.parent
CONFIG = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
NAMED = {
    name
    for page in (ROOT / "docs" / "api").glob("*.md")
    for name in re.findall(r"^::: straightline\.(\S+)$", page.read_text("utf-8"), re.MULTILINE)
}
MODULES = {"batch", "interop", "ir", "passes", "reference", "report", "targets", "versions"}


@pytest.fixture(scope="module")
def site():
    """The script that builds the site."""
    spec = importlib.util.spec_from_file_location("site_script", ROOT / "dev" / "tools" / "site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_in_the_menu_once(site):
    listed = re.findall(r"^ +- (?:[\w ]+: )?(\S+\.md)$", CONFIG, re.MULTILINE)
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert sorted(listed) == sorted(pages | {*site.AT_THE_ROOT})


def test_every_public_name_is_in_the_reference():
    assert {*sl.__all__} - MODULES - {"__version__"} <= NAMED
    assert {f"interop.{name}" for name in interop.__all__} <= NAMED
    assert {f"batch.{name}" for name in batch.__all__} <= NAMED
    assert {f"report.{name}" for name in report.__all__} - {"report.place_of"} <= NAMED


@pytest.mark.parametrize("name", sorted(NAMED))
def test_names_of_the_reference_exist_and_are_described(name):
    found = sl
    for part in name.split("."):
        found = (
            getattr(found, part)
            if hasattr(found, part)
            else importlib.import_module(f"straightline.{part}")
        )
    described = inspect.isclass(found) or inspect.isroutine(found)
    assert found.__doc__ if described else name == "display.OnProgress"


@table(
    ("[a](../DESIGN.md)", 0, "[a](DESIGN.md)"),
    ("[a](../../DESIGN.md#the-ir)", 1, "[a](../DESIGN.md#the-ir)"),
    ("[a](../DESIGN.md)", 1, "[a](../DESIGN.md)"),
    ("[a](../index.md), [b](passes/x.md)", 1, "[a](../index.md), [b](passes/x.md)"),
    ("[a](../LICENSE)", 0, "[a](../LICENSE)"),
)
def test_links_to_pages_of_the_root(text, depth, linked, site):
    assert site.out_of_docs(text, depth) == linked


def test_links_of_pages_of_the_root(site):
    text = "[a](docs/index.md#by-problem) [b](CHANGELOG.md) [c](https://semver.org)"
    wanted = "[a](index.md#by-problem) [b](CHANGELOG.md) [c](https://semver.org)"
    assert site.from_the_root(text) == wanted


def test_all_pages_are_copied_with_their_links(site, tmp_path):
    site.copy_pages(tmp_path / "pages")
    page = (tmp_path / "pages" / "index.md").read_text(encoding="utf-8")
    assert "](DESIGN.md)" in page and "](../" not in page
    assert "](docs/" not in (tmp_path / "pages" / "DESIGN.md").read_text(encoding="utf-8")
    for page in (tmp_path / "pages").rglob("*.md"):  # what the site itself warns of, in seconds
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)#:\s]+\.md)", text):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
    report = (tmp_path / "pages" / "report.md").read_text(encoding="utf-8")
    assert report.index("](examples/report.html)") < report.index("```")


@pytest.mark.skipif(not importlib.util.find_spec("zensical"), reason="make docs installs zensical")
def test_the_site_is_built_without_a_warning(site):
    command = [sys.executable, site.__file__]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    told = done.stdout + done.stderr
    assert done.returncode == 0 and "arning" not in told and "griffe" not in told, told
    page = (ROOT / "build" / "site" / "api" / "index.html").read_text(encoding="utf-8")
    assert "on_progress" in page and "Returns" in page
    assert (ROOT / "build" / "site" / "DESIGN" / "index.html").exists()
    batch = (ROOT / "build" / "site" / "examples" / "batch.html").read_text(encoding="utf-8")
    (name,) = re.findall(r'href="([^"]*tagger[^"]*)"', batch)
    assert (ROOT / "build" / "site" / "examples" / name).exists()


@pytest.mark.parametrize(("fault", "runs"), [("Watcher disconnected", 3), ("a dead anchor", 1)])
def test_a_build_runs_again_where_only_the_watcher_failed(site, tmp_path, capfd, fault, runs):
    log = tmp_path / "runs"
    code = f"open({str(log)!r}, 'a').write('x'); import sys; sys.exit({fault!r})"
    assert site.build([sys.executable, "-c", code], 1) == 1
    assert log.read_text() == "x" * runs
    assert capfd.readouterr().err == f"{fault}\n"
