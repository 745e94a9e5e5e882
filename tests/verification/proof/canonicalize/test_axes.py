import pytest
from proofs import assert_open, assert_proved
from proofs import model as graph
from spelled import model, require_open, require_same
from straightline.verification.proof.terms.term_manager import RULES
from tables import table
from term_values import terms_of


@table(
    ("y = ArgMax <axis = AXIS, keepdims = 1> (x)", "(float[2,3] x) => (int64[2,1] y)", 2),
    ("y = LpNormalization <axis = AXIS> (x)", "(float[2,3] x) => (float[2,3] y)", 2),
    ("y = OneHot <axis = AXIS> (x, n, v)", "(int64[3] x, int64 n, float[2] v) => (float[3,K] y)",
     2),
    ("y = Compress <axis = AXIS> (x, c)", "(float[2,3] x, bool[3] c) => (float[2,K] y)", 2),
    ("y = GatherElements <axis = AXIS> (x, i)", "(float[2,3] x, int64[2,3] i) => (float[2,3] y)",
     2))  # fmt: skip
def test_an_axis_counts_from_the_front(text, signature, rank):
    last, back, first = (
        model(text.replace("AXIS", str(axis)), 12, signature) for axis in (rank - 1, -1, 0)
    )
    require_same(last, back, seeds=0)
    require_open(first, back)


def test_gather_of_a_negative_axis_by_places_that_run_time_tells():
    signature = "(float[2,3] x, int64[4] i) => (float[2,4] y)"
    old = model("y = Gather <axis = 1> (x, i)", 8, signature)
    require_same(old, model("y = Gather <axis = -1> (x, i)", 13, signature), seeds=0)


def test_scatter_is_called_scatter_elements():
    signature = "(float[2,2] x, int64[1,2] i, float[1,2] u) => (float[2,2] y)"
    old = model("y = Scatter <axis = 1> (x, i, u)", 10, signature)
    require_same(old, model("y = ScatterElements <axis = -1> (x, i, u)", 18, signature), seeds=0)
    added = model('y = ScatterElements <axis = -1, reduction = "add"> (x, i, u)', 18, signature)
    require_open(old, added)


def test_one_hot_of_negative_indices_changed():
    signature = "(int64[3] x, int64 n, float[2] v) => (float[3,K] y)"
    text = "y = OneHot (x, n, v)"
    require_open(model(text, 10, signature), model(text, 11, signature))


@table(
    ("z = Softmax <axis = %d> (x)", -5, 1),
    ("z = LogSoftmax <axis = %d> (x)", -5, 1),
    ("z = Hardmax <axis = %d> (x)", -5, 1),
    ("z = Concat <axis = %d> (x, x)", 4, 1),
    ("z = Concat <axis = %d> (x, x)", -5, 1),
    ("k = Constant <value_ints = [0]> () z = Gather <axis = %d> (x, k)", 4, 1),
    ("z, y = Split <axis = %d, num_outputs = 2> (x)", -4, 2),
    ("z, y = Split <axis = %d, num_outputs = 2> (x)", 3, 0),
    ("y = ArgMax <axis = %d> (x) z = Cast <to = 1> (y)", -5, 1),
    ("w = Constant <value_floats = [1.0]> () z = LayerNormalization <axis = %d> (x, w)", -4, 2),
    ("z = Flatten <axis = %d> (x)", -5, 1),
    ("k = Constant <value_ints = [%d]> () z = ReduceMax (x, k)", 4, 1),
    ("s = SequenceConstruct (x, x) z = ConcatFromSequence <axis = %d> (s)", -5, 1),
    ("s = SplitToSequence <axis = %d> (x) k = Constant <value_int = 0> () z = SequenceAt (s, k)", 4,
     1),
    ("a = Constant <value_ints = [%d]> () p = Constant <value_ints = [1, 1]> () "
     "z = Pad (x, p, , a)", -5, 1))  # fmt: skip
def test_an_axis_that_is_not_there_is_no_other(nodes, wrong, right):
    text = "g (float[2, 3, 4] x) => (float[a, b, c] z) { %s }"
    assert_open(text % (nodes % wrong), text % (nodes % right))
    assert_proved(text % (nodes % right), text % (nodes % right))


