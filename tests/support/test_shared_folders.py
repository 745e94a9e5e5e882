from types import SimpleNamespace

from shared_folders import SharedFolders


class Session:
    """A session whose tests run in turn with another's."""

    testsfailed = 0

    def __init__(self, files, seen, between=lambda: None):
        hook, option = SimpleNamespace(), SimpleNamespace(collectonly=False)
        hook.pytest_runtest_protocol = self._run
        self.config = SimpleNamespace(hook=hook, option=option)
        self.items = [SimpleNamespace(path=file) for file in files]
        self._seen, self._between = seen, between

    def _run(self, item, nextitem):
        self._seen.append((item.path, nextitem and nextitem.path))
        self._between()


def test_each_folder_is_run_by_one_process(tmp_path):
    files = []
    for name, text in (("b/test_3", ""), ("a/test_1", "long"), ("a/test_2", "")):
        file = tmp_path / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        files.append(file)
    one, other = (SharedFolders(tmp_path / "claims") for _ in range(2))
    first, second = [], []
    session = Session(files, second)
    run = Session(files, first, lambda: other.pytest_runtestloop(session))
    assert one.pytest_runtestloop(run) is True
    assert first == [(files[1], files[2]), (files[2], None)]
    assert second == [(files[0], None)]


def test_pytest_tells_of_errors_of_the_collection(tmp_path):
    session = Session([], [])
    session.testsfailed = 1
    assert SharedFolders(tmp_path).pytest_runtestloop(session) is None
