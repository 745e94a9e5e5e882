"""Operators that are replaced by the function that defines them."""

import pytest
from conversions import assert_there_and_back, model
from straightline import convert_version, ir
from straightline.versions.function_body import function_body, instantiate_function
from straightline.versions.types import Types


@pytest.mark.parametrize(
    ("body", "output", "opset", "targets"),
    [
        ("y = HardSwish (x)", "float[2, 3]", 14, (7, 11, 13, 22)),
        ("y = Gelu (x)", "float[2, 3]", 20, (9, 13, 19)),
        ("y = Mish (x)", "float[2, 3]", 18, (9, 13, 17)),
        ("y = LayerNormalization (x, w)", "float[2, 3]", 17, (9, 13, 16)),
        ("a = Cast <to = 7> (x) y = Range (zero, seven, two)", "int64[4]", 13, (9, 10)),
    ],
)
def test_there_and_back(body, output, opset, targets):
    assert_there_and_back(body, output, opset, targets)


def test_what_an_output_that_is_not_wanted_needs_is_left_out():
    """LayerNormalization gives out the inverse of the deviation too."""
    signature = "float[2, 3] x, float[3] w"
    one = model("y = LayerNormalization (x, w)", 17, signature)
    found = convert_version(one, 16).graph.node
    read = {name for node in found for name in node.input}
    assert [node.op_type for node in found if not {*node.output} & {*read, "y"}] == []
    assert "Reciprocal" not in [node.op_type for node in found]
    outputs = "y, mean, deviation"
    three = model(f"{outputs} = LayerNormalization (x, w)", 17, signature, outputs)
    assert "Reciprocal" in [node.op_type for node in convert_version(three, 16).graph.node]


@pytest.mark.parametrize(
    ("body", "opset", "signature"),
    [
        ("y = HardSwish (x)", 14, "float[2, 3] x"),
        ("y = LayerNormalization (x, w)", 17, "float[2, 3] x, float[3] w"),
        ("y = Range (x, x, x)", 11, "int64 x"),  # a Loop that captures the step
    ],
)
def test_the_new_nodes_are_given_back_and_no_others(body, opset, signature):
    loaded = ir.load(model(f"n = Neg (x) m = Abs (n) {body.replace('(x', '(n')}", opset, signature))
    graph, types = loaded.graph, Types(loaded)
    (node,) = [node for node in graph.nodes() if node.op_type in body]
    before = set(graph.unordered_nodes())
    proto = function_body(node, opset, types)
    results, added = instantiate_function(proto, node, opset, types)
    assert len(added) == len(set(added)) and len(results) == 1
    assert set(added) == set(graph.unordered_nodes()) - before
    assert all(types.elem_type(value) for new in added for value in new.outputs)
    ir.verify(loaded)


def test_an_operator_without_a_function_has_none():
    loaded = ir.load(model("y = Conv (x, x)", 13, "float[1, 1, 3, 3] x"))
    (node,) = loaded.graph.nodes()
    assert function_body(node, 13, Types(loaded)) is None
