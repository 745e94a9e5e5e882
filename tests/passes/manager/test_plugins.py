import importlib
import os
import sys

import onnx
import pytest
import straightline as sl
from straightline.definitions import registry
from straightline.definitions.pattern import RuleError
from straightline.passes import Pass, PassOptionError, PluginError, load_file, parse_pipeline
from straightline.passes.manager import plugins as outside
from straightline.passes.manager.plugins import describe_passes
from tables import table

PASS = '''
import dataclasses
from typing import ClassVar
from straightline.passes import Pass

@dataclasses.dataclass(frozen=True)
class Mine(Pass):
    """Do nothing at all."""

    name: ClassVar[str] = "mine"
    most: int = 3
    label: str = "x"
    ratio: float = 0.5
    careful: bool = True

    def run(self, model, run):
        return False
'''


@pytest.fixture(autouse=True)
def nothing_loaded(monkeypatch):
    monkeypatch.setattr(outside, "_loaded", {})
    monkeypatch.setattr(outside, "_defining", {})
    known = set(sys.modules)
    yield
    for name in set(sys.modules) - known:
        if name.startswith("straightline_file_"):
            del sys.modules[name]


@pytest.fixture
def write(tmp_path):
    def written(text, name="plugin.py"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return written


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Make a package that is installed, as far as importlib can tell."""

    def installed(entries, text=PASS, package="givers"):
        site = tmp_path / package
        info = site / f"{package}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{outside.GROUP}]\n{entries}\n")
        (site / f"{package}.py").write_text(text)
        monkeypatch.syspath_prepend(site)
        monkeypatch.delitem(sys.modules, package, raising=False)
        importlib.invalidate_caches()

    return installed


def test_a_file_gives_its_passes(write):
    (kind,) = load_file(write(PASS))
    assert issubclass(kind, Pass) and kind.name == "mine"
    assert sl.passes.load_file is load_file
    (made,) = parse_pipeline("mine{most=5,label=left,ratio=0.25,careful=false}").passes
    assert made == kind(5, "left", 0.25, False)
    assert str(made) == "mine{most=5,label=left,ratio=0.25,careful=False}"
    (shared,) = parse_pipeline("mine", most=7).passes
    assert shared == kind(7)


@pytest.mark.parametrize("text", ["most=x", "ratio=x", "careful=x", "depth=1"])
def test_options_are_checked_like_all_others(write, text):
    load_file(write(PASS))
    with pytest.raises(PassOptionError, match="mine"):
        parse_pipeline(f"mine{{{text}}}")


def test_a_file_may_be_loaded_again(write):
    load_file(write(PASS))
    load_file(write(PASS.replace("most: int = 3", "most: int = 4")))
    assert parse_pipeline("mine").passes[0].most == 4
    load_file(write(PASS.replace('"mine"', '"yours"')))
    with pytest.raises(PassOptionError, match="no pass 'mine'"):
        parse_pipeline("mine")
    assert outside.names() == ["yours"]


def test_bytecode_of_an_earlier_text_is_not_run(write, monkeypatch):
    """A file of the same length, changed within a second; none is left beside it either."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for most in (3, 4):
        path = write(PASS.replace("most: int = 3", f"most: int = {most}"))
        os.utime(path, (1_700_000_000, 1_700_000_000))
        load_file(path)
        assert parse_pipeline("mine").passes[0].most == most
    assert not list(path.parent.glob("__pycache__"))


def test_a_file_may_hold_no_pass(write):
    assert load_file(write("from straightline.passes import InlineIfs\nx = 1")) == ()


def test_base_classes_are_no_passes(write):
    text = PASS.replace("class Mine(Pass)", "class Base(Pass):\n    pass\n\nclass Mine(Base)")
    text = text.replace("@dataclasses.dataclass(frozen=True)\nclass Base", "class Base")
    assert [kind.name for kind in load_file(write(text))] == ["mine"]


@table(
    ("x = 1 / 0", r"plugin.py' cannot be loaded: line 1: ZeroDivisionError: division by zero"),
    ("import no_such_module", "line 1: ModuleNotFoundError: No module named 'no_such_module'"),
    ("x = 1\ndef f(:", "line 2: SyntaxError"),
    ("raise SystemExit(3)", "line 1: SystemExit"),
    (PASS.replace('"mine"', '"inline-ifs"'), "'inline-ifs' is a pass of straightline"),
    (PASS.replace('"mine"', '"selects"'), "'selects' is a pass of straightline"),
    (PASS.replace('"mine"', '"My Pass"'), "Mine needs a name such as .*, not 'My Pass'"),
    (PASS.replace('    name: ClassVar[str] = "mine"\n', ""), "Mine needs a name .*, not None"),
    (PASS.replace("most: int = 3", "most: int"), "'mine' cannot be made: .*needs a default"),
    (PASS + PASS.replace("class Mine", "class Other"), "has two passes of the name 'mine'"),
)
def test_a_faulty_file_is_reported_in_a_line(text, words, write):
    with pytest.raises(PluginError, match=words) as caught:
        load_file(write(text))
    assert "\n" not in str(caught.value)
    assert outside.names() == []
    assert not [name for name in sys.modules if "cannot" in name]


@pytest.mark.parametrize("name", ["none.py", "folder.py", "none.txt", "\0.py"])
def test_objects_that_are_no_file(tmp_path, name):
    (tmp_path / "folder.py").mkdir()
    with pytest.raises(PluginError, match="is not an existing Python file"):
        load_file(str(tmp_path / name))


def test_a_file_of_another_suffix_holds_definitions(tmp_path):
    file = tmp_path / "acme.txt"
    file.write_text("before (x) => (y) { y = a.B (x) }\nafter (x) => (y) { y = Neg (x) }")
    assert load_file(file) == () and file in outside.loaded_files()
    assert registry.forget("a.B") is None
    file.write_text(PASS)
    with pytest.raises(RuleError, match="write 'before'"):
        load_file(file)


def test_two_files_cannot_give_one_name(write):
    load_file(write(PASS, "one.py"))
    with pytest.raises(PluginError, match=r"two\.py': the pass 'mine' is also one of '.*one\.py'"):
        load_file(write(PASS, "two.py"))


# Installed packages


def test_an_installed_pass_is_found_by_its_name(install):
    install("mine = givers:Mine")
    assert "givers" not in sys.modules
    parse_pipeline("inline-ifs")
    assert "givers" not in sys.modules
    (made,) = parse_pipeline("mine{most=9}").passes
    assert (made.name, made.most) == ("mine", 9)
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float x) => (float y) { y = Neg (x) }'
    )
    assert sl.transform(model, "mine").verdict.proved


