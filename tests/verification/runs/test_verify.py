import json

import ml_dtypes
import numpy as np
import onnx
import pytest
from straightline import ir
from straightline.runtimes.feeds import FeedError
from straightline.verification.runs.adversarial_inputs import KINDS
from tables import table
from verified import LOOP, SCALE, UNROLLED, model

# What is equal, and what is told of it


@pytest.mark.parametrize("runtime", ["auto", "onnxruntime", "reference", "both"])
def test_an_unrolled_loop_is_equal(check, runtime):
    verdict = check(model(LOOP), model(UNROLLED), runtime=runtime)
    assert verdict.equal, verdict
    assert bool(verdict)
    assert [o.status for o in verdict.outputs] == ["equal", "equal"]
    plain = [label for label in verdict.samples if not label.startswith("separating")]
    assert plain == ["sample 0", "sample 1", "sample 2", *KINDS]
    expected = {"auto": ("onnxruntime",), "both": ("onnxruntime", "reference")}
    assert verdict.runtimes == expected.get(runtime, (runtime,))


def test_every_kind_of_model_is_taken(check, tmp_path):
    proto = model(SCALE % "1, 2, 3")
    path = tmp_path / "model.onnx"
    onnx.save(proto, path)
    for source in (path, str(path), proto.SerializeToString(), ir.load(proto)):
        assert check(source, proto, samples=1).equal


def test_the_same_call_gives_the_same_verdict(check):
    calls = [check(model(SCALE % "1, 2, 3"), model(SCALE % "1, 2, 4")).to_dict() for _ in range(2)]
    for found in calls:
        found.pop("seconds")
    assert calls[0] == calls[1]


# What is caught


@pytest.mark.parametrize("runtime", ["onnxruntime", "reference", "both"])
def test_a_changed_weight_is_located(check, runtime):
    verdict = check(model(SCALE % "1, 2, 3"), model(SCALE % "1, 2, 3.5"), runtime=runtime)
    assert verdict.status == "different"
    assert not verdict
    (output,) = verdict.outputs
    assert output.difference.first.index == (0, 2)
    assert output.sample == "sample 0"
    assert "y: different in values at [0, 2]" in str(verdict)
    found = json.loads(json.dumps(verdict.to_dict(), allow_nan=False))
    assert found["outputs"][0]["difference"]["first"]["index"] == [0, 2]
    assert found["equal"] is False


def test_tolerances_can_be_widened(check):
    pair = model(SCALE % "1, 2, 3"), model(SCALE % "1, 2, 3.001")
    assert check(*pair).status == "different"
    assert check(*pair, rtol=1e-2).equal


def test_activations_of_recurrent_operators_are_off_by_as_much_near_zero(check):
    """Those of onnxruntime by 2e-7, which is much of a result of 1e-4."""
    recurrent = """(float[1, 8, 1] x) => (float[1, 1, 8, 1] y)
        <float[1, 1, 1] w = {0.001}, int64[1] k = {1}, float s = {%s}>"""
    whole = model(recurrent % 0.001 + "{ y = RNN <hidden_size = 1> (x, w, w) }")
    apart = "{ p = Mul (x, s) t = Tanh (p) y = Unsqueeze (t, k) }"
    assert check(whole, model(recurrent % 0.001 + apart)).equal
    assert check(whole, model(recurrent % 0.00101 + apart)).status == "different"
    one, other = (model(recurrent % s + apart) for s in (0.001, 0.0010001))
    assert check(one, other).status == "different"


@table(
    ("y = Identity(x)", "y = Unsqueeze(x, zero)", "shape"),
    ("y = Identity(x)", "y = Cast<to = 11>(x)", "type"),
    ("y = SequenceConstruct(x, x)", "y = SequenceConstruct(x)", "length"),
    ("y = SequenceConstruct(x, x)", "y = Identity(x)", "type"),
    ("y = Log(x)", "n = Abs(x) y = Log(n)", "values"),
    ("y = Div(x, nil)", "n = Neg(x) y = Div(n, nil)", "values"),
)
def test_changes_of_type_shape_length_and_special_values_are_caught(before, after, kind, check):
    def graph(body):
        constants = "<int64[1] zero = {0}, float nil = {0}>"
        found = model(f"(float[4] x) => (float[4] y) {constants} {{ {body} }}")
        found.graph.output[0].type.Clear()
        found.graph.output[0].CopyFrom(onnx.shape_inference.infer_shapes(found).graph.output[0])
        return found

    verdict = check(graph(before), graph(after))
    assert verdict.status == "different"
    assert verdict.outputs[0].difference.kind == kind
    assert check(graph(before), graph(before)).equal


