import itertools

import numpy as np
import onnx
import pytest
from sample_rules import DoubleNeg, Joined, Scaled
from spelled import model
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes.simplify.rules.rule import Rule
from straightline.passes.simplify.rules.worklist import Driver, index_of

X = "(float[N, 3] x) => (y)"


def driven(nodes, *rules, signature=X, opset=17):
    """The loaded model after rules, and the names of those that were applied."""
    source = nodes if isinstance(nodes, onnx.ModelProto) else model(nodes, opset, signature)
    loaded, names = ir.load(source), []
    observe = lambda rule, node, path: names.append((rule.name, path))  # noqa: E731
    Driver(loaded, rules, ShapeInference(loaded), observe).run()
    ir.verify(loaded)
    return loaded, names


def ops(loaded):
    return [node.op_type for node in loaded.graph.nodes()]


def test_rules_apply_until_none_does():
    chain = "a = Exp (x) " + " ".join(
        f"{v} = Neg ({u})" for u, v in zip("abcdefg", "bcdefgy", strict=True)
    )
    loaded, names = driven(f"{{ {chain} }}", DoubleNeg())
    assert ops(loaded) == ["Exp", "Neg"]
    assert len(names) == 3 and {name for name, _ in names} == {"double-neg"}


def test_an_inner_value_with_another_reader_stays():
    loaded, names = driven("{ e = Exp (x) t = Neg (e) u = Neg (t) y = Add (u, t) }", DoubleNeg())
    assert ops(loaded) == ["Exp", "Neg", "Add"] and len(names) == 1


@pytest.mark.parametrize("outputs", ["(t, y)", "(y, t)"])
def test_an_inner_value_that_is_an_output_stays(outputs):
    text = "{ t = Concat <axis = 0> (x, x) y = Concat <axis = 0> (x, t) }"
    loaded, names = driven(text, Joined(), signature=f"(float[N, 3] x) => {outputs}")
    assert len(loaded.graph) == 2 and not names


def test_an_output_that_would_be_an_input_stays():
    assert driven("{ t = Neg (x) y = Neg (t) }", DoubleNeg())[1] == []


def test_bodies_and_functions_with_what_they_capture():
    text = """<ir_version: 8, opset_import: ["" : 17, "f" : 1]> g (float[3] x, bool c) => (y) {
        t = Neg (x)
        e = If (c) <then_branch = a () => (float[3] r) { u = Neg (t) r = Exp (u) },
                    else_branch = b () => (float[3] s) { s = Neg (t) }>
        y = f.h (e) }
    <domain: "f", opset_import: ["" : 17]>
    h (a) => (b) <float[3] s> { s = Neg (a) t = Neg (s) b = Exp (t) }"""
    loaded, names = driven(onnx.parser.parse_model(text), DoubleNeg())
    assert sorted(path for _, path in names) == ["e/u", "f::h/t"]
    nodes = [[n.op_type for n in graph.nodes()] for graph in loaded.graphs()]
    assert ["Exp"] in nodes and nodes.count(["Exp"]) == 2


def test_constants_of_a_rule_are_folded():
    text = """<float[3, 2] w = {1, 2, 3, 4, 5, 6}, float[2] s = {2, 4}> {
        t = MatMul (x, w) y = Mul (t, s) }"""
    loaded, _ = driven(text, Scaled())
    assert ops(loaded) == ["MatMul"]
    folded = loaded.graph.nodes()[0].input(1).constant.numpy()
    np.testing.assert_array_equal(folded, [[2, 8], [6, 16], [10, 24]])


def test_a_large_constant_that_others_read_is_not_copied():
    w = onnx.numpy_helper.from_array(np.ones((3, 1000), np.float32), "w")
    s = onnx.numpy_helper.from_array(np.ones(1000, np.float32), "s")
    source = model(
        "{ t = MatMul (x, w) y = Mul (t, s) z = MatMul (x, w) }",
        17,
        "(float[N, 3] x, float[3, 1000] w, float[1000] s) => (y, z)",
    )
    del source.graph.input[1:]
    source.graph.initializer.extend([w, s])
    assert driven(source, Scaled())[1] == []


def test_rules_that_the_opset_lacks_are_not_indexed():
    class ToGelu(Rule):
        before = "(x) => (y) { t = Erf (x)  y = Neg (t) }"
        after = "(x) => (y) { y = Gelu (x) }"

    assert index_of((ToGelu(),), 19).of("Neg") == {} and index_of((ToGelu(),), 20).of("Exp") is None
    assert index_of((ToGelu(),), 20).of("Neg").keys() == {"Erf"}


def test_other_rules_cost_a_node_nothing():
    """A node meets only rules of its operator and of those that produce its operands."""
    many = [
        type(
            f"R{n}",
            (Rule,),
            {"before": f"(x) => (y) {{ t = {op} (x) y = Neg (t) }}", "after": "(x) => (x)"},
        )()
        for n, op in enumerate(("Exp", "Log", "Sin") * 100)
    ]
    matchers = index_of((*many, DoubleNeg()), 17).of("Neg")
    assert len(matchers["Neg"]) == 1 and len(matchers) == 4


def test_a_long_chain():
    count = 3000
    values = ["x", *(f"v{n}" for n in range(count)), "y"]
    nodes = [onnx.helper.make_node("Neg", [a], [b]) for a, b in itertools.pairwise(values)]
    infos = [onnx.helper.make_tensor_value_info(n, 1, ["N"]) for n in "xy"]
    graph = onnx.helper.make_graph(nodes, "g", infos[:1], infos[1:])
    source = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8
    )
    loaded, names = driven(source, DoubleNeg())
    assert len(loaded.graph) == 1 and len(names) == count // 2
