import onnx
import pytest
from proofs import assert_open, assert_proved, is_proved, model
from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from straightline.verification.proof import prove
from straightline.verification.proof.control_flow.scan_outputs import (
    empty_element,
    empty_stack,
    iterations_of,
    stack,
)
from straightline.verification.proof.execution.compile_graph import Compiler
from straightline.verification.proof.terms.budget import Budget, OpenError
from straightline.verification.proof.terms.term_manager import Terms
from tables import table

LOOP = """g (float[2] x) => (%s z) <int64 n = {0}, bool yes = {1}> {
    z = Loop (n, yes) <body = b (int64 i, bool k) => (bool k2, %s o) { k2 = Identity (k) %s }> }"""
EMPTY = "g (float[2] x) => (%s z) { z = Constant <value = %s {}> () }"


@table(
    ("float[2]", "o = Sin (x)", "float[0, 2]", "float[0, 3]"),
    ("double[2]", "o = Cast <to = 11> (x)", "double[0, 2]", "float[0, 2]"),
    ("int64", "o = Identity (i)", "int64[0]", "int64[0, 1]"),
)
def test_no_iterations_give_what_is_declared(declared, node, element, other):
    kind, rank = element.split("[")[0], element.count(",") + 1
    result = f"{kind}[{', '.join('abcd'[:rank])}]"
    before = LOOP % (result, declared, node)
    assert_proved(before, EMPTY % (result, element))
    kind, rank = other.split("[")[0], other.count(",") + 1
    assert_open(before, EMPTY % (f"{kind}[{', '.join('abcd'[:rank])}]", other))


def test_no_iterations_of_another_type_than_declared_are_not_valid():
    before = LOOP % ("bool[a, b, c]", "bool[2, 1]", "o = Sin (x)")
    reason = "the original is not a valid model: 'o' is declared as bool and is float"
    assert_open(before, EMPTY % ("bool[a, b, c]", "bool[0, 2, 1]"), reason)


def terms():
    return Terms(Budget())


def sizes(*dims):
    return tuple(Dimension.symbol(d) if isinstance(d, str) else Dimension.constant(d) for d in dims)


def body_of(made, text):
    return Compiler(made.heads, model(text)).main.steps[0].bodies["body"]


def test_undeclared_sizes_follow_from_the_inputs():
    made = terms()
    text = """g (float[3, n] x) => (float[a, b] z) { z = Scan <num_scan_inputs = 1,
        body = b (float[k] e) => (float[j] o) { o = Neg (e) }> (x) }"""
    body = body_of(made, text)
    for size in (5, 7, "n", "k", "j"):
        assert empty_element(made, body, 0, [Fact(1, sizes(size))], []).shape == sizes(size)
    twice = body_of(made, text.replace("Neg (e)", "Concat <axis = 0> (e, e)"))
    assert empty_element(made, twice, 0, [Fact(1, sizes(5))], []).shape == sizes(10)
    (size,) = empty_element(made, twice, 0, [Fact(1, sizes("n"))], []).shape
    assert not {"n", "j", "k"} & size.symbols
    assert size != empty_element(made, twice, 0, [Fact(1, sizes("n"))], []).shape[0]
    body.proto.output[0].type.tensor_type.ClearField("shape")
    with pytest.raises(OpenError, match="unknown rank"):
        empty_element(made, body, 0, [Fact(1)], [])
    declared = body_of(made, text.replace("float[j] o", "float[4] o"))
    element = empty_element(made, declared, 0, [Fact(1)], [])
    assert (element.elem_type, element.shape) == (1, sizes(4))


@pytest.mark.parametrize("declared", ["[j]", "[k]", "[n]"])
def test_a_size_of_a_captured_value_is_not_a_name_of_the_body(declared):
    """Without an element the reference takes what it knows of the captured value."""
    node = "c = Slice (w, none, l)"
    untold = """g (float[n] x, float[k] w, int64[1] l, float[a, b] r) => (float[a, b] z)
        <int64[1] none = {{0}}> {{ {} z = Scan <num_scan_inputs = 1,
            body = b (float e) => (float{} o) {{ s = Mul (e, e) {} o = Identity (c) }}> (x) }}"""
    inside, outside = untold.format("", declared, node), untold.format(node, declared, "")
    assert_open(inside, outside)


