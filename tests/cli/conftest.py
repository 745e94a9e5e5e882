import pytest
from straightline.cli.commands import app
from typer.testing import CliRunner


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run():
    """Run a command with arguments."""
    return lambda *arguments: CliRunner().invoke(app, [str(a) for a in arguments])
