"""Recurrent layers: they take as long as they have steps."""

import numpy as np
import onnx
from operator_facts import make_node
from straightline.ops import rules_of
from straightline.verification.proof import prove
from tables import table


def test_steps_and_states():
    def given(steps):
        shapes = (steps, 2, 3), (1, 16, 3), (1, 16, 4)
        return [np.ones(shape, np.float32) for shape in shapes]

    node = make_node("LSTM", given(5), hidden_size=4)
    rules = rules_of(node.op)
    assert rules.work(node, given(1000)) == 100 * rules.work(node, given(10))
    assert rules.growth(node, given(5)) == 5 * 2 * 4


@table(
    ("5, 2, 3", "hidden_size = 4> (x, w, r, b, , h)", True),
    ("5, n, 3", "hidden_size = 4> (x, w, r, b)", True),
    ("n, 2, 3", "hidden_size = 4> (x, w, r, b, , h)", False),
    ("5, 3, 3", "hidden_size = 4> (x, w, r, b, , h)", False),
    ("5, 2, 2", "hidden_size = 4> (x, w, r, b, , h)", False),
    ("5, 2, 3", "hidden_size = 5> (x, w, r, b, , h)", False),
    ("5, 2, 3", "hidden_size = 4> (x, w, r, h)", False),
    ("5, 2, 3", "hidden_size = 4> (x, w, r, b, lengths, h)", False),
    ("5, 2, 3", "hidden_size = 4, clip = -1.0> (x, w, r, b, , h)", False),
    ("5, 2, 3", 'hidden_size = 4, direction = "bidirectional"> (x, w, r, b, , h)', False),
    ("5, 2, 3", 'hidden_size = 4, activations = ["Tanh"]> (x, w, r, b, , h)', False),
    ("5, 2, 3", 'hidden_size = 4, activations = ["Tanh", "Sine"]> (x, w, r, b, , h)', False),
    ("2, 5, 3", "hidden_size = 4, layout = 1> (x, w, r, b)", True),
    ("2, 5, 3", "hidden_size = 4, layout = 1> (x, w, r, b, , h)", False),
)
def test_sizes_that_fit_cannot_fail(shape, node, is_safe):
    """The rewrite has one operator more, so a proof needs that it cannot fail."""
    layer = """<ir_version: 8, opset_import: ["" : 17]>
        g (float[{}] x, float[1, 12, 3] w, float[1, 12, 4] r, float[1, 24] b, float[1, 2, 4] h,
           int32[2] lengths) => (float[a, b, c] y) {{ {} y = Neg (x) }}"""
    before, after = layer.format(shape, ""), layer.format(shape, f"all, last = GRU <{node}")
    assert prove(*[onnx.parser.parse_model(text) for text in (before, after)]).proved is is_safe
