"""Check that a release is complete, and print its notes and the command that tags it.

    python dev/tools/release.py

The version of pyproject.toml has a section of CHANGELOG.md, and a wheel and a source archive in
dist hold the same packages.
"""

import re
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def version_in(text: str) -> str:
    """The version in the text of pyproject.toml."""
    (version,) = re.findall(r'^version = "(.+)"$', text, re.MULTILINE)
    return str(version)


def notes_of(version: str, changelog: str) -> str:
    """The section of a version in the changelog; "" without one."""
    section = re.search(
        rf"^## \[?{re.escape(version)}\]?.*?\n(.*?)(?=^## |\Z)", changelog, re.M | re.S
    )
    return "" if section is None else section[1].strip()


def missing_modules(wheel: Path, archive: Path) -> list[str]:
    """Modules of a wheel that its source archive lacks."""
    with zipfile.ZipFile(wheel) as file:
        modules = [name for name in file.namelist() if name.endswith((".py", ".toml", ".json"))]
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    return [name for name in modules if name.partition("/")[2] not in names]


def main() -> None:
    version = version_in((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    notes = notes_of(version, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if not notes:
        sys.exit(f"error: CHANGELOG.md has no section '## {version}'; rename Unreleased to it")
    wheels, archives = ([*(ROOT / "dist").glob(f"*{version}*{end}")] for end in (".whl", ".tar.gz"))
    if len(wheels) != 1 or len(archives) != 1:
        sys.exit(f"error: dist does not hold one wheel and one archive of {version}; make release")
    missing = missing_modules(wheels[0], archives[0])
    if missing:
        sys.exit(f"error: the source archive lacks {', '.join(missing)}")
    print(f"{notes}\n\ngit tag -a v{version} -m 'straightline {version}'")


if __name__ == "__main__":
    main()
