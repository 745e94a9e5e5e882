import numpy as np
import onnx
import pytest
from conversions import assert_becomes, assert_carried_everywhere, convert_version, converted
from straightline import reference

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
LAYERS = list(GATES.items())


def test_transposed_layouts():
    assert_becomes("""14 to 13, float[B, T, 3] x, float[1, 6, 3] w, float[1, 6, 2] r, int32[B] n,
        float[B, 1, 2] s:
        y, h = GRU <hidden_size = 2, layout = 1> (x, w, r, , n, s) =>
        u = Transpose <perm = [1, 0, 2]> (x)
        t = Transpose <perm = [1, 0, 2]> (s)
        v, k = GRU <hidden_size = 2> (u, w, r, , n, t)
        y = Transpose <perm = [2, 0, 1, 3]> (v)""")


def test_the_default_says_nothing():
    signature = "float[T, B, 3] x, float[1, 2, 3] w, float[1, 2, 2] r"
    body = "y = RNN <hidden_size = 2, layout = 0> (x, w, r)"
    assert converted(body, 14, 13, signature) == ["RNN <hidden_size = 2> (x, w, r)"]


@pytest.mark.sample(4)
@pytest.mark.parametrize(("op_type", "gates"), LAYERS)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("output", ["y", "h"])
def test_numbers(op_type, gates, direction, output):
    rng = np.random.default_rng(0)
    both = 1 + (direction == "bidirectional")

    def drawn(*shape):
        return rng.normal(size=shape).astype(np.float32)

    feeds = {
        "x": drawn(2, 5, 3),
        "w": drawn(both, 2 * gates, 3),
        "r": drawn(both, 2 * gates, 2),
        "b": drawn(both, 4 * gates),
        "n": np.array([5, 3], np.int32),
        "s": drawn(2, both, 2),
    }
    if op_type == "LSTM":
        feeds["c"] = drawn(2, both, 2)
    signature = ", ".join(
        f"{'int32' if name == 'n' else 'float'}[{', '.join(map(str, v.shape))}] {name}"
        for name, v in feeds.items()
    ).replace("[2, 5, 3] x", "[B, T, 3] x")
    names = {"y": "y", "h": ", y"}[output]
    attributes = f'hidden_size = 2, layout = 1, direction = "{direction}"'
    body = f"{names} = {op_type} <{attributes}> ({', '.join(feeds)})"
    # onnxruntime has no kernel for batches first.
    places = ["graph", "function"]
    assert_carried_everywhere(
        body, 14, (13, 7), feeds, signature, places, rtol=1e-6, in_onnxruntime=False
    )


def test_layouts_from_calls():
    before = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 14, "local": 1]>
        g (float[2, 5, 3] x, float[1, 2, 3] w, float[1, 2, 2] r)
            => (float[2, 5, 1, 2] y, float[2, 1, 5, 2] z)
        { y = local.F <k = 1> (x, w, r) z = local.F <k = 0> (x, w, r) }
        <domain: "local", opset_import: ["": 14]>
        F <k> (x, w, r) => (y) { y = RNN <hidden_size = 2, layout: int = @k> (x, w, r) }""")
    rng = np.random.default_rng(0)
    shapes = {"x": (2, 5, 3), "w": (1, 2, 3), "r": (1, 2, 2)}
    feeds = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    after = convert_version(before, 13)
    onnx.checker.check_model(after, full_check=True)
    assert len(after.functions) == 2
    for found, wanted in zip(*(reference.run(m, feeds) for m in (after, before)), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
