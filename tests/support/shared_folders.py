"""Processes that share the folders of the tests: each collects and runs the next one that is left.

    export STRAIGHTLINE_FOLDERS=build/tests; pytest & pytest

With workers of pytest-xdist each one collects all tests, and sends three reports of each to a third
process: a tenth of the time of short tests.
"""

from pathlib import Path

import pytest


class SharedFolders:
    """Plugin that runs the folders which no other process has claimed.

    Args:
        claims: a folder of marks, one for each folder of tests.
    """

    def __init__(self, claims: Path) -> None:
        self._claims = claims

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> bool:
        """Collect nothing yet."""
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Collect and run folder by folder, large ones first."""
        count, run = 0, session.config.hook.pytest_runtest_protocol
        for folder, files in _folders(session.config.rootpath / "tests"):
            if not self._claim(folder):
                continue
            items = session.perform_collect(list(map(str, files)))
            count += len(items)
            for item, following in zip(items, [*items[1:], None], strict=True):
                run(item=item, nextitem=following)
        session.testscollected = max(count, 1)  # one that comes too late has not failed
        return True

    def _claim(self, folder: Path) -> bool:
        try:
            (self._claims / "-".join(folder.parts[1:])).mkdir(parents=True)
        except FileExistsError:
            return False
        return True


def _folders(tests: Path) -> list[tuple[Path, list[Path]]]:
    """The folders with their own test files, those with the most bytes first."""
    files: dict[Path, list[Path]] = {}
    for file in sorted(tests.rglob("test_*.py")):
        files.setdefault(file.parent, []).append(file)
    return sorted(files.items(), key=lambda pair: -sum(file.stat().st_size for file in pair[1]))
