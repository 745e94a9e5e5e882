import datetime
import importlib.util
import os
import re

import onnx
import pytest
from source_files import ROOT
from straightline import TargetError, targets
from straightline.ops.schema_queries import schema_at
from straightline.targets.registry import target_of
from straightline.targets.target_file import parse
from straightline.version_converter.schemas import OLDEST, REVIEWED
from tables import table

SHIPPED = tuple(sorted(path.stem for path in (ROOT / "targets" / "shipped").glob("*.toml")))


def test_those_that_are_shipped():
    assert targets.names() == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_target_is_whole(name):
    target = targets.find(name)
    text = (ROOT / "targets/shipped" / f"{name}.toml").read_text("utf-8")
    assert parse(text, name, name) == target, "each name is in the newest onnx"
    source = target.source
    assert source.list and source.version and re.match("https://", source.url)
    assert datetime.date(2020, 1, 1) < source.date <= datetime.date.today()
    assert 7 <= target.opsets.first <= target.opsets.last <= onnx.defs.onnx_opset_version()
    assert target.standard or len(target.operators) > 25
    for operator, spans in (target.operators or {}).items():
        if "." not in operator:  # in some opset of its ranges it is there
            known = range(1, onnx.defs.onnx_opset_version() + 1)
            assert any(v in span and schema_at(operator, v) for span in spans for v in known)
    for basic in ("Add", "Mul", "MatMul", "Reshape", "Transpose", "Concat"):
        assert target.lists(basic, target.preferred_opset or 13), basic


def test_a_target_is_a_name_a_path_or_itself(tmp_path):
    tvm = targets.find("tvm")
    assert target_of(tvm) is tvm and target_of("tvm") is tvm
    file = tmp_path / "mine.toml"
    least = 'about = "a"\nopsets = [7, 13]\nlacks = []\n'
    file.write_text(least + '[source]\nlist = "l"\nversion = "1"\ndate = 2026-01-01\n')
    assert target_of(file) == target_of(str(file)) and target_of(file).name == "mine"


@table(
    ("openvin", "there is no target 'openvin'; did you mean 'openvino'?"),
    ("none.toml", "cannot read the target 'none.toml': No such file"),
    (3, "a target must be a name such as 'onnx2torch', a path or a Target, not 3"),
)
def test_unknown_targets(given, told):
    with pytest.raises(TargetError, match=re.escape(told)):
        target_of(given)


def test_opsets_of_a_list_are_joined():
    spec = importlib.util.spec_from_file_location(
        "tools_targets", ROOT / "dev" / "tools" / "targets.py"
    )
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert (
        tool.written("Pad", [[2, 10], [11, 12], [18, 18], [21, tool.NO_END]]) == "Pad 2-12 18 21-"
    )


@pytest.mark.parametrize("kind", ["pipe", "endless", "large"])
def test_only_regular_files_of_a_small_size_are_read(tmp_path, kind):
    path = tmp_path / "mine.toml"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "endless":
        path.symlink_to("/dev/zero")
    else:
        path.write_text("#" * (1 << 20 | 1))
    with pytest.raises(TargetError, match=r"not a regular file|larger than 1 MB"):
        target_of(path)


def test_the_standard_has_every_reviewed_opset():
    assert targets.find("onnx").opsets == (OLDEST, REVIEWED)
