import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from shared_folders import SharedFolders


class Session:
    """A session whose tests run in turn with another's; each file has one test."""

    testscollected = 0

    def __init__(self, root, seen, between=lambda: None):
        hook = SimpleNamespace(pytest_runtest_protocol=self._run)
        self.config = SimpleNamespace(hook=hook, rootpath=root, args=["tests"])
        self._seen, self._between = seen, between

    def perform_collect(self, files):
        return files

    def _run(self, item, nextitem):
        self._seen.append((item, nextitem))
        self._between()


def test_each_folder_is_collected_and_run_by_one_process(tmp_path):
    files = []
    for name, text in (("b/test_3", ""), ("a/test_1", "long"), ("a/test_2", ""), ("b/other", "")):
        file = tmp_path / "tests" / f"{name}.py"
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_text(text)
        files.append(str(file))
    one, other = (SharedFolders(tmp_path / "claims") for _ in range(2))
    first, second = [], []
    session = Session(tmp_path, second)
    run = Session(tmp_path, first, lambda: other.pytest_runtestloop(session))
    assert one.pytest_collection() and one.pytest_runtestloop(run)
    assert first == [(files[1], files[2]), (files[2], None)]
    assert second == [(files[0], None)]
    assert run.testscollected == 2


def test_fixtures_of_a_folder_count_in_the_folders_below(tmp_path):
    plugin = """from pathlib import Path
from shared_folders import SharedFolders
def pytest_configure(config):
    config.pluginmanager.register(SharedFolders(Path("claims").absolute()))
"""
    fixture = "import pytest\n@pytest.fixture\ndef number():\n    return 1\n"
    test = "def test_number(number):\n    assert number == 1\n"
    contents = {"conftest.py": plugin, "tests/a/conftest.py": fixture}
    contents |= {
        "tests/a/test_1.py": f"{test}# first, since it is long\n",
        "tests/a/b/test_2.py": test,
    }
    for name, text in contents.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text)
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in result.stdout, result.stdout