@table(("ReduceSum", 13), ("ReduceMean", 18), ("ReduceMax", 18), ("ReduceL2", 18))
def test_axes_that_became_an_input(name, since):
    summed = "(float[2,3,4] x) => (float[2,4] y)"
    old = model(f"y = {name} <axes = [1], keepdims = 0> (x)", since - 1, summed)
    for axis in (1, -2):
        new = f"<int64[1] a = {{{axis}}}> {{ y = {name} <keepdims = 0> (x, a) }}"
        require_same(old, model(new, since, summed))
        require_same(old, model(new, 21, summed))


def test_no_axes_are_all():
    text = "(float[2,3,4] x) => (float y)"
    old = model("y = ReduceSum <keepdims = 0> (x)", 11, text)
    require_same(old, model("y = ReduceSum <keepdims = 0> (x)", 13, text))
    require_same(old, model("<int64[0] a = {}> { y = ReduceSum <keepdims = 0> (x, a) }", 13, text))


@pytest.mark.parametrize("name", ["ReduceMin", "ReduceMax", "ReduceProd"])
def test_over_none_a_plain_reduction_is_its_input(name):
    noop = model(f"y = {name} <noop_with_empty_axes = 1> (x)", 18)
    require_same(noop, model("y = Identity (x)", 18))


def test_over_none_a_sum_makes_0_of_minus_0_in_the_reference():
    noop = model("y = ReduceSum <noop_with_empty_axes = 1> (x)", 18)
    require_open(noop, model("y = Identity (x)", 18))


def test_over_none_a_square_is_taken():
    noop = model("y = ReduceSumSquare <noop_with_empty_axes = 1> (x)", 18)
    require_same(noop, model("y = Mul (x, x)", 18))
    require_open(noop, model("y = Identity (x)", 18))


def test_other_axes_are_another_reduction():
    old = model(
        "y = ReduceSum <axes = [1], keepdims = 0> (x)", 11, "(float[3,3] x) => (float[3] y)"
    )
    new = "<int64[1] a = {0}> { y = ReduceSum <keepdims = 0> (x, a) }"
    require_open(old, model(new, 13, "(float[3,3] x) => (float[3] y)"))


def test_axes_that_run_time_tells_stay():
    text = "y = ReduceSum <keepdims = 0> (x, a)"
    signature = "(float[3,3] x, int64[1] a) => (float[3] y)"
    assert_same = model(text, 13, signature)
    require_open(assert_same, model("y = ReduceSum <keepdims = 1> (x, a)", 13, signature))


INPUT = "g (float[2, 3, 4] x) => (float[a, b, c] z) <int64[%d] s = {%s}> { z = %s (x, s) }"
NONE = "g (float[2, 3, 4] x) => (float[a, b, c] z) { z = %s (x) }"
NAMED = "g (float[2, 3, 4] x) => (float[a, b, c] z) { z = %s <axes = [%s]> (x) }"
REDUCTIONS = sorted(name for name, rule in RULES.items() if rule is RULES["ReduceSum"])


def axes(op_type, *numbers):
    return INPUT % (len(numbers), ", ".join(map(str, numbers)), op_type)


@pytest.mark.parametrize("op_type", REDUCTIONS)
def test_axes_are_counted_from_either_end_in_any_order(op_type):
    assert_proved(axes(op_type, -1, 0), axes(op_type, 0, 2))
    assert_proved(NONE % op_type, axes(op_type, 0, -2, 2))
    assert_open(axes(op_type, -1), axes(op_type, 1))
    assert_open(NONE % op_type, axes(op_type, 0, 1))


@pytest.mark.parametrize("op_type", REDUCTIONS)
def test_axes_were_attributes(op_type):
    assert_proved(NAMED % (op_type, "2, -3"), NAMED % (op_type, "0, 2"), opset=11)
    assert_proved(NONE % op_type, NAMED % (op_type, "0, 1, 2"), opset=11)
    assert_open(NAMED % (op_type, "-1"), NAMED % (op_type, "0"), opset=11)


@pytest.mark.parametrize("op_type", REDUCTIONS)
def test_a_number_alone_has_no_axes(op_type):
    text = f"g (float x) => (float z) {{ %s z = {op_type} <keepdims = 0> (%s) }}"
    assert_proved(text % ("", "x"), text % ("y = Identity (x)", "y"))
    assert_open(text % ("", "x"), text % ("y = Neg (x)", "y"))


