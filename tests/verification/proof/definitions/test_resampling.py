import itertools

import numpy as np
import onnx
import pytest
from onnx import helper
from proofs import assert_open, assert_proved, is_proved, over_reals
from proofs import model as parsed
from sessions import open_session
from straightline import convert_version
from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from straightline.ir import Operator, Tensor
from straightline.verification.proof import prove
from straightline.verification.proof.definitions.functions import Application, function_of
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.term_manager import Terms
from tables import table

PLACES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")
SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 1e30)
HEAD = '<ir_version: 8, opset_import: ["" : 13]> g ({0}[{1}] x) => ({0}[a, b, c, d] y)'


def model(mode, places="half_pixel", scales=(1, 1, 2, 2), shape="n, 2, 3, 4", kind="float"):
    listed = ", ".join(str(float(scale)) for scale in scales)
    return onnx.parser.parse_model(f"""{HEAD.format(kind, shape)} <float[4] s = {{{listed}}}> {{
        y = Resize <mode = "{mode}", coordinate_transformation_mode = "{places}"> (x, , s) }}""")


def images(shape):
    random = np.random.default_rng(5)
    for special in (*SPECIAL, None):
        x = random.normal(size=shape).astype(np.float32)
        if special is not None:
            x.reshape(-1)[random.integers(0, x.size, 2)] = special
        yield x
    yield np.full(shape, -0.0, np.float32)


def body_of(mode, places, scales, shape):
    """The definition as a model; None where there is none over bits."""
    terms = Terms(Budget())
    data = terms.leaf("input", "x", Fact(1, tuple(map(Dimension.constant, shape))))
    factors = terms.constant(Tensor(array=np.array(scales, np.float32)))
    op = Operator.make("Resize", mode=mode, coordinate_transformation_mode=places)
    head = terms.heads.of(op, {"": 13}, 1)
    function = function_of(Application(head, (data, None, factors), 0, False, terms.tensor))
    if function is None:
        return None
    x, y = (helper.make_tensor_value_info(name, 1, None) for name in "XY")
    x.CopyFrom(helper.make_tensor_value_info("X", 1, shape))
    graph = helper.make_graph(list(function.node), "g", [x], [y])
    return helper.make_model(graph, opset_imports=list(function.opset_import), ir_version=8)


@pytest.mark.sample(5)
@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("mode", ["linear", "nearest"])
@pytest.mark.parametrize("shape", [(2, 2, 3, 4), (1, 1, 1, 3)])
def test_neighbours_are_those_of_onnxruntime(mode, places, shape):
    compared = 0
    for factors in itertools.product((1, 2, 1.5, 0.7, 0.5), repeat=2):
        scales = (1, 1, *factors)
        body = body_of(mode, places, scales, shape)
        if body is None or int(np.float32(factors[0] * shape[2])) < 1:
            continue
        one = open_session(model(mode, places, scales, ", ".join(map(str, shape))))
        other = open_session(body)
        for x in images(shape):
            before, after = one.run(None, {"x": x})[0], other.run(None, {"X": x})[0]
            np.testing.assert_array_equal(np.isnan(before), np.isnan(after))
            np.testing.assert_allclose(before, after, 1e-5, 1e-5)
            zero = (before == 0) & (after == 0)
            np.testing.assert_array_equal(np.signbit(before[zero]), np.signbit(after[zero]))
            compared += 1
    assert compared


@pytest.mark.parametrize(("mode", "equality"), [("linear", "bits"), ("cubic", "reals")])
@pytest.mark.parametrize("scales", [(1, 1, 2, 2), (1, 1, 1.5, 0.7)])
def test_a_resize_is_its_longer_form(mode, equality, scales):
    before = model(mode, scales=scales)
    after = convert_version(before, 10, verify=False)
    proof = prove(before, after, equality=equality)
    assert proof.proved
    assert (mode == "cubic") is not is_proved(before, after)
    assert mode == "cubic" or "Resize" in proof.assumptions[0]
    assert not is_proved(model(mode, "asymmetric", scales), after, equality=equality)
    changed = onnx.ModelProto.FromString(after.SerializeToString())
    weights = [t for t in changed.graph.initializer if t.data_type == 1 and len(t.dims) == 2]
    numbers = onnx.numpy_helper.to_array(weights[0]).copy()
    numbers[1] += np.float32(1e-3)
    weights[0].CopyFrom(onnx.numpy_helper.from_array(numbers, weights[0].name))
    assert not is_proved(before, changed, equality=equality)


def test_bits_need_both_axes_of_an_image():
    along_one = """g (float[n, 2, 3, 4] x) => (float[n, 2, 6, 4] y) <float[4] s = {1, 1, 2, 1},
        int64[6] low = {0, 0, 0, 1, 1, 2}, int64[6] high = {1, 1, 1, 2, 2, 2},
        float[6, 1] v = {1, 0.75, 0.25, 0.75, 0.25, 0.5},
        float[6, 1] w = {0, 0.25, 0.75, 0.25, 0.75, 0.5}>"""
    before = f'{along_one} {{ y = Resize <mode = "linear"> (x, , s) }}'
    after = f"""{along_one} {{ l = Gather <axis = 2> (x, low) h = Gather <axis = 2> (x, high)
        a = Mul (l, v) b = Mul (h, w) y = Add (a, b) }}"""
    assert_open(before, after)  # onnxruntime multiplies the next column by 0
    other = after.replace("v = {1, 0.75", "v = {1, 0.5")
    assert over_reals(parsed(before), parsed(after))
    assert not over_reals(parsed(before), parsed(other))


@table("antialias = 1", "exclude_outside = 1", 'keep_aspect_ratio_policy = "not_larger"')
def test_other_attributes_have_no_definition(attribute):
    head = "g (float[n, 2, 3, 4] x) => (float[n, 2, 6, 8] y) <int64[2] s = {6, 8}>"
    nodes = 'y = Resize <mode = "linear", axes = [2, 3]> (x, , , s)'
    before = f"{head} {{ {nodes} }}"
    text = f'<ir_version: 8, opset_import: ["" : 18]> {before}'
    after = convert_version(onnx.parser.parse_model(text), 10, verify=False)
    assert is_proved(onnx.parser.parse_model(text), after)
    other = text.replace("axes =", f"{attribute}, axes =")
    assert not is_proved(onnx.parser.parse_model(other), after)


@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_scales_of_1(mode):
    head = "g (float[1, 2, 3, 4] x) => (float[1, 2, 3, 4] y) <float[4] s = {1, 1, 1, %s}>"
    places = f'mode = "{mode}", coordinate_transformation_mode = "align_corners"'
    nodes = f"{{ y = Resize <{places}> (x, , s) }}"
    same = head % 1 + "{ y = Identity (x) }"
    if mode == "nearest":
        assert "Resize" in assert_proved(head % 1 + nodes, same).assumptions[0]
    else:  # an infinity times 0 is NaN, though onnxruntime copies the image
        assert assert_open(head % 1 + nodes, same, weaker=True).equality == "reals"
    assert_open(head.replace("%s", "1.25") + nodes, same)
