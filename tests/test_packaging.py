"""The wheel that the checkout builds: everything under `straightline`, nothing beside it."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NOT_INSTALLED = ("benchmarks", "docs", "examples", "tests", "tools")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel built by the backend itself, from a copy, as pip does it."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    sources = [p for p in ROOT.rglob("*.py") if not is_hidden(p) and p.parts[-1] != "setup.py"]
    others = [ROOT / "pyproject.toml", ROOT / "README.md", ROOT / "py.typed"]
    for path in [*sources, *others]:
        copy = source / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    program = f"from setuptools import build_meta; build_meta.build_wheel({str(folder)!r})"
    subprocess.run([sys.executable, "-c", program], cwd=source, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def is_hidden(path):
    parts = path.relative_to(ROOT).parts
    return any(part.startswith(".") for part in parts) or parts[0] in ("build", "dist")


def test_the_wheel_holds_every_module_under_straightline_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"straightline"}
    found = {name.partition("/")[2] for name in names if name.startswith("straightline/")}
    expected = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if not is_hidden(path) and path.relative_to(ROOT).parts[0] not in NOT_INSTALLED
    }
    assert found == {*expected, "py.typed"}


def test_the_wheel_works_where_it_is_unpacked(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    program = (
        "import straightline as sl, straightline.cli;"
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
