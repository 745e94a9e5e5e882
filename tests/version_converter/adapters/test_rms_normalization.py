import numpy as np
import onnx
import pytest
from conversions import converted
from straightline import convert_version, reference
from straightline.versions import ConversionError


@pytest.mark.parametrize("stash", ["", "<stash_type = 1>", "<stash_type = 11>"])
def test_doubles_are_computed_as_doubles(stash):
    """Squares of large doubles overflow as floats."""
    before = onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["": 23]>
        g (double[2, 4] x, double[4] s) => (double[2, 4] y) {{
            y = RMSNormalization {stash} (x, s) }}""")
    data = 1e30 * np.random.default_rng(0).normal(size=(2, 4))
    scale = np.array([1, 1, 0.6, 0.6])
    wanted = data / np.sqrt((data * data).mean(-1, keepdims=True)) * scale
    for target in (9, 17, 22):
        after = convert_version(before, target)
        onnx.checker.check_model(after, full_check=True)
        np.testing.assert_allclose(reference.run(after, {"x": data, "s": scale})[0], wanted, 1e-12)


def test_halves_are_computed_as_floats():
    found = converted("y = RMSNormalization (x, s)", 23, 22, "float16[2, 4] x, float16[4] s")
    assert found[0] == "Cast <to = 1> (x)" and found[-2].startswith("Cast <to = 10>")


@pytest.mark.parametrize("out", ["", "float[3, 1] "])
@pytest.mark.parametrize("target", [22, 16])
def test_a_scale_that_is_larger_than_the_data_is_refused(out, target):
    before = onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["": 23]>
        g (float[3, 1] x, float[4] s) => ({out}y) {{ y = RMSNormalization (x, s) }}""")
    with pytest.raises(ConversionError, match=r"'scale' of shape \[4\] does not broadcast"):
        convert_version(before, target)


@pytest.mark.parametrize("type_", ["float", "double"])
def test_the_rank_may_be_open(type_):
    before = onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["": 23]>
        g ({type_}[n] v, int64[k] sizes, {type_}[3] s) => ({type_}[a, b, c] y) {{
            x = Reshape (v, sizes) y = RMSNormalization <axis = 1> (x, s) }}""")
    data = np.arange(1, 13, dtype=np.float64 if type_ == "double" else np.float32)
    feeds = {"v": data, "sizes": np.array([2, 2, 3]), "s": np.ones(3, data.dtype)}
    (wanted,) = reference.run(before, feeds)
    for target in (22, 18):
        (found,) = reference.run(convert_version(before, target), feeds)
        np.testing.assert_allclose(found, wanted, 1e-6)
