import pytest
from conversions import assert_refuses, converted, model
from straightline import convert_version
from straightline.version_converter import ConversionError
from tables import table


@table(
    ("float[2, 3] p", "float[2, 3] q", True),
    ("float[2, 3] p", "float[3, 2] q", False),
    ("float[2, 3] p", "float[2] q", False),
    ("float[2, N] p", "float[2, 3] q", True),
    ("float[N, 3] p", "float[M, 3] q", True),
    ("float[3, N] p", "float[2, N] q", False),
    ("p", "float[2, 3] q", True),
    ("float[2, 3] p", "q", True),
)
def test_branches_of_one_shape_before_opset_11(one, other, fits):
    body = (
        "y = If (c) <then_branch = t () => (a) { a = Identity (p) },"
        " else_branch = e () => (b) { b = Identity (q) }>"
    )
    signature = f"bool c, {one}, {other}"
    if fits:
        assert converted(body, 11, 10, signature)[0].startswith("If <")
    else:
        assert_refuses(body, 11, 10, "its branches return", signature)


def test_a_sequence_that_nothing_reads_is_none_for_opset_12_either():
    body = """
        s = SequenceConstruct (x, x)
        t = If (c) <
            then_branch = t () => (seq(float[2, 3]) p) { p = SequenceInsert (s, x) },
            else_branch = e () => (seq(float[2, 3]) q) { q = SequenceErase (s) }>
        y = Neg (x)
    """
    proto = model(body, 13, "float[2, 3] x, bool c")
    with pytest.raises(ConversionError, match="If does not support in opset 12"):
        convert_version(proto, 12, rewrite=False)
    assert [node.op_type for node in convert_version(proto, 12).graph.node] == ["Neg"]


def test_a_known_condition_decides_branches_of_open_shapes():
    """onnx infers one shape for both branches, which the nodes behind one of them may not fit."""
    body = """
        two = Constant <value_int = 2> () s = Shape (p) r = Size (s) c = Equal (r, two)
        y = If (c) <
            then_branch = t () => (a) { a = Identity (q) },
            else_branch = e () => (b) { b = Identity (p) }>
    """
    proto = model(body, 12, "float[2, 3] p, float[A, B] q")
    with pytest.raises(ConversionError, match="its condition is known, its branches may return"):
        convert_version(proto, 10, rewrite=False)
    assert "If" not in {node.op_type for node in convert_version(proto, 10).graph.node}
