"""Fetch the libraries that the page of a report draws with, and their licences, again.

Versions and checksums are pinned; a change of either is one line here. Needs npm.

Run: python dev/tools/vendor_report_assets.py [--check]

With a file it fetches the accessibility checker of the tests there, which is no part of the page:
python dev/tools/vendor_report_assets.py --checker FILE
"""

import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

ASSETS = Path(__file__).parents[2] / "report" / "assets"


@dataclass(frozen=True)
class Library:
    """A package of the npm registry: what is taken of it, and where its licence stands."""

    name: str
    version: str
    integrity: str
    file: str
    licences: tuple[str, ...]
    home: str


LIBRARIES = (
    Library(
        "cytoscape",
        "3.34.4",
        "sha512-msY99tMY8iWTg+sIPGfSqDcPNOt4xcj+v/K/7qUFaCUxxlqnMkUYLBjRUzn9W5CU/R2hrmtJa5+UtovrEM2ctg==",
        "dist/cytoscape.min.js",
        ("LICENSE",),
        "https://js.cytoscape.org",
    ),
    Library(
        "@dagrejs/dagre",
        "3.1.3",
        "sha512-X4aUTwOReZvthaZWOVHqlJ52/ZdhZFEM4+Lh/uR4XooUSLE6p71bcy7MPGzYnNUcNh+nj+i/qJQpCMIdQnSmrg==",
        "dist/dagre.min.js",
        ("LICENSE", "dist/dagre.min.js.LEGAL.txt"),
        "https://github.com/dagrejs/dagre",
    ),
)
CHECKER = Library(
    "axe-core",
    "4.14.1",
    "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
    "axe.min.js",
    (),
    "https://github.com/dequelabs/axe-core",
)
HEAD = """The page of a report holds the following libraries, unchanged but for a comment that names
a source map. dev/tools/vendor_report_assets.py fetches them again.
"""


def fetched(library: Library, folder: Path) -> dict[str, str]:
    """The files of a package that are needed, after its checksum was found right."""
    command = ["npm", "pack", "--json", f"{library.name}@{library.version}"]
    told = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    archive = folder / json.loads(told.stdout)[0]["filename"]
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if f"sha512-{digest}" != library.integrity:
        sys.exit(f"{library.name} {library.version} is not what it was: sha512-{digest}")
    with tarfile.open(archive) as opened:
        return {name: text(opened, name) for name in (library.file, *library.licences)}


def text(opened: tarfile.TarFile, name: str) -> str:
    """A file of a package."""
    file = opened.extractfile(f"package/{name}")
    assert file is not None
    return file.read().decode("utf-8")


def without_source_map(script: str) -> str:
    """A script without the comment that lets a browser look for another file."""
    lines = [line for line in script.split("\n") if not line.startswith("//# sourceMappingURL=")]
    return "\n".join(lines).strip() + "\n"


def assets() -> dict[str, str]:
    """The files as they stand in the folder."""
    found, notice = {}, [HEAD]
    with tempfile.TemporaryDirectory() as folder:
        for library in LIBRARIES:
            files = fetched(library, Path(folder))
            name = Path(library.file).name
            found[name] = without_source_map(files[library.file])
            notice.append(f"{name}: {library.name} {library.version}, {library.home}\n")
            notice += [files[licence].strip() + "\n" for licence in library.licences]
    return {**found, "NOTICE": "\n".join(notice)}


def fetch_checker(path: Path) -> None:
    """Write the accessibility checker into a file, unless it is there."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        path.write_text(fetched(CHECKER, Path(folder))[CHECKER.file], encoding="utf-8")


def main() -> None:
    """Write the files, or with --check say which differ."""
    if "--checker" in sys.argv:
        fetch_checker(Path(sys.argv[sys.argv.index("--checker") + 1]))
        return
    wrong = []
    for name, content in assets().items():
        path = ASSETS / name
        if "--check" not in sys.argv:
            path.write_text(content, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != content:
            wrong.append(name)
    if wrong:
        sys.exit(f"not what the registry holds: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
