import numpy as np
import onnx
import pytest
from straightline.reference.signature import Signature
from straightline.runtimes.feeds import FeedError
from straightline.verification.runs.input_generator import Drawer
from straightline.verification.runs.sample_shapes import (
    SampleShapeError,
    narrow_signature,
    require_minima,
)
from straightline.verification.runs.separators import Separators
from tables import table


def signature(inputs):
    return Signature.of(
        onnx.parser.parse_model(
            f'<ir_version: 10, opset_import: ["": 21]> g ({inputs}) => (float[1] out)'
            " { out = Constant<value_floats=[0.0]>() }"
        )
    )


INPUTS = "float[N,M] x, float[N,3] w, float[] any, seq(float[K]) s"


def test_shapes_hold_for_every_sample_and_for_symbols():
    before = signature(INPUTS)
    after = narrow_signature(before, before, {"x": (1, 512), "any": (2, None, 3)})
    for sample in Drawer(before, after, {}, 0).samples(3):
        feeds = next(sample.candidates)
        assert feeds["x"].shape == (1, 512)
        assert feeds["w"].shape == (1, 3)
        assert feeds["any"].ndim == 3 and feeds["any"].shape[::2] == (2, 3)


def test_inputs_have_the_least_sizes_that_are_assumed():
    before = signature(INPUTS)
    small, large = ({"x": np.ones((n, 1)), "w": np.ones((n, 3))} for n in (2, 5))
    require_minima(before, [large], {"N": 5})
    with pytest.raises(FeedError, match="input 'x' has 2 for N, but N is assumed to be at least 5"):
        require_minima(before, [large, small], {"N": 5})
    drawer = Drawer(before, before, {}, 0, (), {"N": 5})
    plain = [next(sample.candidates) for sample in drawer.samples(4)]
    separating = drawer.separating(8, Separators(), {})
    feeds = [*plain, *(next(sample.candidates) for sample in separating)]
    assert min(each["w"].shape[0] for each in feeds) == 5
    assert min(each["x"].shape[1] for each in feeds) < 5


def test_nothing_given_changes_nothing():
    before = signature(INPUTS)
    assert narrow_signature(before, before, None) == narrow_signature(before, before, {}) == before


def test_removed_inputs_need_no_shape():
    before, after = signature(INPUTS), signature("float[N,3] w")
    assert narrow_signature(before, after, {"x": np.array([1, 2])}) == after


@table(
    ({"z": (1,)}, "no input 'z' is drawn; those that are: 'x', 'w', 'any', 's'"),
    ({"x": (1,)}, "input 'x' has rank 2, not 1"),
    ({"w": (1, 4)}, "input 'w': dimension 1 is 3, not 4"),
    ({"x": (1, -2)}, "input 'x': -2 is not a dimension"),
    ({"x": (1, True)}, "input 'x': True is not a dimension"),
    ({"x": (1, 2**63)}, "input 'x': 9223372036854775808 is not a dimension"),
    ({"x": b"ab"}, "a shape of 'x' has dimensions such as"),
    ({"x": "1,2"}, "a shape of 'x' has dimensions such as"),
    ({"s": (1,)}, "input 's' is not a tensor"),
)
def test_unfit_shapes_are_refused(shapes, message):
    before = signature(INPUTS)
    with pytest.raises(SampleShapeError, match=message):
        narrow_signature(before, before, shapes)
