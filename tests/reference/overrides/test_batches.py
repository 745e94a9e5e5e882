import numpy as np
import onnx
import pytest
from harness import as_model, assert_equal, run_in_onnxruntime
from straightline import reference
from tables import table

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("batch", [0, 1, 5])
@table(
    ("LRN", "y = LRN <size = 3, alpha = 0.5> (x)", (6, 6)),
    ("ConvTranspose", "y = ConvTranspose (x, w)", (6, 6)),
    ("GlobalAveragePool", "y = GlobalAveragePool (x)", (4, 5)),
    ("GlobalAveragePool of a line", "y = GlobalAveragePool (x)", (4,)),
    ("GlobalMaxPool", "y = GlobalMaxPool (x)", (4, 5)),
    ("GlobalMaxPool of a line", "y = GlobalMaxPool (x)", (4,)),
    ("GlobalMaxPool of a body", "y = GlobalMaxPool (x)", (4, 2, 3)),
    ("GlobalLpPool", "y = GlobalLpPool (x)", (4, 5)),
    ("GlobalLpPool of sums", "y = GlobalLpPool <p = 1> (x)", (4, 5)),
)
def test_batches_of_any_size(case, node, image, batch):
    dims = ", ".join("?" for _ in image)
    model = as_model(
        f"""g (float[N, 4, {dims}] x, float[4, 1, 3, 3] w)
            => (float[N, C, {dims}] y) {{ {node} }}"""
    )
    onnx.checker.check_model(model)
    x = RNG.normal(size=(batch, 4, *image)).astype(np.float32)
    feed = {"x": x, "w": RNG.normal(size=(4, 1, 3, 3)).astype(np.float32)}
    assert_equal(reference.run(model, feed), run_in_onnxruntime(model, feed))
