import onnx
import pytest
from conversions import assert_refuses, assert_writes, converted, model, written
from straightline import convert_version, ir
from straightline.analysis.constants.folding import Folder
from straightline.ops.schema_queries import schema_at
from straightline.version_converter import ConversionError
from straightline.version_converter.conformance import conform
from straightline.version_converter.constants import Constants
from straightline.version_converter.errors import Refused
from straightline.version_converter.node_draft import NodeDraft
from straightline.version_converter.types import Types
from tables import table

# Attributes ---------------------------------------------------------------------------------------


def test_an_attribute_that_says_its_default_is_dropped():
    pool = "AveragePool <kernel_shape = [2], {}> (x)"
    signature = "float[1, 1, 4] x"
    wanted = ["AveragePool <kernel_shape = [2]> (x)"]
    for how in ("ceil_mode = 0", "dilations = [1]"):
        source = 10 if how.startswith("ceil") else 19
        assert_writes(f"y = {pool.format(how)}", source, source - 1, wanted, signature)


@table(
    ("AveragePool <kernel_shape = [3], dilations = [9]> (x)", 19,
     r"attribute 'dilations' = \[9\] does not exist in opset 18"),
    ("AveragePool <kernel_shape = [1], strides = [9], ceil_mode = 1> (x)", 10,
     "attribute 'ceil_mode' = 1 does not exist in opset 9"),
)  # fmt: skip
def test_one_that_says_something_else_is_refused(node, source, reason):
    assert_refuses(f"y = {node}", source, source - 1, reason, "float[1, 1, 4] x")


def test_a_default_that_changes_is_written_out():
    """GridSample 20 renames its default; Hardmax 13 takes another axis."""
    assert_writes("y = Hardmax (x)", 12, 13, ["Hardmax <axis = -1> (x)"])
    assert_writes("y = Hardmax (x)", 13, 12, ["Hardmax <axis = -1> (x)"], "float[2] x")


def test_a_value_that_came_later_is_refused_downwards_only():
    wrap = 'Pad <mode = "wrap"> (x, p)'
    signature = "float[2] x, int64[2] p"
    assert_refuses(f"y = {wrap}", 19, 18, "mode = 'wrap' does not exist in opset 18", signature)
    assert_writes(f"y = {wrap}", 19, 21, ["Pad <mode = wrap> (x, p)"], signature)


# Inputs and outputs -------------------------------------------------------------------------------


def test_inputs_that_are_absent_are_written_where_they_stand_before_others():
    assert_writes("y = Clip (x, , m)", 12, 13, ["Clip (x, , m)"], "float[2] x, float m")


def test_an_output_that_the_version_lacks_must_not_be_used():
    signature = "float[1, 1, 4] x"
    node = "MaxPool <kernel_shape = [2]> (x)"
    assert_writes(f"y, i = {node}", 8, 7, [node], signature)
    reason = "its output 1 is used and does not exist in opset 7"
    assert_refuses(f"i, y = {node}", 8, 7, reason, signature)


# Types --------------------------------------------------------------------------------------------


def test_a_type_that_is_not_known_passes():
    proto = model("t = com.example.Odd (x) y = Relu (t)", 13)
    proto.opset_import.add(domain="com.example", version=1)
    assert written(convert_version(proto, 12).graph)[-1] == "Relu (t)"


@table(("QuantizeLinear (h, f)", 23, 22, "x is a tensor.float16. and y_scale a tensor.float."))
def test_types_that_must_be_one_in_the_version_are_so_or_it_is_refused(
    node, source, target, reason
):
    signature = "float16[2, 3] h, float16[3] g, float[3] f, float[2, 3] x"
    own = node.replace("h, h, h", "h, g, g")
    with pytest.raises(ConversionError, match=reason):
        converted(f"y = {own}", source, target, signature)
    alike = own.replace("(h", "(x").replace("g", "f")
    after = convert_version(model(f"y = {alike}", source, signature), target)
    onnx.shape_inference.infer_shapes(after, check_type=True, strict_mode=True)


def test_operands_of_which_some_are_not_known_pass():
    assert_writes("y = Max (x, z)", 13, 12, ["Max (x, z)"], "float[2] x, z")


def test_inputs_that_may_differ_do():
    body = (
        "a, y = Loop (n, c, x, z) <body = b (int64 i, bool d, float[2] p, int32[2] q)"
        " => (bool e, float[2] r, int32[2] s) { e = Identity (d) r = Neg (p) s = Neg (q) }>"
    )
    (line,) = converted(body, 13, 12, "int64 n, bool c, float[2] x, int32[2] z")
    assert line.startswith("Loop")


@table(
    ("y = Relu (x)", 10, ("TopK", 9), "opset 9 requires its attribute 'k'"),
    ("y = Relu (x)", 10, ("Where", 9), "opset 9 requires its input 'X'"),
    ("y = Add (x, x)", 10, ("Relu", 9), "input 'B' does not exist in opset 9"),
    ("y = SequenceEmpty ()", 12, ("Sum", 8), "requires at least one input 'data_0'"),
)
def test_new_requirements_of_schemas_are_noticed(body, source, other, reason):
    """No operator has come to want these yet without an adapter; one may."""
    loaded = ir.load(model(body, source, "float[2] x"))
    (node,) = loaded.graph.nodes()
    types = Types(loaded)
    draft = NodeDraft(node, source, other[1], types, Constants(types, Folder(loaded)))
    with pytest.raises(Refused, match=reason):
        conform(draft, schema_at(*other))


def test_an_optional_input_that_is_required_below():
    proto = model("y = OptionalHasElement ()", 18, "float[2] x")
    with pytest.raises(ConversionError, match="opset 17 requires its input 'input'"):
        convert_version(proto, 17, rewrite=False)
    assert convert_version(proto, 17)
