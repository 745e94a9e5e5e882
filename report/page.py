"""The page of a report: a self-contained HTML file."""

import base64
import functools
import hashlib
import html
import json
import os
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from ..display.plain import visible
from ..ir.io.files import replacing
from ..ir.kinds import PATH, takes
from .data import Report
from .places import marked_place

_MARK = "straightline report"
_LIBRARIES = ("cytoscape.min.js", "dagre.min.js")
_SCRIPTS = (
    *("model.js", "theme.js", "tabs.js", "summary.js", "proof.js", "boxes.js", "changes.js"),
    *("folding.js", "keys.js", "graph.js", "details.js", "search.js", "page.js"),
)


@takes(report=Report)
def page(report: Report) -> str:
    """Render the page. It loads nothing, and its policy forbids other scripts.

    Args:
        report: the data from `gather`.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> sl.report.page(sl.report.gather(model, model))[:15]
        '<!doctype html>'
    """
    scripts = [asset(name) for name in (*_LIBRARIES, *_SCRIPTS)]
    before, after = report.before.name, report.after.name
    title = f"{before}: before → after" if before == after else f"{before} → {after}"
    return Template(asset("page.html")).substitute(
        mark=_MARK,
        policy=policy_of(scripts),
        title=html.escape(visible(title)),
        style=asset("page.css"),
        data=_embed(report.to_dict()),
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    )


@takes(path=PATH, report=Report)
def write(
    path: str | os.PathLike[str], report: Report, taken: Iterable[Path] = (), *, force: bool = False
) -> None:
    """Write the page of a report, whole or not at all.

    Args:
        path: the path of the file.
        report: the data from `gather`.
        taken: files that must stay.
        force: overwrite also a file that is no report.

    Raises:
        SaveError: the file cannot be written, or another one would be lost.

    Examples:
        >>> import os, tempfile
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sl.report.write(os.path.join(folder, "r.html"), sl.report.gather(model, model))
        ...     os.listdir(folder)
        ['r.html']
    """
    with replacing(place_of(Path(path), taken, force=force)) as (temporary,):
        temporary.write_text(page(report), encoding="utf-8")


@takes(path=PATH)
def place_of(path: Path, taken: Iterable[Path] = (), *, force: bool = False) -> Path:
    """Choose the file of a report, without writing.

    Raises:
        SaveError: the path is no place for a file, is one of `taken`, or has other content than a
            report.
    """
    return marked_place(path, taken, _MARK, "report", force)


def policy_of(scripts: Sequence[str]) -> str:
    """Return the content security policy of a page: its own scripts and styles, no network."""
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts]
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline';"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )


@functools.cache
def asset(name: str) -> str:
    """Return the text of a file of the page."""
    return (
        resources.files(__package__).joinpath("assets").joinpath(name).read_text(encoding="utf-8")
    )


def _embed(data: Any) -> str:
    """Encode JSON without characters that end the script or start a tag."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text
