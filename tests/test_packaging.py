"""The wheel that the checkout builds: everything under `straightline`, nothing beside it."""

import email
import re
import subprocess
import sys
import zipfile

import pytest
from source_files import LOWEST, ROOT, sources

FOLDERS = [ROOT / name for name in ("report/assets", "targets/shipped", "passes/costs/shipped")]
DATA = [path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in folder.iterdir()]
DATA.append("cli/output_schema.json")
"""Parts of a report's page, lists of targets, costs, and the schema of --json."""


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


@pytest.mark.parametrize("checker", [("twine", "check", "--strict"), ("check_wheel_contents",)])
def test_the_wheel_is_fit_for_a_registry(wheel, checker):
    pytest.importorskip(checker[0])
    command = [sys.executable, "-m", *checker, str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_metadata_names_versions_and_extras(wheel):
    archive = zipfile.ZipFile(wheel)
    (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    metadata = email.message_from_bytes(archive.read(name))
    listed = re.findall(r"Python :: (3\.\d+)", "\n".join(metadata.get_all("Classifier")))
    assert listed == [f"3.{minor}" for minor in range(LOWEST[1], LOWEST[1] + len(listed))]
    needs = {
        line.partition(";")[0] for line in metadata.get_all("Requires-Dist") if "extra" not in line
    }
    assert not any("onnxscript" in line or "onnxruntime" in line for line in needs)
    assert {"ort", "onnxscript", "dask", "ray"} <= {*metadata.get_all("Provides-Extra")}
