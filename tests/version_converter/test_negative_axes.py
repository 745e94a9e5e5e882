import onnx
import pytest
from conversions import assert_writes, converted
from straightline.version_converter.negative_axes import AXES
from tables import table


@pytest.mark.parametrize("op_type", sorted(AXES))
def test_every_operator_that_says_its_axes_is_known_by_that_attribute(op_type):
    axis = AXES[op_type]
    kind = onnx.defs.get_schema(op_type, 10, "").attributes[axis.attribute].type
    assert kind == (
        onnx.defs.OpSchema.AttrType.INTS
        if axis.attribute == "axes"
        else onnx.defs.OpSchema.AttrType.INT
    )


def test_axes_from_the_front_need_no_rank():
    for body in ("Concat <axis = 1> (x, x)", "Squeeze <axes = [0, 1]> (x)", "Flatten (x)"):
        assert_writes(f"y = {body}", 11, 10, [body], "x")


def test_upwards_they_stay():
    assert_writes("y = Concat <axis = 1> (x, x)", 10, 11, ["Concat <axis = 1> (x, x)"])


@table(
    ("a shape that is computed", """
        k = Constant <value_ints = [2, -1]> ()
        s = Shape <end = 1> (x)
        t = Concat <axis = 0> (s, k)
        v = Reshape (x, t)"""),
    ("a shape from run time", "v = Reshape (x, i)"),
    ("a Loop", """v = Loop (n, c, x) <
        body = b (int64 k, bool d, s) => (d, t) { t = Concat <axis = 0> (s, s) }>"""),
    ("an If", """v = If (c) <
        then_branch = t () => (p) { p = Relu (x) },
        else_branch = e () => (q) { q = Concat <axis = 0> (x, x) }>"""),
    ("a Scan", "v = Scan <num_scan_inputs = 1, body = b (e) => (o) { o = Abs (e) }> (x)"),
    ("a Gather", "v = Gather (x, i)"),
    ("an Expand", "v = Expand (x, i)"),
    ("a sequence", "q = SequenceConstruct (x, x) v = SequenceAt (q, n)"))  # fmt: skip
def test_the_rank_is_what_shape_inference_knows(how, text):
    """Nothing of it is declared."""
    target = 11 if how == "a sequence" else 10
    signature = "float[N, 4] x, int64[3] i, int64 n, bool c"
    last = converted(f"{text}\ny = Concat <axis = -1> (v, v)", 15, target, signature)[-1]
    assert last.startswith("Concat <axis = -1>" if target == 11 else "Concat <axis = ")
    assert target == 11 or "-1" not in last
