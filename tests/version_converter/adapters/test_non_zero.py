"""NonZero below opset 9: the positions in a vector of which no element is zero are counted."""

import numpy as np
import onnx.parser
import pytest
from conversions import assert_carried, assert_refuses
from harness import assert_equal_outputs, assert_same_text
from straightline import convert_version
from straightline.version_converter import ConversionError


def test_positions_are_the_numbers_of_a_loop():
    before = onnx.parser.parse_model("""
        <ir_version: 4, opset_import: ["": 9]>
        g (float[N] x) => (int64[1, M] y) {
            shape = Shape (x)
            ones = ConstantOfShape <value = float[1] {1}> (shape)
            y = NonZero (ones)
        }
    """)
    after = """
        <ir_version: 4, opset_import: ["": 8]>
        g (float[N] x) => (int64[1, M] y)
        <float y_zero = {0}, bool y_go_on = {1}, float ones_value = {1}> {
            shape = Shape (x)
            ones = Expand (ones_value, shape)
            y_length = Shape (ones)
            y_carried, y_all = Loop (y_length, y_go_on, y_zero) <
                body = trip (int64 number, bool condition, float given)
                        => (bool y_going, float y_same, int64 y_same_1) {
                    y_going = Identity (condition)
                    y_same = Identity (given)
                    y_same_1 = Identity (number)
                }>
            y = Unsqueeze <axes = [0]> (y_all)
        }
    """
    assert_same_text(convert_version(before, 8, ir_version=4), after)


@pytest.mark.parametrize("length", [0, 1, 4])
@pytest.mark.parametrize(
    "ones",
    [
        "z = ConstantOfShape <value = int64[1] {1}> (n)",
        "a = ConstantOfShape <value = float[1] {2}> (n) z = Cast <to = 7> (a)",
        "o = Constant <value = int64 {3}> () z = Expand (o, n)",
    ],
)
def test_positions_in_a_vector_without_zeros_are_counted(ones, length):
    fed = {"n": np.array([length], np.int64)}
    assert_carried(f"{ones} y = NonZero (z)", 9, (8,), fed, "int64[1] n")


@pytest.mark.parametrize(
    "maybe",
    [
        "z = ConstantOfShape (n)",
        "z = ConstantOfShape <value = int64[1] {0}> (n)",
        "o = Constant <value = int64 {0}> () z = Expand (o, n)",
        "z = Expand (n, n)",
        "z = Cast <to = 1> (n)",
        "z = Abs (n)",
    ],
)
def test_positions_among_what_may_be_zero_are_refused(maybe):
    reason = "below, only a vector without zeros is supported"
    assert_refuses(f"{maybe} y = NonZero (z)", 9, 8, reason, "int64[1] n")


def test_positions_in_a_matrix_are_refused():
    body = "z = ConstantOfShape <value = int64[1] {1}> (n) y = NonZero (z)"
    assert_refuses(body, 9, 8, "only a vector without zeros", "int64[2] n")


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
    with pytest.raises(ConversionError, match="only a vector without zeros"):
        convert_version(positions(fill, kind, steps), 8)
