"""NonZero below opset 9: the positions in a vector of which no element is zero are counted."""

import numpy as np
import onnx.parser
import pytest
from harness import assert_equal_outputs
from straightline import convert_version
from straightline.versions import ConversionError


def positions(fill, kind, steps):
    return onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 10]>
    g (float[N] x) => (int64[1,M] y) {{
        shape = Shape (x)
        full = ConstantOfShape <value = {kind}[1] {{{fill}}}> (shape)
        {steps}
        y = NonZero (last)
    }}""")


REPEATED = "last = Cast <to = 7> (full)"


def test_ones_are_counted():
    model = positions("1", "float", REPEATED)
    down = convert_version(model, 8)
    assert "NonZero" not in [node.op_type for node in down.graph.node]
    for length in (1, 4):
        assert_equal_outputs(model, down, {"x": np.zeros(length, np.float32)})


@pytest.mark.parametrize(
    ("fill", "kind", "steps"),
    [
        ("0", "float", REPEATED),
        ("0.5", "float", REPEATED),  # as an integer it is zero
        ("1", "float", "scaled = Mul (full, x) last = Cast <to = 7> (scaled)"),
    ],
)
def test_what_may_be_zero_is_refused(fill, kind, steps):
    with pytest.raises(ConversionError, match="only that of a vector without zeros"):
        convert_version(positions(fill, kind, steps), 8)
