"""The wheel that the checkout builds: everything under `straightline`, nothing beside it."""

import subprocess
import sys
import zipfile

import pytest
from source_files import ROOT, sources

FOLDERS = (ROOT / "report" / "assets", ROOT / "targets" / "shipped")
DATA = [path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in folder.iterdir()]
"""What a report's page is made of, and the lists of targets."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel built by the backend itself, from a copy, as pip does it."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for file in (*sources(), *DATA, "pyproject.toml", "README.md", "LICENSE", "py.typed"):
        copy = source / file
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((ROOT / file).read_bytes())
    program = f"from setuptools import build_meta; build_meta.build_wheel({str(folder)!r})"
    command = [sys.executable, "-c", program]
    told = subprocess.run(command, cwd=source, check=True, capture_output=True, text=True)
    assert "would be ignored" not in told.stderr, "an install would print a page of it"
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_every_module_under_straightline_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"straightline"}
    found = {name.partition("/")[2] for name in names if name.startswith("straightline/")}
    assert found == {*sources(), *DATA, "py.typed"}


def test_the_wheel_works_where_it_is_unpacked(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    program = (
        "import straightline as sl, straightline.cli.commands;"
        "m = sl.ir.parse('<ir_version: 8, opset_import: [\"\" : 17]>'"
        "' g (float x) => (float y) { y = Abs (x) }');"
        "sl.rewrite(m); print(sl.__file__)"
    )
    command = [sys.executable, "-c", program]
    environment = {"PYTHONPATH": str(tmp_path), "PYTHONSAFEPATH": "1"}
    found = subprocess.run(
        command, env=environment, cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert found.stdout.startswith(str(tmp_path))


def test_the_command_is_declared(wheel):
    archive = zipfile.ZipFile(wheel)
    (entry,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
    assert "straightline = straightline.__main__:main" in archive.read(entry).decode()
