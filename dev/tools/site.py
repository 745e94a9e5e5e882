"""Build the documentation as a site in build/site, by Zensical (see mkdocs.yml). Run: make docs

The pages of `docs/` and those at the root of the repository are copied into build/docs, where links
between them are links within the site. Beside them stand live examples: the report of a rewrite,
and the page of a batch.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
AT_THE_ROOT = ("CHANGELOG.md", "CONTRIBUTING.md", "DESIGN.md", "tests/README.md")
PAGES = ROOT / "build" / "docs"
PACKAGE = ROOT / "build" / "api" / "straightline"
SITE = ROOT / "build" / "site"
LIVE = {
    "report.md": "[Open a report](examples/report.html) of a loop that becomes straight-line code.",
    "many-models.md": "[Open the page of a batch](examples/batch.html), whose rows are links.",
}
"""Lines below the first paragraph of a page, about examples that the site alone has."""
_EACH = 10
"""Seconds from one line of progress to the next."""
_SIZES = ["--shape", "x=2,6", "--set", "sr=16000"]
_TRIES = 3
"""Builds until one ends: Zensical 0.0.73 stops watching after 100 ms without a page to read, which
a busy machine needs before the first one, and fails with "Watcher disconnected"."""
_RECORD = re.compile(r"^@record\b", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def copy_pages(folder: Path) -> None:
    """Copy all pages and pictures into a folder, with links as the site has them."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    for page in folder.rglob("*.md"):
        depth = len(page.relative_to(folder).parts) - 1
        page.write_text(out_of_docs(page.read_text(encoding="utf-8"), depth), encoding="utf-8")
    for name, line in LIVE.items():
        title, first, rest = (folder / name).read_text(encoding="utf-8").split("\n\n", 2)
        (folder / name).write_text("\n\n".join([title, first, line, rest]), encoding="utf-8")
    for name in AT_THE_ROOT:
        text = (ROOT / name).read_text(encoding="utf-8")
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(from_the_root(text), encoding="utf-8")


def write_examples(folder: Path) -> None:
    """Rewrite the small models of the documentation, and write the pages about that."""
    folder.mkdir(parents=True, exist_ok=True)
    report = ["--report", str(folder / "report.html")]
    batch = ["--summary", str(folder / "batch.html")]
    pages = ["--report", str(folder / "reports"), "--jobs", "1"]
    with tempfile.TemporaryDirectory() as name:
        for command in (
            [str(ROOT / "examples" / "models.py"), "models"],
            ["-m", "straightline", "rewrite", "models", "-o", "flat", *batch, *pages],
            ["-m", "straightline", "rewrite", "models/model.onnx", "flat.onnx", *_SIZES, *report],
        ):
            run = [sys.executable, *command]
            subprocess.run(run, cwd=name, check=True, stdout=subprocess.DEVNULL)


def copy_package(folder: Path) -> None:
    """Copy the modules of the package under its name, for docstrings.

    The root is the package: a link to it would also show the tests, the tools and the virtual
    environment, which take ten times as long to walk. griffe finds the parameters of dataclasses,
    which records are, by the name of their decorator.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "__init__.py", folder)
    for module in (path.parent for path in ROOT.glob("*/__init__.py")):
        if module.name not in ("dev", "tests"):
            shutil.copytree(module, folder / module.name)
    for path in folder.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        plain = _RECORD.sub(r"@dataclasses.dataclass", text)
        if plain != text:
            future = "from __future__ import annotations\n"
            path.write_text(plain.replace(future, f"{future}import dataclasses\n", 1), "utf-8")


def from_the_root(text: str) -> str:
    """Rewrite the links of a page of the root."""
    return _LINK.sub(lambda match: f"]({match[1].removeprefix('docs/')})", text)


def out_of_docs(text: str, depth: int) -> str:
    """Rewrite the links to pages of the root, of a page so many folders deep in `docs/`."""
    out, within = "../" * (depth + 1), "../" * depth

    def linked(match: re.Match[str]) -> str:
        name = match[1].removeprefix(out)
        if name != match[1] and name.partition("#")[0] in AT_THE_ROOT:
            return f"]({within}{name})"
        return match[0]

    return _LINK.sub(linked, text)


def watch(command: list[str], pages: int) -> tuple[int, str]:
    """Show the time until a command ends, and return its code and errors; it writes at the end."""
    started = time.monotonic()
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    while True:
        try:
            errors = process.communicate(timeout=_EACH)[1]
            return process.returncode, errors
        except subprocess.TimeoutExpired:
            print(f"{pages} pages, {time.monotonic() - started:.0f} s", flush=True)


def build(command: list[str], pages: int) -> int:
    """Build the site, again where only the watcher failed, and return the exit code."""
    for _ in range(_TRIES):
        code, errors = watch(command, pages)
        if not code or "Watcher disconnected" not in errors:
            break
    print(errors, end="", file=sys.stderr)
    return code


def main() -> int:
    """Build the site; a warning is an error."""
    copy_package(PACKAGE)
    print("pages", flush=True)
    copy_pages(PAGES)
    print("examples", flush=True)
    write_examples(PAGES / "examples")
    print("site", flush=True)
    shutil.rmtree(SITE, ignore_errors=True)
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    pages = sum(1 for suffix in ("md", "html") for _ in PAGES.rglob(f"*.{suffix}"))
    return build(command, pages)


if __name__ == "__main__":
    sys.exit(main())
