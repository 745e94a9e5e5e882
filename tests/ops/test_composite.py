import math

import numpy as np
from operator_facts import make_node
from straightline.ops import rules_of
from tables import table


@table("SwiGLU", "RotaryEmbedding", "MeanVarianceNormalization", "TensorScatter", "SequenceAt")
def test_steps_grow_with_the_elements(op_type):
    small, large = (work(op_type, np.zeros(size, np.float32)) for size in (1_000, 100_000))
    assert 50 * small < large < 1e10


def test_attention_takes_a_product_for_each_pair():
    small, large = (np.zeros((1, 1, size, 8), np.float32) for size in (10, 100))
    assert 90 * work("Attention", small, small) > work("Attention", large, large) > 1e8
    assert math.isinf(work("LinearAttention", small, small, small)), "new, and a loop"


def work(op_type, *arrays):
    node = make_node(op_type, arrays)
    return rules_of(node.op).work(node, arrays)
