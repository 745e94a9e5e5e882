"""What a call gives a function: attributes, defaults, inputs and outputs that are left out."""

import numpy as np
from harness import as_model, assert_equal, assert_equal_outputs, op_types, run_passes
from local_functions import HEAD, LOCAL, TIMES, X, control_flow, straightened
from straightline import ir, reference
from straightline.passes import Pipeline
from straightline.passes.functions.inline_functions import InlineFunctions


def test_attributes_decide():
    text = HEAD + (
        "g (float[2] x) => (float[2] y) { u = local.times <k = 3> (x) y = local.times <k = 2> (u) }"
        + TIMES
    )
    model, _ = straightened(text)
    assert control_flow(model) == []
    assert op_types(model) == ["Neg"] * 5
    assert not model.functions
    assert_equal_outputs(text, model, X)


def test_defaults_of_attributes_and_absent_ones():
    text = HEAD + (
        """g (float[2,2] x) => (float[1,2] y) <bool yes = {1}> { y = local.f (x, yes) }"""
        + LOCAL
        + """f <keepdims, noop, steps: int = 2> (a, c) => (r) {
           r = If (c) <
              then_branch = t () => (p) {
                 axes = Constant <value_ints = [0]> ()
                 s = Constant <value_int: int = @steps> ()
                 f = Cast <to = 1> (s)
                 q = Mul (a, f)
                 p = ReduceSum <keepdims: int = @keepdims,
                                noop_with_empty_axes: int = @noop> (q, axes)
              },
              else_branch = e () => (p2) { p2 = Identity (a) } >
        }"""
    )
    feeds = {"x": np.array([[1, 2], [3, 4]], np.float32)}
    result = run_passes(text, InlineFunctions(), feeds=[feeds])
    assert not result.model.functions
    assert control_flow(result.model) == []
    assert_equal(reference.run(result.model, feeds)[0], np.array([[8, 12]], np.float32))


def test_inputs_left_out_are_absent_inside_too():
    text = HEAD + (
        """g (float[2] x) => (float[2] y) <float low = {0.0}> { y = local.f (x, low) }"""
        + LOCAL
        + """f (a, low, high) => (r) {
           yes = Constant <value_int = 1> ()
           c = Cast <to = 9> (yes)
           l = Loop (yes, , a) <body = b (int64 i, bool d, float[2] s) => (bool d, float[2] t) {
              t = Clip (s, low, high) }>
           r = If (c) <
              then_branch = t () => (p) { p = Clip (l, low, high) },
              else_branch = e () => (q) { q = Neg (l) } > }"""
    )
    result = run_passes(text, InlineFunctions(always=True))
    assert not result.model.functions
    model, _ = straightened(text)
    assert control_flow(model) == []
    for rewritten in (result.model, model):
        assert_equal_outputs(rewritten, rewritten, X)
        assert_equal(reference.run(rewritten, X)[0], np.array([1, 0], np.float32))


def test_an_input_left_out_but_given_out_is_kept():
    text = HEAD + (
        "g (float[2] x, bool c) => (float[2] y) { y, z = local.f (c, x) }"
        + LOCAL
        + """f (c, a, b) => (r, b) {
           r = If (c) <
              then_branch = t () => (p) { p = Exp (a) },
              else_branch = e () => (q) { q = Abs (a) } > }"""
    )
    loaded = ir.load(as_model(text))
    result = Pipeline([InlineFunctions(always=True)]).apply(loaded)
    assert not result.changed
    assert "returns its input 'b'" in result.kept[0].reason


def test_omitted_outputs_and_inputs_given_out():
    text = HEAD + (
        """g (float[2] x) => (float[2] y, float[2] z) <bool yes = {1}> {
           u, , y = local.f (x, yes)
           z = Neg (u) }"""
        + LOCAL
        + """f (a, c) => (a, k, r) {
           k = Abs (a)
           r = If (c) <
              then_branch = t () => (p) { p = Exp (k) },
              else_branch = e () => (q) { q = Abs (k) } > }"""
    )
    result = run_passes(text, InlineFunctions())
    assert not result.model.functions
    assert_equal(reference.run(result.model, X)[1], -X["x"])
    assert_equal(reference.run(result.model, X)[0], np.exp(np.abs(X["x"])))


def test_an_attribute_passed_on_that_may_be_absent():
    text = HEAD + (
        "g (float[2] x) => (float[2] y) { y = local.outer (x) }"
        + LOCAL
        + "outer <n> (a) => (r) { r = local.times <k: int = @n> (a) }"
        + TIMES.replace("<k>", "<k: int = 2>")
    )
    loaded = ir.load(as_model(text))
    result = Pipeline([InlineFunctions(always=True)]).apply(loaded)
    inside = [r for r in result.remarks if r.path.startswith("local::outer")]
    assert not inside  # The call inside went away with its function.
    assert not loaded.functions
    model, _ = straightened(text)
    assert op_types(model) == ["Neg", "Neg"]
    assert_equal_outputs(text, model, X)
