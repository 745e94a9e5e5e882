"""Code blocks of the documentation, and how they are run as pasted."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from source_files import ROOT
from straightline.cli.commands import app
from typer.testing import CliRunner

PAGES = sorted((*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))
SHOWN = {"text", "json", "toml", "yaml"}
"""Languages of blocks that are only shown."""
RUN = {"sh", "console", "python"}
_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_NEEDS_A_SHELL = set("|<>$;&")
_TELLS_THE_CODE = ' || echo "exit code $?"'
_SHIMS = {
    "make": f'exec "{shutil.which("make")}" -n -C "{ROOT}" "$@" > /dev/null',
    "pip": f'test -f "{ROOT}/pyproject.toml"',
    "straightline": f'exec "{sys.executable}" -m straightline "$@"',
    "python": f'exec "{sys.executable}" "$@"',
}
"""What stands for programs: targets of make are looked up, and nothing is installed."""


class Block(NamedTuple):
    """A fenced block: its language, and what stands in it."""

    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    return [Block(*found) for found in _FENCE.findall(page.read_text(encoding="utf-8"))]


def texts(name: str, language: str) -> list[str]:
    """The blocks of a language on a page of docs/."""
    return [block.text for block in blocks(ROOT / "docs" / name) if block.language == language]


def run_sh(text: str, folder: Path) -> None:
    """Run the lines of a block, all of which succeed."""
    for line in text.splitlines():
        if line.strip() and not line.strip().startswith("#"):
            code, output = run_line(line, folder)
            assert code == 0, f"{line}\n{output}"


def run_console(text: str, folder: Path) -> None:
    """Run the commands after `$`, and find what the page shows in what they print."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, wanted = part.partition("\n")
        code, output = run_line(line, folder)
        printed = {_plain(one) for one in output.splitlines()}
        missing = [one for one in wanted.splitlines() if one.strip() and _plain(one) not in printed]
        assert not missing, f"{line}\nshown, but not printed: {missing}\n{output}"
        assert code == 0 or "error: " in wanted, f"{line}\n{output}"


def _plain(line: str) -> str:
    """A line without what differs from run to run: times, and how columns are spaced."""
    return " ".join(re.sub(r"\d+(\.\d+)? m?s\b", "TIME", line).split())


def run_line(line: str, folder: Path) -> tuple[int, str]:
    """The exit code of a command line, and what it prints; ours runs in this process."""
    command = line.removesuffix(_TELLS_THE_CODE)
    words = shlex.split(command, comments=True)
    if words[0] == "straightline" and not _NEEDS_A_SHELL & set(command):
        result = CliRunner().invoke(app, words[1:], prog_name="straightline")
        if command != line and result.exit_code:
            return 0, f"{result.output}exit code {result.exit_code}\n"
        return result.exit_code, result.output
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", line],
        cwd=folder,
        env={**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


def write_shims(folder: Path) -> None:
    """Put what stands for programs into a folder of its own."""
    (folder / "bin").mkdir()
    for name, script in _SHIMS.items():
        file = folder / "bin" / name
        file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        file.chmod(0o755)
    inner = folder / ".venv" / "bin"
    inner.mkdir(parents=True)
    (inner / "python").symlink_to(folder / "bin" / "pip")  # a test run inside a test run is not it