def test_a_branch_that_only_one_value_takes_is_run(check):
    text = (
        "(bool c, float[2] x) => (float[2] y) { y = If (c) <then_branch = t () => (float[2] a)"
        " { a = Add(x, x) }, else_branch = e () => (float[2] b) { b = %s(x) }> }"
    )
    assert check(model(text % "Neg"), model(text % "Neg")).equal
    assert check(model(text % "Neg"), model(text % "Abs")).status == "different"


@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
@pytest.mark.parametrize("kind", ["float[1] w, float[2] x", "float[2] x, float[1] w"])
def test_a_baked_default_of_an_overridable_initializer_is_caught(check, kind, runtime):
    graph = "(%s) => (float[2] y) <float[1] w = {2}, float[1] c = {2}> { y = Mul(x, %s) }"
    kept, baked = (model(graph % (kind, name)) for name in "wc")
    assert check(kept, kept, runtime=runtime).equal
    verdict = check(kept, baked, runtime=runtime)
    assert verdict.status == "different"
    assert verdict.outputs[0].sample == "other values for initializer 'w'"


def test_a_baked_trip_count_is_caught(check):
    before = LOOP.replace("(float[2] x)", "(float[2] x, int64 iterations)", 1).replace(
        "iterations = Constant <value_int = 3> ()", ""
    )
    before = before.replace("{\n", "<int64 iterations = {3}> {\n", 1)
    after = UNROLLED.replace("(float[2] x)", "(float[2] x, int64 iterations)", 1)
    after = after.replace("<int64[1]", "<int64 iterations = {3}, int64[1]", 1)
    verdict = check(model(before), model(after))
    assert verdict.status == "different"
    assert "another value for initializer 'iterations'" in str(verdict)


@pytest.mark.parametrize("ir_version", [10, 3])
def test_a_lost_or_new_input_is_told_and_a_bound_one_is_not(check, ir_version):
    before = model("(float[2] x, float s) => (float[2] y) { y = Mul(x, s) }", ir_version=ir_version)
    after = model("(float[2] x) => (float[2] y) <float s = {2}> { y = Mul(x, s) }")
    verdict = check(before, after)
    assert verdict.status == "different"
    assert "input 's' is missing" in verdict.reason
    assert "input 's' is new" in check(after, before).reason
    assert check(before, after, bound={"s": 2.0}).equal
    assert check(before, after, bound={"s": 3.0}).status == "different"


def test_a_rewrite_that_fails_where_the_original_runs_is_different(check):
    before = model("(float[2] x) => (float[2] y) { y = Neg(x) }")
    after = model(
        "(float[2] x) => (float[A] y) <int64[1] s = {3}> { n = Neg(x) y = Reshape(n, s) }"
    )
    verdict = check(before, after)
    assert verdict.status == "different"
    assert "the rewrite does not run on sample 0, where the original does" in verdict.reason


def test_an_invalid_rewrite_is_different(check):
    before = model("(float[2] x) => (float[2] y) { y = Neg(x) }")
    verdict = check(before, model("(float[2] x) => (float[2] y) { y = Neg(x, x) }"))
    assert verdict.status == "different"
    assert "not a valid model" in verdict.reason


# Inputs


def test_inputs_that_the_original_refuses_are_drawn_again(check):
    picky = model(
        "(float[A] x, float[B] y, int64[1] n) => (float[C] z) <int64[1] last = {1}>"
        " { s = Add(x, y) z = Gather(s, n) }"
    )
    verdict = check(picky, picky)
    assert verdict.equal
    assert any("drawn inputs; others were drawn" in note for note in verdict.notes)


def test_models_without_a_fitting_input_are_not_verified(check):
    picky = model(
        "(int64[2] s, float[5] x) => (float[A,B] y) <int64[2] big = {7, 11}>"
        " { t = Mul(s, big) y = Reshape(x, t) }"
    )
    verdict = check(picky, picky)
    assert verdict.status == "not verified"
    assert not verdict.equal
    assert "the original does not run on sample" in verdict.reason
    assert verdict.outputs == ()


def test_given_inputs_that_the_original_refuses_are_not_verified(check):
    picky = model("(float[4] x, int64[1] n) => (float[1] y) { y = Gather(x, n) }")
    feeds = [{"x": [1, 2, 3, 4], "n": [index]} for index in (3, 9)]
    assert check(picky, picky, feeds=feeds[:1]).equal
    verdict = check(picky, picky, feeds=feeds)
    assert verdict.status == "not verified"
    assert "the original does not run on given sample 1" in verdict.reason


