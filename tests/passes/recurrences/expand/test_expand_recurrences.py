import numpy as np
from depth import examples
from harness import assert_keeps, assert_rewrites, run_in_onnxruntime, run_passes
from hypothesis import given, settings
from hypothesis import strategies as st
from layers import drawn, expanded, one_layer, sharing, sizes
from straightline import reference
from straightline.passes import ExpandRecurrences
from tables import table

NUMBERS = np.random.default_rng(7)


def numbers(*shape):
    return NUMBERS.normal(size=shape).astype(np.float32)


def test_each_step_is_a_copy_of_the_cell():
    assert_rewrites(
        ExpandRecurrences(),
        """g (float[2, 3, 1] x, float[1, 3, 2] h0) => (float[2, 1, 3, 2] y, float[1, 3, 2] h)
        <float[1, 2, 1] w = {1, 2}, float[1, 2, 2] r = {1, 2, 3, 4}, float[1, 4] b = {1, 2, 3, 4}> {
            y, h = RNN (x, w, r, b, , h0) }""",
        """g (float[2, 3, 1] x, float[1, 3, 2] h0) => (float[2, 1, 3, 2] y, float[1, 3, 2] h)
        <int64[1] axes = {0}, float[1, 2] w = {1, 2}, int64[2] sizes = {2, 2},
            float[2] b = {4, 6}, int64[2] shape = {0, 4}, float[2, 2] r = {1, 3, 2, 4},
            int64[4] shape_1 = {0, 2, 1, 2}> {
            by_rows = Transpose <perm = [1, 0, 2]> (x)
            h0_part = Squeeze (h0, axes)
            products = MatMul (by_rows, w)
            fed = Add (products, b)
            fed_flat = Reshape (fed, shape)
            fed_0, fed_1 = Split <axis = 1> (fed_flat, sizes)
            kept_0 = MatMul (h0_part, r)
            total_0 = Add (fed_0, kept_0)
            h_0 = Tanh (total_0)
            kept_1 = MatMul (h_0, r)
            total_1 = Add (fed_1, kept_1)
            h_1 = Tanh (total_1)
            hs = Concat <axis = 1> (h_0, h_1)
            y_by_rows = Reshape (hs, shape_1)
            y = Transpose <perm = [1, 2, 0, 3]> (y_by_rows)
            h = Unsqueeze (h_1, axes) }""",
        feeds=[{"x": numbers(2, 3, 1), "h0": numbers(1, 3, 2)}],
    )


def test_a_scan_makes_steps_of_which_run_time_tells_the_number():
    assert_rewrites(
        ExpandRecurrences(),
        """g (float[T, 3, 1] x, float[1, 3, 2] h0) => (float[T, 1, 3, 2] y, float[1, 3, 2] h)
        <float[1, 2, 1] w = {1, 2}, float[1, 2, 2] r = {1, 2, 3, 4}> {
            y, h = RNN <direction = "reverse"> (x, w, r, , , h0) }""",
        """g (float[T, 3, 1] x, float[1, 3, 2] h0) => (float[T, 1, 3, 2] y, float[1, 3, 2] h)
        <int64[1] axes = {0}, float[2, 2] r = {1, 3, 2, 4}, float[1, 2] w = {1, 2},
            int64[1] axes_1 = {1}> {
            h0_part = Squeeze (h0, axes)
            products = MatMul (x, w)
            h_last, hs = Scan <num_scan_inputs = 1, scan_input_directions = [1],
                scan_output_directions = [1], body = step (float[3, 2] h_1, float[3, 2] fed)
                => (float[3, 2] h_2, float[3, 2] h_3) {
                    kept = MatMul (h_1, r)
                    total = Add (fed, kept)
                    h_2 = Tanh (total)
                    h_3 = Identity (h_2) }> (h0_part, products)
            y = Unsqueeze (hs, axes_1)
            h = Unsqueeze (h_last, axes) }""",
        feeds=[{"x": numbers(steps, 3, 1), "h0": numbers(1, 3, 2)} for steps in (1, 4)],
    )


@settings(max_examples=examples(25), deadline=None)
@given(st.randoms(use_true_random=False), st.booleans())
def test_results_stay(pick, straight):
    case = drawn(pick)
    result = run_passes(case.model, ExpandRecurrences(max_trips=None if straight else 0))
    if not result.changed:
        (reason,) = [remark.reason for remark in result.kept]
        older = max(entry.version for entry in case.model.opset_import) < 9
        assert older and (
            "convert to opset" in reason or "iterations" in reason or "--shape" in reason
        )
        return
    half = case.model.graph.output[0].type.tensor_type.elem_type == 10
    rounding = {"rtol": 2e-2, "atol": 2e-2} if half else {"rtol": 1e-4, "atol": 1e-5}
    with np.errstate(all="ignore"):
        expected = reference.run(case.model, case.feed)
        compared = [reference.run(result.model, case.feed)]
    if case.tame and case.runs:
        compared += [run_in_onnxruntime(m, case.feed) for m in (case.model, result.model)]
    for got in compared:
        for one, other in zip(expected, got, strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            if case.tame:
                np.testing.assert_allclose(other, one, **rounding)


LAYER = "float[T, 2, 1] x, float[1, 3, 1] w, float[1, 3, 1] r"


@table(
    ('<activations = ["Swish", "Tanh"]>', {}, "it has the activation Swish"),
    ('<activations = ["Affine", "Tanh"]>', {}, "it omits parameters of Affine"),
    ("", {"straight": True}, "its length depends on the shape of input 'x'; decide it with"),
)
def test_kept_layers(node, options, reason):
    model = one_layer(f"GRU {node} (x, w, r)", LAYER)
    assert_keeps(ExpandRecurrences(**options), model, reason)


def test_budgets():
    model = one_layer("GRU (x, w, r)", LAYER.replace("T", "30"))
    assert expanded(model)[1] == "unrolled, 30 steps"
    told = "would add 422 nodes to the 0 added so far, over max_nodes=400; raise it with"
    assert_keeps(ExpandRecurrences(straight=True, max_nodes=400), model, told)
    after, what = expanded(model, max_nodes=400)
    assert what.startswith("is a Scan now: its 30 iterations would add 422 nodes")
    assert "Scan" in {node.op_type for node in after.graph.node}
    assert (
        "is a Scan now: its 30 iterations are more than max_trips=29"
        in expanded(model, max_trips=29)[1]
    )


def test_nodes_that_share_weights_share_what_is_made_of_them():
    result = run_passes(sharing(3), ExpandRecurrences())
    assert sizes(result.model) == [128 * 32, 128]  # of the state, 0 is left
