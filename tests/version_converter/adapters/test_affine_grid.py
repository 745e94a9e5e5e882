import numpy as np
import onnx
import pytest
from conversions import convert_version
from straightline import reference


@pytest.mark.sample(1)
@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("align", [0, 1])
def test_a_batch_of_one_stays_a_batch(batch, align):
    before = onnx.parser.parse_model(f"""<ir_version: 9, opset_import: ["": 20]>
        g (float[{batch}, 2, 3] x) => (float[{batch}, 2, 3, 2] y)
        <int64[4] s = {{{batch}, 1, 2, 3}}> {{
            y = AffineGrid <align_corners = {align}> (x, s) }}""")
    feeds = {"x": np.random.default_rng(0).normal(size=(batch, 2, 3)).astype(np.float32)}
    (wanted,) = reference.run(before, feeds)
    for target in (11, 13, 19):
        after = convert_version(before, target)
        onnx.checker.check_model(after, full_check=True)
        np.testing.assert_allclose(reference.run(after, feeds)[0], wanted, 1e-5, 1e-6)