def test_axes_of_a_sum_are_inputs_before_those_of_others():
    assert_proved(NONE % "ReduceSum", axes("ReduceSum", 0, 1, 2), opset=13)
    assert_proved(NONE % "ReduceMax", NAMED % ("ReduceMax", "0, 1, 2"), opset=13)


def test_no_axes_may_be_none():
    text = "g (float[2, 3] x) => (float[a, b] z) { %s }"
    none = "z = ReduceSum <noop_with_empty_axes = %d> (x)"
    both = "s = Constant <value_ints = [0, 1]> () z = ReduceSum (x, s)"
    assert_proved(text % none % 0, text % both)
    assert_open(text % none % 1, text % both)


def test_axes_that_only_run_time_tells_stay_an_input():
    text = "g (float[2, 3] x, int64[1] s) => (float[a, b] z) { z = ReduceMax (x, %s) }"
    assert_proved(text % "s", text % "s")
    assert_open(text % "s", text.replace("{", "{ t = Neg (s)") % "t")


def test_all_say_their_axes_from_the_front():
    for text, opset, said in [
        (axes("ReduceSum", -1, 0), 18, [0, 2]),
        (NAMED % ("ReduceSum", "-2"), 11, [1]),
        (NONE % "ReduceMax", 18, [0, 1, 2]),
    ]:
        _, (reduced,) = terms_of(graph(text, opset))
        assert reduced.head.attribute("axes") == said


def test_an_unknown_rank_is_left_alone():
    text = "g (float[2, 3] x, int64[r] s) => (float z) { y = Reshape (x, s) %s }"
    one = "z = ReduceSum <keepdims = 0> (y)"
    other = "t = Constant <value_ints = [0, 1]> () z = ReduceSum <keepdims = 0> (y, t)"
    assert_proved(text % one, text % one)
    assert_open(text % one, text % other)


@pytest.mark.parametrize("op_type", ["ReduceMax", "ReduceSum"])
def test_axes_that_are_not_there_are_no_others(op_type):
    assert_open(NAMED % (op_type, "5"), NAMED % (op_type, "2"), opset=11)
    assert_open(axes(op_type, -4), axes(op_type, 2))
    scalar = f"g (float x) => (float z) {{ z = {op_type} <axes = [0]> (x) }}"
    assert_open(scalar, "g (float x) => (float z) { z = Identity (x) }", opset=11)


NAMES = ("Softmax", "LogSoftmax", "Hardmax")


@pytest.mark.parametrize("name", NAMES)
def test_along_the_last_axis_they_are_the_same(name):
    old = model(f"y = {name} <axis = 2> (x)", 11)
    require_same(old, model(f"y = {name} <axis = 2> (x)", 13))
    require_same(old, model(f"y = {name} (x)", 13))
    require_same(old, model(f"y = {name} <axis = -1> (x)", 12))


@pytest.mark.parametrize("name", NAMES)
def test_the_last_axis_of_a_tensor_of_unknown_rank(name):
    def of(opset, attributes):
        return f"""<ir_version: 8, opset_import: ["" : {opset}]>
            g (float[N, 4] x, int64[R] s) => (float[K, L] y) {{
                r = Reshape (x, s) e = {name} {attributes} (r)
                t = Shape (x) y = Reshape (e, t) }}"""

    old = of(12, "<axis = -1>")
    assert_proved(old, of(13, ""))
    assert_proved(of(13, ""), of(9, "<axis = -1>"))
    assert_open(old, of(13, "<axis = -2>"))
    assert_open(of(12, ""), of(13, ""))


@pytest.mark.parametrize("name", NAMES)
def test_several_axes_at_once_are_rows_of_a_matrix(name):
    rows = f"r = Flatten <axis = 1> (x) n = {name} (r) s = Shape (x) y = Reshape (n, s)"
    old = model(f"y = {name} (x)", 11)
    require_same(old, model(rows, 13))
    require_open(old, model(f"y = {name} <axis = 1> (x)", 13))


@pytest.mark.parametrize("name", NAMES)
def test_an_axis_that_is_not_the_last(name):
    signature = "(float[N,3,4] x) => (float[N,3,4] y)"
    moved = (
        f"t = Transpose <perm = [0, 2, 1]> (x) n = {name} <axis = 2> (t)"
        " y = Transpose <perm = [0, 2, 1]> (n)"
    )
    require_open(model(f"y = {name} <axis = 1> (x)", 11, signature), model(moved, 13, signature))
