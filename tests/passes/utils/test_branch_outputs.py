import numpy as np
import onnx
import pytest
import straightline as sl
from harness import assert_equal_outputs

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x, bool c) => (float[2] y, float[2] z) {
    u = Exp (x) z = Identity (u) w = Identity (u)
    y = If (c) <then_branch = t () => (float[2] a) BRANCH,
                else_branch = e () => (float[2] b) { b = Neg (w) }> }"""
BRANCHES = {
    "an initializer": "<float[2] a = {1, 2}> {}",
    "a Constant": "{ a = Constant <value = float[2] {1, 2}> () }",
    "computed": "<float[2] k = {1, 2}> { a = Neg (k) }",
}


@pytest.mark.parametrize("name", BRANCHES)
def test_a_branch_ends_in_a_node(name):
    before = onnx.parser.parse_model(TEXT.replace("BRANCH", BRANCHES[name]))
    result = sl.transform(before)
    (construct,) = (node for node in result.model.graph.node if node.op_type == "If")
    (then,) = (a.g for a in construct.attribute if a.name == "then_branch")
    assert [node.op_type for node in then.node] == [
        "Constant" if name == "a Constant" else "Identity"
    ]
    assert result.verdict.proved
    for c in (True, False):
        feeds = {"x": np.float32([1, -2]), "c": np.array(c)}
        assert_equal_outputs(before, result.model, feeds)
    assert not sl.transform(result.model).changed


def test_a_model_that_nothing_changes_keeps_its_branches():
    text = TEXT.replace("w = Identity (u)", "").replace("z = Identity (u)", "z = Neg (u)")
    before = onnx.parser.parse_model(
        text.replace("BRANCH", BRANCHES["an initializer"]).replace("Neg (w)", "Neg (u)")
    )
    assert sl.rewrite(before) == before


@pytest.mark.parametrize("passes", [None, "simplify", "accelerate"])
def test_equal_initializers_are_merged(passes):
    branch = (
        """<float[2] a = {1, 2}, float[2] b = {1, 2}, float[2] k = {1, 2}> { d = Mul (w, k) }"""
    )
    text = TEXT.replace("y = If", "y, v, s = If").replace(
        "(float[2] a) BRANCH", f"(a, b, d) {branch}"
    )
    text = text.replace(
        "(float[2] b) { b = Neg (w) }", "(b, e, f) { b = Neg (w) e = Abs (w) f = Exp (w) }"
    )
    before = onnx.parser.parse_model(
        text.replace("float[2] z)", "float[2] z, float[2] v, float[2] s)")
    )
    after = sl.rewrite(before, passes)
    assert sl.rewrite(after, passes) == after
    (construct,) = (node for node in after.graph.node if node.op_type == "If")
    (then,) = (a.g for a in construct.attribute if a.name == "then_branch")
    assert len(then.initializer) == 1
    assert sorted(node.op_type for node in then.node) == ["Identity", "Identity", "Mul"]
    for c in (True, False):
        assert_equal_outputs(before, after, {"x": np.float32([1, -2]), "c": np.array(c)})
