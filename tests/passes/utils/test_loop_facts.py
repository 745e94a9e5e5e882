import numpy as np
import onnx
import pytest
from harness import as_model, assert_equal_outputs
from straightline.facts.fact import Fact, is_settled
from straightline.ir import load, to_proto
from straightline.passes import parse_pipeline
from straightline.passes.base import PassContext
from straightline.passes.utils.loop_facts import settled_outputs
from tables import table

LOOP = """g (float[N, 4] x) => ({declared} y, {rows} z) <int64 n = {{{iterations}}}> {{
    y, z = Loop (n, , x) <body = b (int64 i, bool c, float[N, 4] h)
        => (bool d, float[N, 4] k, float[N, 4] r) {{
        d = Identity (c)  a = {step}  k = Neg (a)  r = Tanh (a) }}> }}"""
SCAN = """g (float[N] s, float[{iterations}, N] x) => ({declared} y, {rows} z) {{
    y, z = Scan <num_scan_inputs = 1, body = b (float[N] h, float[N] e)
        => (float[N] k, float[N] r) {{
        a = Add (h, e)  k = Neg (a)  r = Tanh (a) }}> (s, x) }}"""


def unrolled(text: str, pipeline: str, **parts: object) -> tuple[object, PassContext]:
    model, context = load(as_model(text.format(**parts))), PassContext()
    parse_pipeline(pipeline).apply(model, run=context)
    return model, context


@table((LOOP, "unroll-loops"), (SCAN, "unroll-scans"), ids=["loop", "scan"])
def test_the_body_is_inferred_in_place_of_all_copies(text, pipeline):
    def inferred(iterations: int) -> int:
        sizes = {"declared": "float[A, B]", "rows": "float[C, D, E]", "step": "Abs (h)"}
        if text is SCAN:
            sizes |= {"declared": "float[A]", "rows": "float[C, D]"}
        _, context = unrolled(text, pipeline, iterations=iterations, **sizes)
        return context.analyses.memory.tally.nodes

    assert inferred(400) == inferred(40)


@pytest.mark.parametrize("iterations", [3, 20])
def test_declarations_that_copies_prove_false_are_corrected(iterations):
    model, context = unrolled(
        LOOP,
        "unroll-loops",
        declared="float[A, 7]",
        rows="float[2, B, C]",
        iterations=iterations,
        step="Abs (h)",
    )
    y, z = to_proto(model).graph.output
    assert [d.dim_param or d.dim_value for d in y.type.tensor_type.shape.dim] == ["A", 4]
    assert z.type.tensor_type.shape.dim[0].dim_value == iterations
    assert sum(remark.action == "noted" for remark in context.remarks) == 2
    onnx.checker.check_model(to_proto(model), full_check=True)


def test_sizes_that_grow_are_followed_through_the_copies():
    """The facts of the Loop tell nothing then."""
    text = """g (float[2] x) => (float[3] y) <int64 n = {10}> {
        y = Loop (n, , x) <body = b (int64 i, bool c, float[N] h) => (bool d, float[M] k) {
            d = Identity (c)  k = Concat <axis = 0> (h, x) }> }"""
    model = load(as_model(text))
    (loop,) = model.graph.nodes_of("Loop")
    assert settled_outputs(PassContext().inference(model), loop, 10) == {}
    parse_pipeline("unroll-loops").apply(model)
    (info,) = to_proto(model).graph.output
    assert info.type.tensor_type.shape.dim[0].dim_value == 22


def test_a_state_that_passes_through_keeps_its_own_facts():
    """The elements of a shape are no fact of a Loop's output."""
    text = """g (float[N, 2] x) => (float[N, 2] y, float[A, B] z)
        <int64 n = {10}, float one = {1}> {
        s = Shape (x)
        y, t = Loop (n, , x, s) <body = b (int64 i, bool c, float[N, 2] h, int64[2] u)
            => (bool d, float[N, 2] k, int64[2] u) { d = Identity (c)  k = Neg (h) }>
        z = Expand (one, t) }"""
    before = as_model(text)
    model, context = load(before), PassContext()
    parse_pipeline("unroll-loops").apply(model, run=context)
    (neg,) = (node for node in model.graph.nodes_of("Neg") if node.output() in model.graph.outputs)
    assert list(context.analyses.facts) == [neg.output()]
    assert_equal_outputs(before, to_proto(model), {"x": np.ones((3, 2), np.float32)})


def test_inside_a_body_nothing_is_recorded():
    text = """g (float[2] x, int64 m) => (float[2] y) {
        y = Loop (m, , x) <body = o (int64 j, bool e, float[2] p) => (bool f, float[2] q) {
            f = Identity (e)  n = Constant <value_int = 10> ()
            q = Loop (n, , p) <body = b (int64 i, bool c, float[2] h) => (bool d, float[2] k) {
                d = Identity (c)  k = Neg (h) }> }> }"""
    model, context = load(as_model(text)), PassContext()
    parse_pipeline("unroll-loops").apply(model, run=context)
    assert len(model.graph.nodes_of("Loop")) == 1 and context.analyses.facts == {}


def test_a_fact_is_settled_by_a_type_and_sizes_without_private_symbols():
    assert is_settled(Fact(1, ()))
    assert not is_settled(Fact(1)) and not is_settled(Fact(0, ()))
