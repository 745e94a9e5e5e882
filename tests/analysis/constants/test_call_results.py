from harness import as_model
from straightline import ir
from straightline.analysis.constants.call_results import CallResults, tells_anything
from straightline.analysis.constants.folding import Folder
from straightline.analysis.shapes.inference import ShapeInference
from straightline.limits import Limits, governed
from tables import table

HEAD = '<ir_version: 10, opset_import: ["" : 21, "local" : 1]>\n'
LOCAL = '\n<domain: "local", opset_import: ["" : 21, "local" : 1]>\n'
GIVEN = "int64 two = {2}, float half = {0.5}, int64 zero = {0}, float[3] w = {1, 2, 3}"


def load(call, *functions, signature="float[3] x, float[N] z, int64 n", given=GIVEN):
    text = "".join(LOCAL + function for function in functions)
    return ir.load(as_model(f"{HEAD} g ({signature}) => (r) <{given}> {{ {call} }}{text}"))


def results(model, max_bytes=1 << 20, max_work=100_000_000):
    """What is known of the outputs of the calls of a main graph, by name."""
    with governed(Limits(max_work=max_work)) as governor:
        found = _results(model, max_bytes)
    assert governor.work <= max_work
    return found


def _results(model, max_bytes):
    found = CallResults(Folder(model, max_bytes), lambda: ShapeInference(model))
    calls = [node for node in model.graph.nodes() if node.domain == "local"]
    known = {v.name: t for node in calls for v, t in found.of(node, set(node.outputs)).items()}
    return {name: tensor.numpy().tolist() for name, tensor in known.items()}


STEP = """step (a, n) => (r, m, f) {
    r = Neg (a)
    s = Size (r)
    m = Add (s, n)
    c = Cast <to = 1> (m)
    h = Constant <value_float = 0.5> ()
    f = Mul (c, h) }"""


@table(
    ("r, m, f = local.step (x, two)", {"m": 5, "f": 2.5}),
    ("r, m, f = local.step (z, two)", {}),
    ("r, m, f = local.step (x, n)", {}),
    ("r, m, f = local.step (w, two)", {"r": [-1, -2, -3], "m": 5, "f": 2.5}),
)
def test_outputs_are_judged_one_by_one(call, wanted):
    assert results(load(call, STEP)) == wanted


def test_constants_of_a_call_result():
    limited = """limited <k, d: float = 3.0> (a, b, low, high) => (r, c, j) {
        r = Neg (a)
        m = Constant <value_float: float = @d> ()
        p = Clip (m, low, high)
        c = Mul (b, p)
        j = Constant <value_int: int = @k> ()
    }"""
    calls = """r, c, j = local.limited <k = 4> (x, half)
        r1, c1, j1 = local.limited <k = 5, d = 7.0> (x, half, "", half)"""
    wanted = {"c": 1.5, "j": 4, "c1": 0.25, "j1": 5}
    assert results(load(calls, limited)) == wanted


def test_calls_inside_of_calls():
    outer = """outer (a, n) => (r, y) {
        b, m, f = local.step (a, n)
        c, k, y = local.step (b, m)
        r = Identity (c) }"""
    model = load("r, y = local.outer (x, two) s, q = local.outer (z, two)", outer, STEP)
    assert results(model) == {"y": 4.0}


@table(
    "m = RandomNormalLike (w)",
    "e = Constant <value_int = 0> () m = Div (n, e)",
    "m = Add (n, a)",
    "m = local.f (a, n)",
    "m = com.microsoft.Foo (n)",
    "t = Constant <value_floats = [1.0]> () s = Constant <value_float = 1.0> ()"
    " m = QuantizeLinear (t, s)",
    "l = Constant <value_ints = [1000000000]> () m = Expand (n, l)",
    "m = Loop (n, , n) <body = b (int64 i, bool c, p) => (bool c, q) { q = Neg (p) }>",
)
def test_nodes_left_uncomputed(inside):
    """Random and quantizing operators, failures, what run time tells, calls in a circle, operators
    that nobody knows, what is large, and control flow, which others look after."""
    function = f"f (a, n) => (m) {{ {inside} }}"
    text = HEAD + f"g (int64 x) => (r) <int64 two = {{2}}> {{ r = local.f (x, two) }}{LOCAL}"
    model = ir.load(as_model(text + function.replace("local.f", "Max").replace("(w)", "(n)")))
    (held,) = model.functions.values()
    if "local.f" in inside:  # loading refuses such a model, but one may be made
        node = next(n for n in held.graph.nodes())
        held.graph.set_operator(node, ir.Operator("f", domain="local"))
    assert results(model) == {}


def test_random_values_without_effect_are_allowed():
    function = "f (a, n) => (m, r) { r = RandomNormalLike (a) s = Size (r) m = Add (s, n) }"
    assert results(load("m, r = local.f (x, two)", function)) == {"m": 5}


def test_large_tensors_are_neither_read_nor_handed_on():
    model = load("r, c = local.f (w, x)", "f (a, b) => (r, c) { r = Neg (b) c = Identity (a) }")
    assert results(model) == {"c": [1, 2, 3]}
    assert results(model, max_bytes=8) == {}


def chained(size, inner):
    functions = ["f0 (x, n) => (y, m) { y = Neg (x) " + inner + " }"]
    functions += [
        f"f{i} (x, n) => (y, m) {{ a, k = local.f{i - 1} (x, n) y, m = local.f{i - 1} (a, k) }}"
        for i in range(1, size)
    ]
    return load(f"r, m = local.f{size - 1} (x, two)", *functions)


def test_functions_that_call_others_twice():
    """What is given the same is computed once; what is not, as long as there are steps for it."""
    assert results(chained(50, "m = Identity (n)")) == {"m": 2}
    assert results(chained(50, "k = Constant <value_int = 1> () m = Add (n, k)")) == {}


def test_calls_that_stand_too_deep_in_each_other():
    assert results(chained(6, "s = Size (x) m = Add (n, s)")) == {"m": 2 + 3 * 2**5}
    assert results(chained(300, "m = Identity (n)")) == {}


def test_an_initializer_that_callers_may_set_is_not_known():
    assert results(load("r, m, f = local.step (x, n)", STEP, given="int64 n = {2}")) == {}


def test_no_search_without_facts():
    plain = "f (a) => (r) { r = Neg (a) }"
    assert not tells_anything(load("r = local.f (x)", plain, given=""))
    for told in (
        "f (a) => (r) { s = Shape (a) r = Neg (a) }",
        "f (a) => (r) { r = Constant <value_float = 1.0> () }",
    ):
        assert tells_anything(load("r = local.f (x)", told, given=""))
    assert tells_anything(load("r = local.f (x)", plain))