def test_a_wrong_name_is_told_with_those_of_plugins(install):
    install("mine = givers:Mine")
    with pytest.raises(PassOptionError, match="no pass 'mined'; did you mean 'mine'"):
        parse_pipeline("mined")
    assert "givers" not in sys.modules


def test_a_wrong_option_of_a_plugin_is_told_with_the_right_one(write):
    load_file(write(PASS))
    with pytest.raises(PassOptionError, match="did you mean 'careful'"):
        parse_pipeline("mine{carefull=true}")


@table(
    ("mine = givers:Mine", "import no_such_module", "givers, 'givers:Mine' cannot be loaded: Mo"),
    ("mine = givers:Other", PASS, "'mine' of givers, .* AttributeError"),
    ("mine = givers:dataclasses", PASS, "is not a pass: it does not derive from"),
    ("other = givers:Mine", PASS, "registers the pass 'mine' as 'other'; use one name"),
    ("mine = givers:Mine", PASS.replace("most: int = 3", "most: int"), "cannot be made"),
)
def test_a_faulty_package_is_reported(entries, text, words, install):
    install(entries, text)
    name = entries.split(" ")[0]
    with pytest.raises(PluginError, match=words):
        parse_pipeline(name)
    (row,) = [row for row in describe_passes() if row["name"] == name]
    assert row["summary"].startswith("not usable: ")


def test_two_packages_cannot_give_one_name(install):
    install("mine = givers:Mine")
    install("mine = donors:Mine", package="donors")
    with pytest.raises(PluginError, match=r"'mine' is registered by .* and by "):
        parse_pipeline("mine")


def test_the_list_of_passes_has_them(install, write):
    install("mine = givers:Mine")
    load_file(write(PASS.replace('"mine"', '"yours"')))
    rows = {row["name"]: row for row in describe_passes()}
    for name in ("mine", "yours"):
        assert rows[name]["summary"] == "Do nothing at all."
        assert {"name": "most", "default": 3} in rows[name]["options"]
        assert not rows[name]["default"]
