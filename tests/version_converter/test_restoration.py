import numpy as np
import onnx
from conversions import assert_writes, converted, model, written
from harness import assert_equal
from straightline import convert_version, reference
from tables import table

LAYER = "y = LayerNormalization <axis = {}, epsilon = 0.001> (x, s, b)"
ROWS = "float[N, 5, 8] x, float[8] s, float[8] b"


def there_and_back(body, opset, below, signature, outputs="y"):
    """The nodes of a model at its own opset after a conversion down and up."""
    down = convert_version(model(body, opset, signature, outputs), below, verify=False)
    assert len(down.graph.node) > 1
    back = convert_version(down, opset, verify=False)
    return [line for line in written(back.graph) if not line.startswith("Constant")]


@table(
    ("y = Mish (x)", 18, 13, "float[N] x"),
    ("y = Gelu (x)", 20, 9, "float16[N, 3] x"),
    ('y = Gelu <approximate = "tanh"> (x)', 20, 15, "double[N, 3] x"),
    ("y = GreaterOrEqual (x, z)", 16, 9, "int64[N, 1] x, int64[3] z"),
    ("y = Range (m, n, k)", 18, 9, "int64 m, int64 n, int64 k"),
    ("y = LayerNormalization <axis = -1, epsilon = 0.5> (x, s, b)", 17, 9, ROWS),
    ("y = LayerNormalization <axis = 1, epsilon = 0.5> (x, x)", 21, 11, "float16[N, 5, 8] x"),
    ("y = RMSNormalization <axis = -2, epsilon = 0.5> (x, s)", 23, 13, ROWS),
    ("y = GroupNormalization <epsilon = 0.5, num_groups = 3> (x, s, s)", *(21, 18),
     "float[N, 6, H, W] x, float[6] s"))  # fmt: skip
def test_an_operator_comes_back(body, opset, below, signature):
    assert there_and_back(body, opset, below, signature) == [
        body.partition(" = ")[2].replace('"', "")
    ]


def test_constants_of_the_form_are_operands_again():
    body = "one = Constant <value = int32 {1}> () y = Range (m, n, one)"
    assert there_and_back(body, 18, 9, "int32 m, int32 n") == ["Range (m, n, 1)"]


def test_operators_in_bodies_and_functions_come_back():
    text = """<ir_version: 8, opset_import: ["": 18, "local": 1]> g (float[4] x, bool c) => (y) {
            m = local.F (x)
            y = If (c) <then_branch = t () => (p) { p = Mish (m) },
                        else_branch = e () => (q) { q = Neg (m) }> }
        <domain: "local", opset_import: ["": 18]> F (v) => (w) { w = Mish (v) }"""
    back = convert_version(convert_version(onnx.parser.parse_model(text), 13), 18)
    assert [n.op_type for n in back.functions[0].node] == ["Mish"]
    assert [n.op_type for n in back.graph.node[1].attribute[0].g.node] == ["Mish"]


def test_the_outputs_stay():
    before = model(LAYER.format(-1), 17, "float[2, 5, 8] x, float[8] s, float[8] b")
    rng = np.random.default_rng(0)
    sizes = {"x": (2, 5, 8), "s": 8, "b": 8}
    feeds = {name: rng.normal(size=size).astype(np.float32) for name, size in sizes.items()}
    back = convert_version(convert_version(before, 11), 17)
    for one, other in zip(reference.run(back, feeds), reference.run(before, feeds), strict=True):
        assert_equal(one, other)


def test_other_forms_stay():
    written_out = "s = Softplus (x) t = Tanh (s) y = Mul (t, x)"
    assert_writes(written_out, 13, 18, ["Softplus (x)", "Tanh (s)", "Mul (t, x)"], "float[3] x")
    exported = "e = Erf (x) one = Constant <value = float {1}> () y = Sum (e, one)"
    assert "Sum (e, one)" in converted(exported, 13, 20, "float[3] x")
    down = convert_version(model(LAYER.format(-1), 17, ROWS), 16)
    for node in down.graph.node:
        if node.op_type == "Sqrt":
            node.op_type = "Exp"
    assert "LayerNormalization" not in {n.op_type for n in convert_version(down, 17).graph.node}


def test_a_form_whose_inner_value_is_read_stays():
    down = convert_version(model("y = Mish (x)", 18, "float[3] x"), 17)
    down.graph.output.append(onnx.ValueInfoProto(name=down.graph.node[0].output[0]))
    assert len(convert_version(down, 18).graph.node) == 3


def test_the_same_opsets_change_nothing():
    """Mish is as old as opset 18: a form in a model of opset 18 is the author's."""
    assert len(converted("s = Softplus (x) t = Tanh (s) y = Mul (x, t)", 18, 21, "float[3] x")) == 3
