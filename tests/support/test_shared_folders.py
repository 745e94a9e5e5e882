from types import SimpleNamespace

from shared_folders import SharedFolders


class Session:
    """A session that collects files as its items, and whose tests run in turn with another's."""

    def __init__(self, root, seen, between=lambda: None):
        hook = SimpleNamespace(pytest_runtest_protocol=self._run)
        self.config = SimpleNamespace(rootpath=root, hook=hook)
        self._seen, self._between = seen, between

    def perform_collect(self, files):
        return files

    def _run(self, item, nextitem):
        self._seen.append((item, nextitem))
        self._between()


def test_each_folder_is_run_by_one_process(tmp_path):
    for name, text in (("a/test_1", "long"), ("a/test_2", ""), ("b/test_3", ""), ("b/help", "x")):
        file = tmp_path / "tests" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    one, other = (SharedFolders(tmp_path / "claims") for _ in range(2))
    first, second = [], []
    session = Session(tmp_path, second)
    assert one.pytest_collection() is True
    run = Session(tmp_path, first, lambda: other.pytest_runtestloop(session))
    assert one.pytest_runtestloop(run) is True
    files = [str(tmp_path / "tests" / name) for name in ("a/test_1.py", "a/test_2.py")]
    assert first == [(files[0], files[1]), (files[1], None)]
    assert second == [(str(tmp_path / "tests/b/test_3.py"), None)]
    assert (run.testscollected, session.testscollected) == (2, 1)
