import numpy as np
import pytest
from conversions import assert_carried_everywhere, converted

from targets import fitted, lacking, one_node, operators

SHAPES = [((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)), ((5, 2, 3), (3, 4))]


def test_halves_of_products_are_summed():
    nodes = converted("y = MatMul (x, z)", 9, 8, "int64[2, 3] x, int64[3, 4] z")
    assert nodes[:3] == [
        "Unsqueeze <axes = [2]> (x)",
        "Unsqueeze <axes = [0]> (z)",
        "Mul (y_Unsqueeze, y_Unsqueeze_1)",
    ]
    sums = [line for line in nodes if line.startswith("ReduceSum <axes = [1], keepdims = 0>")]
    assert len(sums) == 2


@pytest.mark.sample(7)
@pytest.mark.parametrize("shapes", [*SHAPES, ((4, 1, 2, 3), (6, 3, 1))])
@pytest.mark.parametrize("element", ["int32", "int64", "uint32", "uint64"])
def test_numbers(shapes, element):
    """Also where they wrap."""
    info = np.iinfo(element)
    rng = np.random.default_rng(0)
    x, z = (rng.integers(info.min, info.max, s, element, endpoint=True) for s in shapes)
    signature = ", ".join(
        f"{element}[{', '.join(f'{name}{i}' for i in range(v.ndim))}] {name}"
        for name, v in (("x", x), ("z", z))
    )
    assert_carried_everywhere(
        "y = MatMul (x, z)", 9, (8, 7), {"x": x, "z": z}, signature, ["graph"]
    )


def test_floats_are_left_alone():
    """Targets that lack the operator ask for the form in any opset."""
    outcome = fitted(
        one_node("y = MatMul (x, z)", "float[2, 2] x, float[2, 2] z"), lacking("MatMul"), passes=()
    )
    assert not {"Cast", "ReduceSum", "MatMul"} & ({*operators(outcome)} - {"MatMul"})
