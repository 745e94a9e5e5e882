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
