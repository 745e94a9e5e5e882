from types import SimpleNamespace

import numpy as np
import onnx
import pytest
from conversions import convert_version, converted, model
from straightline import reference
from straightline.version_converter.attribute_to_input import single
from straightline.version_converter.errors import ConversionError, Refused


def test_every_form_of_an_input():
    """Lists and numbers, integers and floats, each in the rank and type that the input has."""
    for body, opset, position, wanted in (
        ("y = Upsample <scales = [1.0, 2.0]> (x)", 9, 1, np.array([1, 2], np.float32)),
        ("y = ReduceSum <axes = [1]> (x)", 13, 1, np.array([1])),
        ("y, i = TopK <k = 2> (x)", 10, 1, np.array([2])),
        ("y = DFT <axis = 2> (x)", 20, 2, np.array(2)),
        ("y = Dropout <ratio = 0.25> (x)", 12, 1, np.array(0.25, np.float32)),
        ("y = Pad <pads = [0, 0, 0, 1], value = 2.5> (x)", 11, 2, np.array(2.5, np.float32)),
    ):
        after = convert_version(model(body, opset - 1), opset)
        (node,) = after.graph.node
        held = {t.name: onnx.numpy_helper.to_array(t) for t in after.graph.initializer}
        found = held[node.input[position]]
        assert found.dtype == wanted.dtype and found.shape == wanted.shape, body
        np.testing.assert_array_equal(found, wanted)


def test_numbers_that_an_attribute_cannot_hold_stay_inputs_of_others():
    body = "v = Constant <value = double {0.1}> () y = Clip (x, v, v)"
    assert converted(body, 12, 7, "double[2] x")[-1] == "Min (y_Tile, y_Tile_1)"
    assert converted(body, 12, 8, "double[2] x")[-1] == "Min (y_Max, y_bound_1)"
    exact = "v = Constant <value = double {0.5}> () y = Clip (x, v, v)"
    assert converted(exact, 12, 7, "double[2] x")[-1] == "Clip <max = 0.5, min = 0.5> (x)"


def test_why_a_number_cannot_be_an_attribute():
    draft = SimpleNamespace(refuse=refuse)
    with pytest.raises(Refused, match=r"'min' = 0\.1 is not exact as a 32-bit float"):
        single(draft, "min", np.array(0.1))
    assert single(draft, "min", np.array([0.5])) == 0.5


def refuse(reason):
    raise Refused(reason)


def bounded(constant: str, body: str, opset: int) -> onnx.ModelProto:
    return onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["": {opset}]>
        g (double[2] x) => (double[N] y)
        <double c = {{{constant}}}, int64[2] p = {{1, 0}}> {{ {body} }}""")


MOVED_FLOATS = {
    "min": ("y = Clip (x, c, c)", 13, 10),
    "max": ("y = Clip (x, c, c)", 11, 7),
    "value": ("y = Pad (x, p, c)", 13, 10),
}


INEXACT = ["0.1", "16777217", "1e300", "1e-300", "0.30000001192092901"]


@pytest.mark.parametrize("case", ["min", "max"])
@pytest.mark.parametrize("constant", INEXACT)
def test_a_double_that_no_float_is_does_not_become_an_attribute(case: str, constant: str) -> None:
    body, opset, _ = MOVED_FLOATS[case]
    before = bounded(constant, body, opset)
    after = convert_version(before, 10)
    assert "Clip" not in {node.op_type for node in after.graph.node}
    x = {"x": np.array([float(constant) - 1, np.nextafter(float(constant), 0)])}
    np.testing.assert_array_equal(reference.run(after, x), reference.run(before, x))


@pytest.mark.parametrize("constant", INEXACT)
def test_a_double_that_no_float_is_is_joined_where_it_would_be_padded(constant: str) -> None:
    body, opset, target = MOVED_FLOATS["value"]
    after = convert_version(bounded(constant, body, opset), target)
    assert "Pad" not in {node.op_type for node in after.graph.node}
    (found,) = reference.run(after, {"x": np.array([1.0, 2.0])})
    assert found.tolist() == [float(constant), 1.0, 2.0]


@pytest.mark.parametrize("case", MOVED_FLOATS)
@pytest.mark.parametrize(
    "constant", ["0.5", "-16777216", "0.300000011920928955078125", "inf", "-inf", "nan", "-0.0"]
)
def test_a_double_that_is_a_float_becomes_an_attribute(case: str, constant: str) -> None:
    body, opset, target = MOVED_FLOATS[case]
    before = bounded("0", body, opset)
    value = np.array(float(constant))
    before.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(value, "c"))
    after = convert_version(before, target)
    onnx.checker.check_model(after, full_check=True)
    (node,) = [n for n in after.graph.node if n.op_type in ("Clip", "Pad")]
    (attribute,) = [a for a in node.attribute if a.name == case]
    if np.isnan(value) and node.op_type == "Clip":  # a bound that runtimes ignore
        value = np.array({"min": -np.inf, "max": np.inf}[case])
    assert np.array(attribute.f, np.float64).tobytes() == value.tobytes()


def test_an_attribute_does_not_take_any_number_of_numbers():
    body = """n = Constant <value_ints = [300000000]> ()
        a = ConstantOfShape <value = int64[1] {0}> (n)
        y = Unsqueeze (x, a)"""
    small = body.replace("300000000", "100000")
    for one in (body, small):
        with pytest.raises(ConversionError, match=r"holds 100000 numbers|computed at run time"):
            converted(one, 13, 12)
