import itertools

import numpy as np
import onnx
import pytest
import straightline as sl
from reference_oracle import assert_as_onnxruntime
from sessions import open_session
from straightline import reference
from straightline.reference.argument_types import Calls, common_type
from straightline.verification.proof import prove
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : 18, "my" : 1]>\n'
FUNCTION = """<domain: "my", opset_import: ["" : 18, "my" : 1]> F <axes> (p, k, n) => (y) {{
  on = Constant <value = bool {{1}}> ()
  y = Loop (n, on) <body = b (int64 i, bool c) => (bool d, s) {{ d = Identity (c) {} }}> }}"""
MAIN = """g (float[2, 3] x, float[M, 3] z, float[4] v, int64 n) => ({})
  <int64[1] k = {{1}}> {{ {} }}"""
FEEDS = {
    "x": np.ones((2, 3), np.float32),
    "z": np.ones((5, 3), np.float32),
    "v": np.ones(4, np.float32),
    "n": np.array(0),
}
INNER = '<domain: "my", opset_import: ["" : 18]> G (q) => (r) { r = Transpose (q) }'


def _model(node: str, outputs: str, calls: str) -> onnx.ModelProto:
    text = HEAD + MAIN.format(outputs, calls) + FUNCTION.format(node) + "\n" + INNER
    return onnx.parser.parse_model(text)


def _call(argument: str, out: str) -> str:
    return f"{out} = my.F <axes = [0]> ({argument}, k, n)"


@table(
    ("a size of an argument", "s = Neg (p)", (2, 3)),
    ("a constant argument", "s = Unsqueeze (p, k)", (2, 1, 3)),
    ("an attribute", "a = Constant <value_ints : ints = @axes> () s = Unsqueeze (p, a)", (1, 2, 3)),
    ("an inner call", "s = my.G (p)", (3, 2)),
)
def test_sizes_follow_from_the_arguments_of_the_call(case, node, shape):
    model = _model(node, "y", _call("x", "y"))
    (found,) = reference.run(model, FEEDS)
    assert found.shape == (0, *shape)
    assert_as_onnxruntime(model, FEEDS)
    rewrite = sl.rewrite(model, verify=False)
    assert reference.run(rewrite, FEEDS)[0].shape == found.shape
    assert open_session(rewrite).run(None, FEEDS)[0].shape == found.shape


def test_calls_that_agree_on_some_sizes():
    model = _model("s = Neg (p)", "y, w", _call("x", "y") + _call("z", "w"))
    assert [each.shape for each in reference.run(model, FEEDS)] == [(0, 0, 3)] * 2


CONSTANT = FUNCTION.replace("{{1}}", "{{0}}").format("s = Transpose (p)")


@pytest.mark.parametrize("second", ["", _call("z", "w"), _call("v", "w")])
def test_a_loop_that_never_runs_has_the_sizes_of_each_call(second):
    outputs = "y, w" if second else "y"
    model = onnx.parser.parse_model(
        HEAD + MAIN.format(outputs, _call("x", "y") + second) + CONSTANT
    )
    rewrite = sl.rewrite(model, verify=False)
    assert all(node.op_type != "Loop" for node in rewrite.graph.node) and not rewrite.functions
    runs = [open_session(each).run(None, FEEDS) for each in (model, rewrite)]
    assert [each.shape for each in runs[0]] == [each.shape for each in runs[1]]


def test_one_call_is_proved():
    model = onnx.parser.parse_model(HEAD + MAIN.format("y", _call("x", "y")) + CONSTANT)
    assert prove(model, sl.rewrite(model, verify=False)).status == "proved"
    wrong = HEAD + MAIN.format("y", "y = Constant <value = float[0] {}> ()")
    assert prove(model, onnx.parser.parse_model(wrong)).status != "proved"


def test_a_long_chain_of_calls():
    names = [f"F{k}" for k in range(3000)]
    functions = [
        onnx.helper.make_function(
            "my", name, ["a"], ["b"], [onnx.helper.make_node(inner, ["a"], ["b"], domain="my")], []
        )
        for name, inner in itertools.pairwise(names)
    ]
    calls = Calls(functions)
    calls.read(
        onnx.helper.make_graph(
            [onnx.helper.make_node("F0", ["x"], ["y"], domain="my")], "g", [], []
        )
    )
    assert [instance.function.name for instance in calls] == ["F0"]


def test_types_of_other_ranks_have_no_shape():
    one, other = (onnx.helper.make_tensor_type_proto(1, s).tensor_type for s in ([2], [2, 3]))
    assert not common_type(one, other).HasField("shape")
    assert common_type(one, one) == one
