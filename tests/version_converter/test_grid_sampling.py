import pytest
from conversions import converted


@pytest.mark.parametrize(("mode", "most"), [("nearest", 45), ("bilinear", 90), ("bicubic", 270)])
def test_each_pixel_takes_a_few_nodes(mode, most):
    known = "float[2, 3, 4, 5] x, float[2, 6, 7, 2] g"
    text = "float[A, B, C, D] x, float[A, E, F, 2] g"
    for signature in (known, text):
        nodes = converted(f'y = GridSample <mode = "{mode}"> (x, g)', 16, 15, signature)
        assert len(nodes) <= most + 25 * (signature == text)
        taken = sum(node.startswith("Gather <axis = 0> (y_table,") for node in nodes)
        assert taken == {"nearest": 1, "bilinear": 4, "bicubic": 16}[mode]
