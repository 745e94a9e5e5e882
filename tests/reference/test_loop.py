import numpy as np
import pytest
from reference_oracle import assert_as_onnxruntime, assert_same, parse
from straightline import reference
from straightline.reference import EvaluationError
from tables import table

ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)
M = {"m": np.array(4)}
ON = {"on": np.array(True)}

# Doubles the carried value in each iteration and stops once its sum is at least 100.
COUNTING = """agraph (int64 m, bool c, float[2, 3] x) => (float[2, 3] y, float[t, 2, 3] all) {{
  y, all = Loop ({inputs}, x) <body = step (int64 i, bool go, float[2, 3] v)
    => (bool more, float[2, 3] w, float[2, 3] seen) {{
      two = Constant <value_float = 2.0> ()
      limit = Constant <value_float = 100.0> ()
      w = Mul (v, two)
      seen = Identity (v)
      sum = ReduceSum <keepdims = 0> (w)
      more = Less (sum, limit) }}> }}"""


@pytest.mark.parametrize("inputs", ["m, c", ", c", "m, "])
@pytest.mark.parametrize(
    ("iterations", "go"), [(2, True), (9, True), (0, True), (-3, True), (9, False)]
)
def test_each_input_mode_is_as_in_onnxruntime(inputs, iterations, go):
    feeds = {"m": np.array(iterations), "c": np.array(go), "x": ROWS}
    assert_as_onnxruntime(parse(COUNTING.format(inputs=inputs)), feeds, break_without_cond=True)


def test_an_absent_condition_is_ignored_by_the_specification():
    model = parse(COUNTING.format(inputs="m, "))
    feeds = {"m": np.array(6), "c": np.array(True), "x": ROWS}
    assert reference.run(model, feeds)[1].shape == (6, 2, 3)
    assert reference.run(model, feeds, break_without_cond=True)[1].shape == (3, 2, 3)


def test_neither_trip_count_nor_condition_never_ends():
    model = parse(COUNTING.format(inputs=", "))
    feeds = {"m": np.array(6), "c": np.array(True), "x": ROWS}
    with pytest.raises(EvaluationError, match=r"Loop 'y': neither .* break_without_cond=True"):
        reference.run(model, feeds)
    assert_as_onnxruntime(model, feeds, break_without_cond=True)


def loop(text: str) -> str:
    """A graph of the given outputs and nodes, for a Loop over ``m``."""
    return f"agraph (int64 m, bool on, float[2, 3] x) => {text}"


SAME_AS_ONNXRUNTIME = {
    "scalar scan output": """(int64[t] y) {
      y = Loop (m, on) <body = b (int64 i, bool c) => (bool d, int64 s)
        { d = Identity (c)  s = Mul (i, i) }> }""",
    "carried value changes shape": """(float[a, b] y) {
      y = Loop (m, , x) <body = b (int64 i, bool c, float[p, q] v) => (bool d, float[r, s] w)
        { d = Identity (c)  w = Concat <axis = 0> (v, x) }> }""",
    "outputs are inputs, captures and one value twice": """(float[2, 3] y, float[2, 3] z,
        float[t, 2, 3] u, float[t, 2, 3] w) {
      k = Neg (x)
      y, z, u, w = Loop (m, , x, k)
        <body = b (int64 i, bool c, float[2, 3] p, float[2, 3] q)
          => (bool c, float[2, 3] q, float[2, 3] p, float[2, 3] n, float[2, 3] n)
          { n = Add (p, k) }> }""",
    "an initializer of the body as scan output": """(float[t, 2] y) {
      y = Loop (m, on) <body = b (int64 i, bool c) => (bool c, float[2] s)
        <float[2] s = {1.0, 2.0}> { } > }""",
    "a body input wins over an outer name": """(float[2, 3] y, float[2, 3] v) {
      v = Exp (x)
      y = Loop (m, , x) <body = b (int64 j, bool c, float[2, 3] v) => (bool c, float[2, 3] w)
        { f = Cast <to = 1> (j)  w = Add (v, f) }> }""",
    "captures through two levels": """(float[2, 3] y) {
      k = Neg (x)
      y = Loop (m, , x) <body = b (int64 i, bool c, float[2, 3] v) => (bool c, float[2, 3] w) {
        w = Loop (i, c, v) <body = b2 (int64 j, bool e, float[2, 3] p)
          => (bool e, float[2, 3] q) { f = Cast <to = 1> (i)  r = Mul (f, k)  q = Add (p, r) }>
      }> }""",
    "carried sequence": """(float[2, 3] y, int64 n) {
      e = SequenceEmpty <dtype = 1> ()
      s = Loop (m, , e) <body = b (int64 i, bool c, seq(float[2, 3]) v)
        => (bool c, seq(float[2, 3]) w)
        { f = Cast <to = 1> (i)  a = Add (x, f)  w = SequenceInsert (v, a) }>
      n = SequenceLength (s)
      l = Sub (n, n)
      y = SequenceAt (s, l) }""",
    "nothing carried, nothing scanned but a name used after": """(float[t, 2, 3] y, float[2, 3] a) {
      y = Loop (m, on) <body = b (int64 i, bool c) => (bool c, float[2, 3] a) { a = Abs (x) }>
      a = Neg (x) }""",
}


