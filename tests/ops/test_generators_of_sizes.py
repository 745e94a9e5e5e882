"""Sizes as numbers."""

import numpy as np
import onnx
from hypothesis import assume, given
from hypothesis import strategies as st
from operator_facts import INT64, computed, make_node
from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from straightline.ops.outputs import content_of


@given(
    st.lists(st.integers(0, 4), max_size=4),
    st.one_of(st.none(), st.integers(-6, 6)),
    st.one_of(st.none(), st.integers(-6, 6)),
)
def test_shape_and_size(dims, start, end):
    # onnx's reference does not clamp what lies before the first axis.
    assume(all(bound is None or bound >= -len(dims) for bound in (start, end)))
    chosen = {k: v for k, v in (("start", start), ("end", end)) if v is not None}
    given_ = [Fact(onnx.TensorProto.FLOAT, tuple(map(Dimension.constant, dims)))]
    array = np.zeros(dims, np.float32)
    for op_type, attributes in (("Shape", chosen), ("Size", {})):
        content = content_of(make_node(op_type, given_, **attributes), given_, INT64)
        expected = computed(op_type, [array], **attributes)
        np.testing.assert_array_equal([e.value for e in content.reshape(-1)], expected.reshape(-1))
        assert content.shape == expected.shape
