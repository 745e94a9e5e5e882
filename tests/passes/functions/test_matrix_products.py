import numpy as np
import pytest
from harness import as_model, assert_equal_outputs, run_passes
from loops import op_types
from straightline import prove
from straightline.passes import SimplifyBodies

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float{x} h, float[N, {wide}] q, float{w} w) => (float[M, {wide}] y, float{z} last) {{
    last, y = Scan <num_scan_inputs = 1, body = b (float{z} a, float[{wide}] e)
        => (float{z} r, float[{wide}] s) {{
        r = Einsum <equation = "{equation}"> (h, w) s = Add (e, e) }}> (start, q) }}"""
SHAPES = {
    "a,ab->b": ([2], [2, 3]),
    "a,ba->b": ([2], [3, 2]),
    "ab,b->a": ([3, 2], [2]),
    "ba,b->a": ([2, 3], [2]),
    "a,a->": ([2], [2]),
    "ab,bc->ac": ([4, 2], [2, 3]),
    "ab,cb->ac": ([4, 2], [3, 2]),
    "ba, bc -> ca": ([2, 4], [2, 3]),
}
OTHERS = {
    "ab,ab->a": ([2, 3], [2, 3]),
    "ab,ab->": ([2, 3], [2, 3]),
    "a,b->ab": ([2], [3]),
    "aa,ab->b": ([2, 2], [2, 3]),
    "a,ab": ([2], [2, 3]),
    "...a,ab->...b": ([4, 2], [2, 3]),
    "ab,bc->a": ([4, 2], [2, 3]),
}


def model_of(equation):
    x, w = (np.zeros(shape, np.float32) for shape in {**SHAPES, **OTHERS}[equation])
    z = np.einsum(equation, x, w)
    text = TEXT.format(
        x=list(x.shape), w=list(w.shape), z=list(z.shape) or "", equation=equation, wide=2
    )
    start = f"<float{list(z.shape) or ''} start = {{{', '.join(['0'] * z.size)}}}>"
    return as_model(text.replace("last) {", f"last) {start} {{"))


@pytest.mark.parametrize("equation", SHAPES)
def test_products(equation):
    model = model_of(equation)
    result = run_passes(model, SimplifyBodies())
    assert "MatMul" in op_types(result.model.graph)
    assert "Einsum" not in op_types(result.model.graph)
    has_vector = any(len(shape) < 2 for shape in SHAPES[equation])
    assert not has_vector or "Transpose" not in op_types(result.model.graph)
    assert prove(model, result.model, equality="reals").proved
    rng = np.random.default_rng(0)
    h, w = (rng.normal(size=shape).astype(np.float32) for shape in SHAPES[equation])
    feed = {"h": h, "w": w, "q": np.ones((2, 2), np.float32)}
    assert_equal_outputs(model, result.model, feed)


@pytest.mark.parametrize("equation", OTHERS)
def test_other_equations_stay(equation):
    assert not run_passes(model_of(equation), SimplifyBodies()).changed