def test_unknown_element_types_are_open():
    made = terms()
    body = body_of(
        made,
        """g (float[n, k] x) => (float[n, k] z) { z = Scan <num_scan_inputs = 1,
            body = b (float[k] e) => (float[j] o) { o = Neg (e) }> (x) }""",
    )
    with pytest.raises(OpenError, match="unknown type"):
        empty_element(made, body, 0, [Fact()], [])
    declared = body_of(made, LOOP % ("float[a, b]", "float[4]", "o = Sin (x)"))
    assert empty_element(made, declared, 1, [Fact(), Fact()], []).shape == sizes(4)


def test_elements_lie_along_a_new_axis():
    made = terms()
    like = Compiler(made.heads, model("g (float[2] x) => (float[2] z) { z = Neg (x) }")).main
    head = like.steps[0].head
    x, y = (made.leaf("input", name, Fact(1, sizes("n", 3))) for name in "xy")
    for axis, shape in [(0, (2, "n", 3)), (1, ("n", 2, 3)), (2, ("n", 3, 2))]:
        assert stack(made, [x, y], head, axis).fact.shape == sizes(*shape)
    assert stack(made, [x, y], head) is not stack(made, [y, x], head)
    with pytest.raises(OpenError, match="unknown rank"):
        stack(made, [made.leaf("input", "r", Fact(1))], head)


def test_an_empty_stack_has_a_new_axis_without_elements():
    made, element = terms(), Fact(1, sizes(2, "n"))
    assert empty_stack(made, element).fact.shape == sizes(0, 2, "n")
    assert empty_stack(made, element, 1).fact.shape == sizes(2, 0, "n")
    assert empty_stack(made, Fact(7, sizes())) is made.void(Fact(7, sizes(0)))


def test_elements_are_counted_along_an_axis_that_is_there():
    fact = Fact(1, sizes("n", 3))
    assert [iterations_of(fact, axis) for axis in (0, 1, -2)] == [*sizes("n", 3, "n")]
    for unknown, axis in [(fact, 2), (fact, -3), (Fact(1), 0)]:
        with pytest.raises(OpenError, match="unknown rank"):
            iterations_of(unknown, axis)


HEADER = '<ir_version: 8, opset_import: ["" : 17]> '
LISTED = """g (float[N, 3] x) => (float[a, 3] y) <bool t = {1}, int64[1] z = {0}> {
    s = Shape <end = 1> (x) n = Squeeze (s, z) e = SequenceEmpty ()
    all = Loop (n, t, e) <body = b (int64 i, bool c, seq(float[3]) l) => (bool d, seq(float[3]) m) {
        d = Identity (c) r = Gather (x, i) k = %s (r) m = SequenceInsert (l, k) }>
    y = ConcatFromSequence <axis = 0, new_axis = 1> (all) }"""
GROWN = """g (float[N, 3] x, float[P, 3] p) => (float[a, 3] y) <bool t = {1}, int64[1] z = {0}> {
    s = Shape <end = 1> (x) n = Squeeze (s, z)
    y = Loop (n, t, p) <body = b (int64 i, bool c, float[a, 3] l) => (bool d, float[b, 3] m) {
        d = Identity (c) r = Gather (x, i) k = Tanh (r) o = Unsqueeze (k, z)
        m = Concat <axis = 0> (%s) }> }"""


def models(*texts):
    return [onnx.parser.parse_model(HEADER + text) for text in texts]


@pytest.mark.parametrize(("op_type", "proved"), [("Tanh", True), ("Neg", False)])
def test_a_list_of_results_is_the_results_of_all_rows(op_type, proved):
    flat = "g (float[N, 3] x) => (float[a, 3] y) { y = Tanh (x) }"
    assert is_proved(*models(LISTED % op_type, flat)) is proved


