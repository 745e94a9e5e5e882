"""Processes that share the folders of the tests: each collects and runs the next one that is left.

    export STRAIGHTLINE_FOLDERS=build/tests; pytest & pytest

Workers of pytest-xdist send three reports of each test to a third process, a tenth of the time of
short tests, and each of them imports all files.
"""

from collections.abc import Iterable
from pathlib import Path

import pytest


class SharedFolders:
    """Plugin that collects and runs the folders which no other process has claimed.

    Args:
        claims: a folder of marks, one for each folder of tests.
    """

    def __init__(self, claims: Path) -> None:
        self._claims = claims

    def pytest_collection(self) -> bool:
        """Collect nothing before a folder is claimed."""
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run folder by folder, large ones first; errors of a collection count as failures."""
        run = session.config.hook.pytest_runtest_protocol
        count = 0
        for folder, files in _folders(session.config.rootpath, session.config.args):
            if self._claim(folder):
                items = session.perform_collect([str(file) for file in files])
                count += len(items)
                for item, following in zip(items, [*items[1:], None], strict=True):
                    run(item=item, nextitem=following)
        session.testscollected = count
        return True

    def _claim(self, folder: Path) -> bool:
        try:
            (self._claims / "-".join(folder.parts)).mkdir(parents=True)
        except FileExistsError:
            return False
        return True


def _folders(root: Path, places: Iterable[str]) -> list[tuple[Path, list[Path]]]:
    """The files of tests in each folder below some places, those of most bytes first.

    Folders below one with a `conftest.py` are part of it: pytest lets the fixtures there count for
    one collection.
    """
    folders: dict[Path, list[Path]] = {}
    for place in places:
        for file in sorted((root / place).rglob("test_*.py")):
            around = [folder for folder in file.parents if root / place in folder.parents]
            outermost = [folder for folder in around if (folder / "conftest.py").exists()]
            folder = [file.parent, *outermost][-1]
            folders.setdefault(folder.relative_to(root), []).append(file)

    def size(pair: tuple[Path, list[Path]]) -> int:
        return sum(file.stat().st_size for file in pair[1])

    return sorted(folders.items(), key=size, reverse=True)
