import numpy as np
import onnx
import pytest
from conversions import assert_becomes, assert_refuses, convert_version
from straightline import reference

SIGNATURE = "float[2, 3, 6, 4] x, float[2, 3, 2, 4] u, int64[2] w"


def test_positions_are_counted():
    assert_becomes(f"""24 to 23, {SIGNATURE}: y = TensorScatter (x, u, w) =>
        shape = Shape (u)
        rows = Unsqueeze (w, [1])
        places = Add (rows, [0, 1])
        apart = Unsqueeze (places, [1, 3])
        all = Expand (apart, shape)
        y = ScatterElements <axis = 2> (x, all, u)""")


@pytest.mark.sample(16)
@pytest.mark.parametrize("mode", ["linear", "circular"])
@pytest.mark.parametrize(("axis", "sizes"), [(-2, (2, 3, 6, 4)), (1, (2, 6, 3)), (-1, (2, 3, 6))])
@pytest.mark.parametrize("starts", [[0, 4], [3, 1], None])
@pytest.mark.parametrize("known", [True, False])
def test_numbers(mode, axis, sizes, starts, known):
    rng = np.random.default_rng(0)
    of_update = [2 if place == axis % len(sizes) else size for place, size in enumerate(sizes)]
    feeds = {"x": rng.normal(size=sizes), "u": rng.normal(size=of_update)}
    if starts is not None:
        feeds["w"] = np.array(starts) + (1 if mode == "circular" else 0)
    signature = ", ".join(
        f"{'int64' if name == 'w' else 'double'}"
        f"[{', '.join(str(s) if known else f'{name}{i}' for i, s in enumerate(v.shape))}] {name}"
        for name, v in feeds.items()
    )
    before = onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["": 24]> g ({signature})
        => (double[{", ".join("abcd"[: len(sizes)])}] y)
        {{ y = TensorScatter <mode = "{mode}", axis = {axis}> ({", ".join(feeds)}) }}""")
    wanted = reference.run(before, feeds)[0]
    for target in (23, 13, 9):
        after = convert_version(before, target)
        onnx.checker.check_model(after, full_check=True)
        np.testing.assert_array_equal(reference.run(after, feeds)[0], wanted)


def test_undefined_forms_are_refused():
    reason = "there is no mode 'other', or its axis is the batch axis"
    assert_refuses('y = TensorScatter <mode = "other"> (x, u, w)', 24, 23, reason, SIGNATURE)
    assert_refuses("y = TensorScatter <axis = 0> (x, u, w)", 24, 23, "the batch axis", SIGNATURE)
    shaped = "v = Reshape (x, s) y = TensorScatter (v, u)"
    unknown = "float[12] x, float[2, 3, 2, 4] u, int64[K] s"
    assert_refuses(shaped, 24, 23, "TensorScatter before opset 24 needs the rank", unknown)