@pytest.mark.parametrize(("order", "proved"), [("l, o", True), ("o, l", False)])
def test_a_tensor_that_grows_at_its_end_is_what_there_was_and_all_rows(order, proved):
    flat = """g (float[N, 3] x, float[P, 3] p) => (float[a, 3] y) {
        r = Tanh (x) y = Concat <axis = 0> (p, r) }"""
    assert is_proved(*models(GROWN % order, flat)) is proved


BACKWARD = """g (float[N, 3] x, float[P, 3] p) => (float[a, 3] y) <int64[1] k = {-1},
    int64[1] least = {-9223372036854775808}, int64[1] zero = {0}> {
    r = Tanh (x) b = Slice (r, k, least, zero, k) y = %s }"""


@table(
    ("o, l", "Concat <axis = 0> (b, p)", True),
    ("o, l", "Concat <axis = 0> (p, b)", False),
    ("o, l", "Concat <axis = 0> (r, p)", False),
    ("l, o", "Concat <axis = 0> (b, p)", False),
    ("o, o", "Concat <axis = 0> (b, p)", False),
)
def test_a_tensor_that_grows_at_its_front_is_all_rows_backward(order, rows, proved):
    assert is_proved(*models(GROWN % order, BACKWARD % rows)) is proved


@table(("i", "b", False), ("zero", "b", True), ("zero", "r", False), ("one", "b", False))
def test_a_list_that_grows_at_its_front(place, rows, proved):
    listed = LISTED.replace("(l, k)", f"(l, k, {place})")
    listed = listed.replace("<bool t = {1}", "<bool t = {1}, int64 zero = {0}, int64 one = {1}")
    flat = BACKWARD.replace(", float[P, 3] p", "") % f"Identity ({rows})"
    assert is_proved(*models(listed % "Tanh", flat)) is proved


def test_a_list_that_is_read_inside_stays_a_state():
    """New elements depend on the number of those before."""
    reads = LISTED.replace("r = Gather (x, i)", "q = SequenceLength (l) r = Gather (x, q)")
    flat = "g (float[N, 3] x) => (float[a, 3] y) { y = Tanh (x) }"
    assert not is_proved(*models(reads % "Tanh", flat))


HELD = """g (int64 n, float[3] x, float[%s] p) => (seq(float[3]) y) <bool t = {1}> {
    e = SequenceConstruct (%s)
    y = Loop (n, t, e) <body = b (int64 i, bool c, seq(float[3]) l) => (bool d, seq(float[3]) m) {
        d = Identity (c) k = Tanh (x) m = SequenceInsert (l, k) }> }"""
SPLIT = """g (int64 n, float[3] x, float[3] p) => (seq(float[3]) y)
    <int64[1] z = {0}, int64[1] three = {3}, int64 none = {0}> {
    k = Tanh (x) c = Max (n, none) v = Unsqueeze (c, z) s = Concat <axis = 0> (v, three)
    r = Expand (k, s) a = Unsqueeze (p, z) b = Unsqueeze (x, z)
    j = Concat <axis = 0> (%s) y = SplitToSequence <axis = 0, keepdims = 0> (j) }"""


@table(
    ("p", "a, r", True),
    ("p, x", "a, b, r", True),
    ("x, p", "a, b, r", False),
    ("p", "r, a", False),
    ("p", "a, a, r", False),
)
def test_a_list_goes_on_from_what_it_held(held, rows, proved):
    assert is_proved(*models(HELD % ("3", held), SPLIT % rows)) is proved


def test_a_list_of_other_sizes_at_first_stays_a_state():
    assert is_proved(*models(HELD % ("4", "p"), HELD % ("4", "p")))
    assert not is_proved(*models(HELD % ("4", "p"), HELD % ("4", "x")))


WRITES = """g (float[n, 2] x, float[n, 2] start, float[2] w) => (float[n, 2] y)
    <int64 zero = {{0}}, int64 one = {{1}}, bool yes = {{1}}, int64[1] first = {{0}},
     int64[2] place = {{1, 1}}, int64[2] wide = {{1, 2}}> {{
    s = Shape (x) n = Gather (s, zero) less = Sub (n, one)
    y = Loop ({iterations}, yes, start) <body = b (int64 i, bool c, float[n, 2] a) =>
        (bool d, float[n, 2] e) {{ d = Identity (c) r = Gather (x, i) t = Mul (r, w)
        u = Unsqueeze (t, first) {write} }}> }}"""
