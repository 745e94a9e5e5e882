"""A new pass: two files by hand, and lists that derive from its class."""

import importlib.util
import shutil
import sys

import pytest
from source_files import ROOT
from straightline.dev import new
from straightline.dev.tools import passes
from straightline.passes.manager.registry import PASSES
from tables import table


def test_derived_lists_are_up_to_date():
    again = "run python -m straightline.dev.tools.passes"
    for path, text in passes.files().items():
        assert path.read_text(encoding="utf-8") == text, again


def test_the_registry_holds_each_class_as_its_file_declares_it():
    found = [(one.kind, one.name, one.by_default) for one in passes.ordered()]
    assert found == [(kind.__name__, kind.name, kind.by_default) for kind in PASSES]


@pytest.fixture
def house(tmp_path):
    for name in ("passes", "docs/passes"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("docs/passes.md", "mkdocs.yml"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def loaded(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_a_new_pass_is_two_files_that_work_at_once(house, monkeypatch):
    files = new.new_pass("drop-twins", "simplify", house)
    places = [path.relative_to(house).as_posix() for path in files]
    assert places == ["passes/simplify/drop_twins.py", "tests/passes/simplify/test_drop_twins.py"]
    registry = (house / "passes/manager/registry.py").read_text()
    assert "from ..simplify.drop_twins import DropTwins as DropTwins\n" in registry
    page = (house / "docs/passes.md").read_text()
    example = "```text\ny = Identity (x)   ->   x\n```\n"
    assert page.endswith(f"## drop-twins\n\nOpt-in. Drop twins.\n\n{example}")
    name = "straightline.passes.simplify.drop_twins"
    monkeypatch.setitem(sys.modules, name, None)
    assert loaded(files[0], name).DropTwins().summary == "Drop twins."
    monkeypatch.setitem(sys.modules, "test_drop_twins", None)
    loaded(files[1], "test_drop_twins").test_kept_nodes()


@table(
    ("Drop_Twins", "simplify", "kebab-case"),
    ("merge-slices", "simplify", "there is a pass merge-slices"),
    ("drop-twins", "nowhere", "no folder passes/nowhere"),
)
def test_unfit_names_are_refused_and_nothing_is_written(name, family, words, house, capsys):
    before = sorted(house.rglob("*"))
    with pytest.raises(ValueError, match=words):
        new.new_pass(name, family, house)
    assert sorted(house.rglob("*")) == before
    assert new.main(["pass", name, "--family", family]) == 2
    assert words in capsys.readouterr().err
