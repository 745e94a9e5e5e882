"""If: branches of one shape before opset 11."""

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