WHOLE = "g (float[n, 2] x, float[n, 2] start, float[2] w) => (float[n, 2] y) { y = Mul (x, w) }"

BETWEEN = """v = Unsqueeze (i, first) l = Add (v, one) g = Slice (a, first, v, first)
    all = Constant <value_ints = [9223372036854775807]> () b = Slice (a, l, all, first)
    e = Concat <axis = 0> (g, u, b)"""
EACH_ROW = [
    BETWEEN,
    "k = Reshape (i, place) e = ScatterND (a, k, u)",
    "k = Expand (i, wide) e = ScatterElements <axis = 0> (a, k, u)",
    "k = Expand (i, wide) e = ScatterElements <axis = -2> (a, k, u)",
]


@pytest.mark.parametrize("write", EACH_ROW)
def test_rows_that_iterations_write_are_a_scan_output(write):
    assert_proved(WRITES.format(iterations="n", write=write), WHOLE)
    assert_open(WRITES.format(iterations="less", write=write), WHOLE)


@table(
    BETWEEN.replace("(g, u, b)", "(b, u, g)"),
    BETWEEN.replace("(g, u, b)", "(g, u, u)"),
    BETWEEN.replace("Slice (a, l", "Slice (x, l"),
    BETWEEN.replace("Slice (a, first", "Slice (x, first"),
    BETWEEN.replace("Add (v, one)", "Identity (v)"),
    BETWEEN.replace("Add (v, one)", "Add (v, v)"),
    'k = Reshape (i, place) e = ScatterND <reduction = "add"> (a, k, u)',
    "k = Reshape (zero, place) e = ScatterND (a, k, u)",
    "k = Reshape (i, place) b = ScatterND (a, k, u) e = Relu (b)",
    "k = Reshape (i, place) v = Gather (a, i) q = Unsqueeze (v, first) e = ScatterND (a, k, q)",
    "k = Reshape (i, place) m = Neg (a) e = ScatterND (m, k, u)",
    "j = Sub (i, one) k = Reshape (j, place) e = ScatterND (a, k, u)",
)
def test_other_writes_are_states(write):
    assert_open(WRITES.format(iterations="n", write=write), WHOLE)


def test_a_scalar_is_no_row():
    """Concat refuses it when it runs; the declared sizes say nothing of that."""
    text = """g (float[P] x, int64 n, float k) => (float[Q] y) <bool t = {1}> {
        y = Loop (n, t, x) <body = b (int64 i, bool c, float[R] a) => (bool d, float[S] e) {
            d = Identity (c) e = Concat <axis = 0> (a, k) }> }"""
    before, after = models(text, text.replace("(a, k)", "(a, a)"))
    assert prove(before, before).status in ("proved", "open")
    assert not is_proved(after, before)


@table(
    ("e = ConstantOfShape (w)", True),
    ("c = ConstantOfShape (w) e = Add (c, c)", True),
    ("c = ConstantOfShape (w) e = Concat <axis = 0> (c, c)", True),
    ("l = Squeeze (none) o1 = Constant <value_int = 1> () e = Range (l, i, o1)", True),
    ("c = ConstantOfShape (w) s = Shape (c) z = Mul (s, none) e = ConstantOfShape (z)", False),
)
def test_elements_whose_sizes_follow_from_the_iteration_may_differ(element, fails):
    """The rewrite fails where its unread scan output has elements of two sizes."""
    nodes = f"u = Unsqueeze (i, none) w = Max (u, none) {element}"
    check = assert_open if fails else assert_proved
    scan = """g (int64[n] k) => (int64[n] y) <int64[1] none = {{0}}> {{
        y{} = Scan <num_scan_inputs = 1, body = b (int64 i) => (int64 o{}) {{
            o = Neg (i) {} }}> (k) }}"""
    check(scan.format("", "", ""), scan.format(", unread", ", float[m] e", nodes))
