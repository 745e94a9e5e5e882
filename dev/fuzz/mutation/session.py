"""One pytest session that collects all tests and then tries mutants, each in a child of its own."""

import gc
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from mutation.forks import in_fork
from mutation.mutants import ROOT, Mutant
from mutation.reach import Reach, import_all, kept, measure, run_at_import
from mutation.trial import first_failure_with, functions_here

MEASURE_SECONDS = 3600
START_SECONDS = 10
IMPORT_SECONDS = 60  # where everything is imported and collected again
MOST_FILES = 6  # of tests, then


class Session:
    """The plugin: takes over what pytest does once the tests are collected."""

    def __init__(self, mutants: Sequence[Mutant], tests: str, budget: float) -> None:
        self.results: list[dict[str, Any]] = []
        self._mutants = mutants
        self._tests = tests
        self._budget = budget
        self._reach = Reach()
        self._due: dict[tuple[str, str], bool] = {}
        self._catches: dict[str, Counter[str]] = {}

    def pytest_collection(self) -> None:
        """A failing example is enough: it need not be made small."""
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        hypothesis.settings.register_profile("mutants", hypothesis.settings(), phases=phases)
        hypothesis.settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Interrupted("the tests cannot be collected")
        import_all()
        scratch = session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        self._items = {item.nodeid: item for item in session.items}
        self._fork = lambda work, seconds: in_fork(work, seconds, scratch)
        self._measure(session.items)
        self._at_import = self._fork(run_at_import, MEASURE_SECONDS)
        self._functions = functions_here()
        gc.freeze()  # else each child touches, so copies, all that is here
        for number, mutant in enumerate(self._mutants, 1):
            result = self._try(mutant)
            self.results.append(result)
            print(f"{number}/{len(self._mutants)} {_told(result)}", flush=True)
        return True

    def _measure(self, items: Iterable[pytest.Item]) -> None:
        files: dict[Path, list[pytest.Item]] = {}
        for item in items:
            if fnmatch(item.path.name, self._tests):
                files.setdefault(item.path, []).append(item)
        for file, tests in files.items():
            place = kept(file)
            if not place.exists():
                print(f"measuring what {file.name} reaches", flush=True)
                measured = self._fork(lambda tests=tests: measure(tests), MEASURE_SECONDS)
                if measured is None:
                    raise SystemExit(f"{file.name}: the tests did not come to an end")
                place.parent.mkdir(parents=True, exist_ok=True)
                for old in place.parent.glob(f"{file.stem}-????????????????.json"):
                    old.unlink()
                place.write_text(json.dumps(measured))
            self._reach.add(json.loads(place.read_text()))

    def _try(self, mutant: Mutant) -> dict[str, Any]:
        started = time.monotonic()
        text = mutant.text()
        chosen, left = [], 0
        caught: str | None = None
        while self._is_reached(mutant):
            chosen, left = self._choose(mutant)
            caught = self._catch(mutant, text, chosen)
            if caught is None or self._is_due(caught, mutant, chosen):
                break
            if caught not in self._items:
                caught = None
                break
        if caught == "timeout":
            status = "timeout"
        elif caught:
            status = "caught"
            self._catches.setdefault(mutant.path, Counter())[caught] += 1
        else:
            status = "survived" if self._is_reached(mutant) else "not reached"
        return {
            "name": mutant.name,
            "path": mutant.path,
            "line": mutant.lines[-1],
            "operator": mutant.operator,
            "status": status,
            "caught": caught,
            "tests": len(chosen),
            "left": left,
            "seconds": round(time.monotonic() - started, 2),
        }

    def _is_reached(self, mutant: Mutant) -> bool:
        return self._runs_at_import(mutant) or bool(self._reach.tests(mutant.path, mutant.lines))

    def _runs_at_import(self, mutant: Mutant) -> bool:
        """Whether it changes what runs then, or a function that has made others by then."""
        lines = self._at_import.get(mutant.path, ())
        return mutant.function is None or any(line in mutant.body for line in lines)

    def _catch(self, mutant: Mutant, text: str, chosen: Sequence[str]) -> str | None:
        """The test that fails with a mutant, "timeout", or nothing."""
        items = [self._items[name] for name in chosen]
        seconds = START_SECONDS + 3 * sum(self._reach.seconds[name] for name in chosen)
        functions = self._functions
        if self._runs_at_import(mutant):
            # What has run already when the functions are changed must run again.
            functions, seconds = {}, seconds + IMPORT_SECONDS
        found = self._fork(lambda: first_failure_with(mutant, text, functions, items), seconds)
        return found["caught"] if found else "timeout"

    def _choose(self, mutant: Mutant) -> tuple[list[str], int]:
        """The tests to run, in their order, and how many are left out for lack of time.

        Those that caught others in this file come first, then the file's own tests, then the short.
        """
        anywhere = self._runs_at_import(mutant)
        names = self._reach.tests(mutant.path, None if anywhere else mutant.lines)
        known = self._due
        where = mutant.path if anywhere else ""
        names = {name for name in names & self._items.keys() if known.get((name, where), True)}
        catches = self._catches.get(mutant.path, Counter())
        own = own_tests(mutant.path)
        ordered = sorted(
            names,
            key=lambda name: (
                -catches[name],
                not _file_of(name).startswith(own),
                self._reach.seconds[name],
            ),
        )
        chosen, files, spent = [], set(), 0.0
        for name in ordered:
            fits = not anywhere or len(files | {_file_of(name)}) <= MOST_FILES
            if fits and spent + self._reach.seconds[name] <= self._budget:
                chosen.append(name)
                files.add(_file_of(name))
                spent += self._reach.seconds[name]
        return chosen, len(ordered) - len(chosen)

    def _is_due(self, caught: str, mutant: Mutant, chosen: Sequence[str]) -> bool:
        """Whether it is the mutant that did this, and not the same without it."""
        key = (caught, mutant.path if self._runs_at_import(mutant) else "")
        if key not in self._due:
            # With those before it: what they draw from a generator that a file shares counts, too.
            tests = chosen[: chosen.index(caught) + 1] if caught in chosen else chosen
            original = (ROOT / mutant.path).read_text()
            self._due[key] = self._catch(mutant, original, tests) is None
            if not self._due[key]:
                print(f"counts for nothing, it comes without a mutant: {caught}", flush=True)
        return self._due[key]


def own_tests(path: str) -> tuple[str, ...]:
    """How the paths of the tests of a source file begin: those of its name, and of its folder."""
    folder, _, name = path.removesuffix(".py").rpartition("/")
    within = f"{folder}/" if folder else ""
    return (f"{within}test_{name}", within) if within else (f"test_{name}",)


def _file_of(test: str) -> str:
    return test.split("::", maxsplit=1)[0].removeprefix("tests/")


def _told(result: dict[str, Any]) -> str:
    by = f" by {result['caught']}" if result["status"] == "caught" else ""
    return f"{result['name']} {result['status']}{by} ({result['seconds']} s)"


def run(mutants: Sequence[Mutant], tests: str, budget: float) -> list[dict[str, Any]]:
    """Try mutants with the tests of the files that fit a pattern."""
    plugin = Session(mutants, tests, budget)
    with tempfile.TemporaryDirectory() as folder:
        places = [f"--rootdir={ROOT}", f"--basetemp={folder}/tests", str(ROOT / "tests")]
        options = ["-p", "no:cacheprovider", "--capture=no"]
        status = pytest.main([*options, *places], plugins=[plugin])
    if status != pytest.ExitCode.OK:
        sys.exit(int(status))
    return plugin.results
