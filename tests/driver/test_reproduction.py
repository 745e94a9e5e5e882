import shlex

import numpy as np
import onnx
import pytest
import straightline as sl
from failing_passes import Raising
from straightline.cli.commands import app
from straightline.driver.options import RewriteOptions
from straightline.driver.reproduction import reproduction_of
from straightline.passes import InlineIfs, UnrollLoops
from tables import table
from texts import LOOP_AND_IF
from typer.testing import CliRunner


@table(
    ({}, ""),
    ({"passes": "unroll-loops{max_trips=3}"}, "--passes 'unroll-loops{max_trips=3}'"),
    ({"passes": [UnrollLoops(max_trips=3)]}, "--passes 'unroll-loops{max_trips=3}'"),
    ({"passes": [Raising()]}, None),
    ({"values": {"n": 3, "c": True}}, "--set n=3 --set c=true"),
    ({"values": {"x": np.float32([[1, 2.5]])}}, "--set 'x=[[1.0, 2.5]]'"),
    ({"values": {"x": np.array([object()])}}, None),
    ({"shapes": {"x": (1, None)}, "dims": {"T": 6}}, "--shape 'x=1,?' --dim T=6"),
    ({"dims": {"N": ">=1"}}, "--dim 'N>=1'"),
    ({"assume_max": {"y": 4}, "assume": {"i": "else"}}, "--assume-max y=4 --assume i=else"),
    ({"selects": True, "freeze_initializers": True}, "--freeze-initializers --selects"),
    ({"max_trips": 4, "keep_nan": True}, "--keep-nan --max-trips 4"),
    ({"keep_nan": False, "rewrite": False}, ""),
    ({"block_bytes": 4}, None),
    ({"target": "tract"}, "--target tract"),
    ({"target": "mine.toml", "max_work": 9}, "--target-file mine.toml --max-work 9"),
)
def test_options_are_written_as_the_command_line_takes_them(options, words):
    found = reproduction_of(onnx.ModelProto(), RewriteOptions.of(**options))
    assert found.options == (None if words is None else tuple(shlex.split(words)))
    assert (found.file, found.command) == ("", "rewrite")


def test_a_conversion_is_one():
    found = reproduction_of(onnx.ModelProto(), RewriteOptions.of(passes=(), opset=13))
    assert (found.command, found.options) == ("convert", ("--opset", "13"))


def test_the_command_of_a_fault_works(tmp_path, monkeypatch):
    """The pasted command fails for the same reason, and reduces the model."""
    monkeypatch.delenv("STRAIGHTLINE_FAULTS")
    monkeypatch.chdir(tmp_path)
    onnx.save(onnx.parser.parse_model(LOOP_AND_IF), "my model.onnx")

    def run(self, model, context):
        if any(node.is_op("If") for node in model.graph.nodes()):
            raise IndexError("no branch")
        return False

    monkeypatch.setattr(InlineIfs, "run", run)
    with pytest.warns(sl.FaultWarning, match="internal error in inline-ifs") as caught:
        sl.rewrite("my model.onnx", values={"n": 2})
    _, _, pasted = str(caught[0].message).partition("for the smallest model ")
    words = shlex.split(pasted)
    assert words[:4] == ["straightline", "reduce", "my model.onnx", "smallest.onnx"]
    again = shlex.split(words[words.index("--while") + 1].replace("{}", "'my model.onnx'"))
    result = CliRunner().invoke(app, again[1:], prog_name="straightline")
    assert result.exit_code == 1
    assert words[words.index("--match") + 1] in result.output
