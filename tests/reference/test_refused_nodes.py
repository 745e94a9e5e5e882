import onnx
import pytest
from backend import CASES
from proofs import model as parse
from sessions import open_session
from straightline.reference.refused_nodes import refused_node
from tables import table


def model(text):
    proto = parse(text, opset=17)
    proto.ir_version = 8
    proto.opset_import.add(domain="com.microsoft", version=1)
    return proto


HEAD = "g (float[2, 3] x, float[2, 4] z, float[2] p, bool q, int64 n) => (float[a] y)"
PLACES = {
    "main": "{form} y = Neg (p)",
    "branch": "y = If (q) <then_branch = t () => (u) {{ u = Neg (p) }},"
    " else_branch = e () => (v) {{ {form} v = Identity (p) }}>",
    "loop": "y = Loop (n, , p) <body = b (int64 i, bool c, r) => (c2, r2)"
    " {{ {form} c2 = Identity (c) r2 = Neg (r) }}>",
    "scan": "y, o = Scan <num_scan_inputs = 1, body = b (r, e) => (r2, f)"
    " {{ {form} r2 = Neg (r) f = Neg (e) }}> (p, p)",
    "function": "y = local.f (p, x, z)",
}


def loads(proto):
    try:
        open_session(proto)
    except Exception:  # noqa: BLE001 - whatever it raises says that it does not
        return False
    return True


@pytest.mark.parametrize("place", PLACES)
@table(
    ("Add", "w = Add (x, z)"),
    ("Concat", "w = Concat <axis = 0> (x, z)"),
    ("Expand", "s = Constant <value_ints = [2, 4]> () w = Expand (x, s)"),
    ("Flatten", "w = Flatten <axis = 3> (x)"),
    ("Gemm", "w = Gemm (x, z)"),
    ("MatMul", "w = MatMul (x, z)"),
    ("Squeeze", "s = Constant <value_ints = [0]> () w = Squeeze (x, s)"),
    ("Transpose", "w = Transpose <perm = [0, 2, 1]> (x)"),
)
def test_operands_that_do_not_fit_are_found_where_they_need_not_run(form, nodes, place):
    text = f"{HEAD} {{ {PLACES[place].format(form=nodes)} }}"
    if place == "function":
        text += '<domain: "local", opset_import: ["" : 17]> f (p, x, z) => (y)'
        text += f"{{ {nodes} y = Neg (p) }}"
    proto = model(text)
    assert not loads(proto)
    assert refused_node(proto).startswith(f"onnx's shape inference refuses {form} 'w': ")


@table(
    "y = Neg (x)",
    "y = Loop (n, , p) <body = b (int64[1] i, bool[1] c, float[5] r) => (c2, float[6] r2)"
    " { c2 = Identity (c) r2 = Neg (r) }>",
    "y = Loop (n, , x) <body = b (int64 i, bool c, float[1] r) => (c2, float[1] r2)"
    " { c2 = Identity (c) r2 = Concat <axis = 0> (r, r) }>",
    "y = If (q) <then_branch = t () => (float[4] u) { u = Neg (p) },"
    " else_branch = e () => (float[2, 2, 2] v) { v = Neg (x) }>",
    "k = com.microsoft.Gelu (p)"
    " y = Scan <num_scan_inputs = 1, body = b (e) => (f) { f = Neg (e) }> (k)",
)
def test_declared_sizes_and_unknown_operators_are_not_refused(nodes):
    proto = model(f"{HEAD} {{ {nodes} }}")
    assert loads(proto)
    assert not refused_node(proto)


def test_bins_of_a_transform_without_its_attribute():
    """onnx infers all eight of them."""
    proto = model(
        """g (float[1, 16, 1] x) => (float[a, b, c, 2] y) <int64 s = {4}, int64 n = {8},
            float[5, 1] k = {1, 2, 3, 4, 5}> { t = STFT (x, s, , n) y = Mul (t, k) }"""
    )
    assert loads(proto) and not refused_node(proto)


def test_an_invalid_definition_of_an_operator_is_not_the_fault_of_the_model():
    text = "g (float[1, 2, 3, 4] x) => (y) { y = MeanVarianceNormalization (x) }"
    assert not refused_node(model(text))


def test_the_name_of_an_outer_value_may_be_that_of_another_value_in_a_body():
    body = "y = If (q) <then_branch = t () => (u) {{ x = Neg (p) u = Add (x, {}) }}, else_branch"
    body += " = e () => (u) {{ w = Neg (z) x = Neg (p) u = Add (x, p) }}> w = Add (x, {})"
    assert not refused_node(model(f"{HEAD} {{ {body.format('p', 'x')} }}"))
    fault = refused_node(model(f"{HEAD} {{ {body.format('z', 'x')} }}"))
    assert fault == "onnx's shape inference refuses Add 'u': Incompatible dimensions"
    fault = refused_node(model(f"{HEAD} {{ {body.format('p', 'z')} }}"))
    assert fault == "onnx's shape inference refuses Add 'w': Incompatible dimensions"


def test_data_in_files_is_not_asked_for():
    proto = model(
        "g (float[2, 3] x) => (y) { s = Constant <value_ints = [4]> () y = Expand (x, s) }"
    )
    assert refused_node(proto)
    value = onnx.helper.make_tensor("s", onnx.TensorProto.INT64, [1], [4])
    proto.graph.node[0].attribute[0].CopyFrom(onnx.helper.make_attribute("value", value))
    tensor = proto.graph.node[0].attribute[0].t
    tensor.ClearField("int64_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.bin")
    assert not refused_node(proto)


def test_no_model_of_onnx_with_control_flow_is_refused():
    assert not any(refused_node(case.model) for case in CASES)