def test_a_branch_that_never_runs_is_noted(check):
    picky = model(
        "(bool c) => (float[A] y) <float[5] x = {1, 2, 3, 4, 5}, int64[1] bad = {7}> {"
        " y = If (c) <then_branch = t () => (float[A] a) { a = Neg(x) },"
        " else_branch = e () => (float[A] b) { b = Reshape(x, bad) }> }"
    )
    verdict = check(picky, picky)
    assert verdict.equal
    assert "the original failed on 12 drawn inputs" in verdict.notes[-1]


def test_an_input_that_cannot_be_drawn_is_not_verified(check):
    mapped = model("(float[1] m) => (float[1] y) { y = Identity(m) }")
    mapped.graph.input[0].type.map_type.key_type = onnx.TensorProto.INT64
    mapped.graph.input[0].type.map_type.value_type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    verdict = check(mapped, mapped)
    assert verdict.status == "not verified"
    assert "give inputs with --inputs FILE.npz (feeds= in Python)" in verdict.reason


def test_given_inputs_are_used_in_every_form(check, tmp_path):
    before = model("(float[2] x) => (float[2] y) { y = Abs(x) }")
    after = model("(float[2] x) => (float[2] y) { y = Identity(x) }")
    good, bad = np.float32([1, 2]), np.float32([1, -2])
    np.savez(tmp_path / "in.npz", x=bad)
    folder = tmp_path / "test_data_set_0"
    folder.mkdir()
    (folder / "input_0.pb").write_bytes(onnx.numpy_helper.from_array(bad).SerializeToString())
    assert check(before, after, feeds={"x": good}).equal
    for feeds in ([{"x": good}, {"x": bad}], tmp_path / "in.npz", folder):
        assert check(before, after, feeds=feeds).outputs[0].difference.first.index == (1,)
    assert check(before, after, feeds=[{"x": good}, {"x": bad}]).outputs[0].sample == (
        "given sample 1"
    )
    with pytest.raises(FeedError, match="no input 'z'"):
        check(before, after, feeds={"z": good})


def test_the_rewrites_fixed_shape_is_drawn(check):
    before = model("(float[N,M] x) => (float[N,M] y) { y = Neg(x) }")
    assert check(before, model("(float[2,7] x) => (float[2,7] y) { y = Neg(x) }")).equal


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "int4", "uint2", "complex128"])
def test_rare_element_types_are_verified(check, name):
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
    element = onnx.helper.np_dtype_to_tensor_dtype(dtype)
    infos = [onnx.helper.make_tensor_value_info(n, element, ["N", 3]) for n in "xy"]

    def graph(axis):
        node = onnx.helper.make_node("Flatten", ["x"], ["y"], axis=axis)
        inner = onnx.helper.make_graph([node], "g", infos[:1], infos[1:])
        opset = onnx.helper.make_opsetid("", 25)
        return onnx.helper.make_model(inner, opset_imports=[opset], ir_version=13)

    assert check(graph(1), graph(1)).equal
    assert check(graph(1), graph(0)).status == "different"


# Random operators


def test_unseeded_draws_are_compared_by_type_and_shape(check):
    text = "(float[2] x) => (float[2] y, float[2] z) { y = RandomNormalLike(x) z = %s }"
    verdict = check(model(text % "Neg(x)"), model(text % "Neg(x)"))
    assert verdict.equal
    assert [o.status for o in verdict.outputs] == ["not deterministic", "equal"]
    assert check(model(text % "Neg(x)"), model(text % "Abs(x)")).status == "different"


def test_nothing_but_unseeded_draws_is_not_verified(check):
    text = "(float[2] x) => (float[%d] y) { y = RandomNormal<shape = [%d]>() }"
    verdict = check(model(text % (2, 2)), model(text % (2, 2)))
    assert verdict.status == "not verified"
    assert "not deterministic" in verdict.reason
    assert check(model(text % (2, 2)), model(text % (3, 3))).status == "different"


def test_seeded_draws_are_compared_by_value(check):
    text = "(float[2] x) => (float[2] y) { y = RandomNormalLike<seed = %s>(x) }"
    assert check(model(text % "1.0"), model(text % "1.0")).equal
    assert check(model(text % "1.0"), model(text % "2.0")).status == "different"


@pytest.mark.sample(1)
@pytest.mark.parametrize(("room", "wanted"), [(1, 1), (2, 2), (9, 10)])
def test_inputs_of_large_fixed_sizes_have_few_samples(check, monkeypatch, room, wanted):
    monkeypatch.setattr("straightline.verification.runs.verify._ELEMENTS_OF_RUNS", 6 * room)
    fixed, grows = (
        model(f"(float[{rows}, 3] x) => (float[{rows}, 3] y) {{ y = Sin (x) }}") for rows in "2n"
    )
    assert len(check(fixed, fixed).samples) <= wanted
    assert len(check(grows, grows).samples) >= room
    assert len(check(fixed, fixed, samples=4).samples) >= 4
