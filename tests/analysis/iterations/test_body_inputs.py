import numpy as np
from harness import as_model
from straightline import ir
from straightline.analysis.iterations.body_inputs import condition_tensor, iteration_number
from tables import table


@table(
    ("int64 i", "bool c", ((), ())),
    ("int64[1] i", "bool c", ((1,), ())),
    ("int64 i", "bool[1] c", ((), (1,))),
    ("i", "c", ((), ())),
)
def test_ranks(i, c, shapes):
    text = f"""g (int64 n, float x) => (float y) {{
        y = Loop (n, , x) <body = b ({i}, {c}, float a) => (bool d, float r) {{
            d = Identity (c) r = Neg (a) }}> }}"""
    (loop,) = ir.load(as_model(text)).graph.nodes()
    number = iteration_number(loop.body("body"), 7).numpy()
    holds = condition_tensor(loop.body("body"), False).numpy()
    assert (number.shape, holds.shape) == shapes
    assert (number.dtype, number.item()) == (np.int64, 7)
    assert (holds.dtype, holds.item()) == (np.bool_, False)
