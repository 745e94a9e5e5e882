"""Which tests reach which lines of the source, measured once and kept under build/mutants/reach."""

import dataclasses
import difflib
import functools
import hashlib
import importlib
import os
import pkgutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import coverage
import pytest
from _pytest.runner import runtestprotocol

from mutation.mutants import ROOT
from mutation.selection import DEFAULT

KEPT = ROOT / "build" / "mutants"


@dataclasses.dataclass
class Reach:
    """What the tests reach: per line of a file the tests, and how long each test takes."""

    seconds: dict[str, float] = dataclasses.field(default_factory=dict)
    lines: dict[str, dict[int, set[str]]] = dataclasses.field(default_factory=dict)

    def tests(self, path: str, lines: Iterable[int] | None = None) -> set[str]:
        """The tests that run one of these lines of a file, or any line of it."""
        known = self.lines.get(path, {})
        found = known.values() if lines is None else (known.get(line, set()) for line in lines)
        return set().union(*found)

    def add(self, measured: dict[str, Any]) -> None:
        """Take in what was measured of one test file; lines that moved since are found again."""
        names = measured["tests"]
        self.seconds.update({name: taken for name, taken in names if taken is not None})
        for path, (digest, lines) in measured["lines"].items():
            if not (ROOT / path).exists():
                continue
            moved = _moved(path, digest)
            here = self.lines.setdefault(path, {})
            for line, tests in lines.items():
                if int(line) in moved:
                    passing = (names[test][0] for test in tests if names[test][1] is not None)
                    here.setdefault(moved[int(line)], set()).update(passing)


def kept(file: Path) -> Path:
    """Where the measure of a test file is kept: it holds as long as the test file is the same."""
    return KEPT / "reach" / f"{file.stem}-{_digest(file.read_text())}.json"


def measure(items: Sequence[pytest.Item]) -> dict[str, Any]:
    """Run tests and say what each reached and how long it took (None: it did not pass)."""
    tracer = _tracer()
    tracer.start()
    tests: list[tuple[str, float | None]] = []
    for item, following in zip(items, [*items[1:], None], strict=True):
        tracer.switch_context(item.nodeid)
        before = sum(os.times()[:4])
        passed = run_test(item, following)
        taken = sum(os.times()[:4]) - before
        tests.append((item.nodeid, taken if passed else None))
    tracer.stop()
    numbers = {name: number for number, (name, _) in enumerate(tests)}
    data = tracer.get_data()
    lines = {}
    for file in data.measured_files():
        text = Path(file).read_text()
        _keep_text(text)
        reached = {
            line: [numbers[name] for name in names if name in numbers]
            for line, names in data.contexts_by_lineno(file).items()
        }
        lines[str(Path(file).relative_to(ROOT))] = (_digest(text), reached)
    return {"tests": tests, "lines": lines}


def run_at_import() -> dict[str, list[int]]:
    """The lines of each file that run when the whole package is imported. For use in a child."""
    forget()
    tracer = _tracer()
    tracer.start()
    import_all()
    tracer.stop()
    data = tracer.get_data()
    return {str(Path(f).relative_to(ROOT)): data.lines(f) or [] for f in data.measured_files()}


def import_all() -> None:
    """Import the whole package."""
    package = importlib.import_module("straightline")
    for module in pkgutil.walk_packages(package.__path__, "straightline."):
        if module.name.split(".")[1] in (*DEFAULT, "reference") and "_child" not in module.name:
            importlib.import_module(module.name)


def forget() -> None:
    """Forget the package and the tests, so that they are imported anew."""
    for name, module in list(sys.modules.items()):
        top, file = name.split(".")[0], getattr(module, "__file__", None) or ""
        if top == "straightline" or (
            file.startswith((f"{ROOT}/tests/", f"{ROOT}/dev/fuzz/"))
            and top not in ("mutation", "__main__")
        ):
            del sys.modules[name]


def _tracer() -> coverage.Coverage:
    include = [f"{ROOT}/{name}/*" for name in DEFAULT]
    return coverage.Coverage(data_file=None, config_file=False, include=include)


def run_test(item: pytest.Item, following: pytest.Item | None) -> bool:
    """Run one collected test; whether no part of it failed (a test left out tells nothing)."""
    reports = runtestprotocol(item, nextitem=following, log=False)
    return all(report.passed for report in reports)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _keep_text(text: str) -> None:
    place = KEPT / "sources" / _digest(text)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


@functools.cache
def _moved(path: str, digest: str) -> dict[int, int]:
    """For each line of the text that was measured, where it stands in the file now."""
    now = (ROOT / path).read_text()
    if _digest(now) == digest:
        return {number: number for number in range(1, now.count("\n") + 2)}
    before = (KEPT / "sources" / digest).read_text().splitlines()
    matcher = difflib.SequenceMatcher(None, before, now.splitlines(), autojunk=False)
    return {
        block.a + offset + 1: block.b + offset + 1
        for block in matcher.get_matching_blocks()
        for offset in range(block.size)
    }
