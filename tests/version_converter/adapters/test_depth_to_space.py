import numpy as np
import pytest
from conversions import assert_becomes, assert_refuses, assert_writes, model
from straightline import convert_version, reference
from tables import cases

test_nodes_of_each_step = cases(
    assert_writes,
    ('y = DepthToSpace <blocksize = 2, mode = "DCR"> (x)', 11, 10,
     ["DepthToSpace <blocksize = 2> (x)"], "float[1, 8, 2, 3] x")
)  # fmt: skip


def test_columns_then_rows():
    assert_becomes("""11 to 10, float[1, 8, 2, 3] x:
        y = DepthToSpace <blocksize = 2, mode = "CRD"> (x) =>
        apart = Reshape (x, [0, 2, 2, 2, 2, 3])
        turned = Transpose <perm = [0, 1, 4, 2, 5, 3]> (apart)
        y = Reshape (turned, [0, 2, 4, 6])""")


@pytest.mark.parametrize("mode", ["CRD", "DCR"])
@pytest.mark.parametrize("size", [2, 3])
def test_depth_becomes_space_in_both_orders(mode, size):
    shape = (2, 2 * size * size, 2, 3)
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    body = f'y = DepthToSpace <blocksize = {size}, mode = "{mode}"> (x)'
    wanted = x.reshape((2, 2, size, size, 2, 3) if mode == "CRD" else (2, size, size, 2, 2, 3))
    wanted = wanted.transpose((0, 1, 4, 2, 5, 3) if mode == "CRD" else (0, 3, 4, 1, 5, 2))
    wanted = wanted.reshape(2, 2, 2 * size, 3 * size)
    for signature in (f"float[N, {shape[1]}, 2, 3] x", f"float[N, {shape[1]}, H, W] x"):
        before = model(body, 11, signature)
        for target in (11, 10):
            (found,) = reference.run(convert_version(before, target, verify="proof"), {"x": x})
            np.testing.assert_array_equal(found, wanted)
    if mode == "CRD":
        for signature in ("float[1, C, 2, 3] x", "x"):
            assert_refuses(
                body, 11, 10, "needs the depth of input 0, which is not known", signature
            )
        assert_refuses(body, 11, 10, "a depth of 10 is not made of blocks", "float[1, 10, 2, 3] x")