@pytest.mark.parametrize("text", SAME_AS_ONNXRUNTIME.values(), ids=SAME_AS_ONNXRUNTIME)
def test_feature_is_as_in_onnxruntime(text):
    assert_as_onnxruntime(parse(loop(text)), {**M, **ON, "x": ROWS - 3})


def test_any_name_inside_the_body_wins_over_an_outer_name():
    # onnxruntime refuses this for the outputs of nodes.
    text = """(float[2, 3] y, float[2, 3] f, float[2, 3] w) {
      f = Neg (x)
      w = Exp (x)
      y = Loop (m, on, x) <body = b (int64 i, bool c, float[2, 3] v) => (bool c, float[2, 3] w)
        <float[1] one = {1.0}> { f = Add (v, one)  w = Mul (f, f) }> }"""
    y, f, w = reference.run(parse(loop(text)), {"m": np.array(1), **ON, "x": ROWS})
    assert_same([y, f], [(ROWS + 1) ** 2, -ROWS])
    np.testing.assert_allclose(w, np.exp(ROWS), rtol=1e-6)


@pytest.mark.parametrize("rank", ["int64", "int64[1]"])
def test_counter_and_condition_take_the_rank_the_body_declares(rank):
    model = parse(f"""agraph (int64[1] m, bool[1] c) => (int64[t, r] y, bool[1] q) {{
      q, y = Loop (m, c, c) <body = b ({rank} i, bool[1] g, bool[1] p)
        => (bool[1] h, bool[1] o, int64[s] s) {{ h = Identity (g)  o = Not (p)
          one = Constant <value_ints = [1]> ()  s = Reshape (i, one) }}> }}""")
    assert_as_onnxruntime(model, {"m": np.array([3]), "c": np.array([True])})


@table(("float[2, 3]", (2, 3)), ("float", ()), ("float[p, 3]", (0, 3)), ("double[n]", (0,)))
def test_without_an_iteration_scan_outputs_are_empty_as_the_body_declares(declared, shape):
    text = f"""agraph (int64 m, bool on, {declared} x) => (float[a] y) {{
      y = Loop (m, on) <body = b (int64 i, bool c) => (bool c, {declared} s)
        {{ s = Neg (x) }}> }}"""
    model = parse(text)
    model.graph.output[0].ClearField("type")
    x = np.zeros(shape, np.float64 if declared.startswith("double") else np.float32)
    (got,) = reference.run(model, {"m": np.array(0), **ON, "x": x})
    assert_same(got, np.zeros((0, *shape), x.dtype))


def test_without_an_iteration_the_shape_is_inferred_where_the_body_does_not_declare_it():
    model = parse("""agraph (int64 m, bool on) => (float[a, b] y) {
      y = Loop (m, on) <body = b (int64 i, bool c) => (bool c, float s)
        <float[5] w = {1., 2., 3., 4., 5.}> { s = Neg (w) }> }""")
    body = model.graph.node[0].attribute[0].g
    body.output[1].type.tensor_type.ClearField("shape")
    assert reference.run(model, {"m": np.array(0), **ON})[0].shape == (0, 5)
    body.output[1].ClearField("type")
    assert_same(reference.run(model, {"m": np.array(0), **ON})[0], np.zeros((0, 5), np.float32))


def test_a_carried_optional_may_become_empty():
    model = parse("""agraph (int64 m, optional(float[2, 3]) o) => (bool y) {
      p = Loop (m, , o) <body = b (int64 i, bool c, optional(float[2, 3]) v)
        => (bool c, optional(float[2, 3]) w) { w = Optional <type = float[2, 3]> () }>
      y = OptionalHasElement (p) }""")
    for iterations, has in [(0, True), (2, False)]:
        (got,) = reference.run(model, {"m": np.array(iterations), "o": ROWS})
        assert got.item() is has
    assert reference.run(model, {"m": np.array(0), "o": None})[0].item() is False


def test_scan_elements_that_change_shape_are_an_error():
    model = parse("""agraph (int64 m, float[n] x) => (float[a, b] y) {
      v, y = Loop (m, , x) <body = b (int64 i, bool c, float[p] v)
        => (bool c, float[q] w, float[q] s) { w = Concat <axis = 0> (v, x)  s = Neg (w) }> }""")
    with pytest.raises(EvaluationError, match=r"Loop 'v': body output 's' .* iteration 1"):
        reference.run(model, {**M, "x": np.ones(2, np.float32)})


def test_a_trip_count_of_two_elements_is_an_error():
    model = parse("""agraph (int64[n] m, bool on) => (int64[t] y) {
      y = Loop (m, on) <body = b (int64 i, bool c) => (bool c, int64 s) { s = Neg (i) }> }""")
    with pytest.raises(EvaluationError, match="trip count must hold one element"):
        reference.run(model, {"m": np.array([1, 2]), **ON})
