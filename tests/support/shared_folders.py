"""Processes that share the folders of the tests: each runs the next one that is left.

    export STRAIGHTLINE_FOLDERS=build/tests; pytest & pytest

Workers of pytest-xdist send three reports of each test to a third process: a tenth of the time of
short tests.
"""

from collections.abc import Iterable, Sequence
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
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run folder by folder, large ones first."""
        if session.testsfailed or session.config.option.collectonly:
            return None  # pytest tells of errors of the collection
        run = session.config.hook.pytest_runtest_protocol
        for folder, items in _folders(session.items):
            if self._claim(folder):
                for item, following in zip(items, [*items[1:], None], strict=True):
                    run(item=item, nextitem=following)
        return True

    def _claim(self, folder: Path) -> bool:
        try:
            (self._claims / "-".join(folder.parts[1:])).mkdir(parents=True)
        except FileExistsError:
            return False
        return True


def _folders(items: Iterable[pytest.Item]) -> list[tuple[Path, Sequence[pytest.Item]]]:
    """The tests of each folder, those of most bytes first."""
    folders: dict[Path, list[pytest.Item]] = {}
    for item in items:
        folders.setdefault(item.path.parent, []).append(item)

    def size(pair: tuple[Path, Sequence[pytest.Item]]) -> int:
        return sum(file.stat().st_size for file in {item.path for item in pair[1]})

    return sorted(folders.items(), key=size, reverse=True)
