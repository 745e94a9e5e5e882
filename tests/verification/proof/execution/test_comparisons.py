from proofs import assert_open, assert_proved, is_proved, model
from tables import table

WRAPPED = """g (float[n, 5] x, int64[n] j) => (int64[n] y) <int64 zero = {{0}}, int64 one = {{1}},
    int64 size = {{5}}, int64 four = {{4}}> {{
    i = ArgMax <axis = 1, keepdims = 0> (x) m = Identity ({0}) w = Add (m, size)
    c = {1} y = Where (c, {2}) }}"""
PLAIN = """g (float[n, 5] x, int64[n] j) => (int64[n] y) {
    y = ArgMax <axis = 1, keepdims = 0> (x) }"""


@table(
    ("Less (m, zero)", "w, m"),
    ("Less (m, size)", "m, w"),
    ("Less (four, m)", "w, m"),
    ("LessOrEqual (zero, m)", "m, w"),
    ("LessOrEqual (m, four)", "m, w"),
    ("Greater (zero, m)", "w, m"),
)
def test_a_choice_that_bounds_decide(condition, chosen):
    assert_proved(WRAPPED.format("i", condition, chosen), PLAIN)
    assert_open(WRAPPED.format("i", condition, ", ".join(chosen.split(", ")[::-1])), PLAIN)
    assert_open(WRAPPED.format("j", condition, chosen), WRAPPED.format("j", "Less (m, m)", "w, m"))


@table(
    ("Less (m, one)", "w, m"),
    ("Less (m, four)", "m, w"),
    ("LessOrEqual (m, zero)", "w, m"),
    ("LessOrEqual (one, m)", "m, w"),
)
def test_a_choice_that_bounds_do_not_decide(condition, text):
    assert_open(WRAPPED.format("i", condition, text), PLAIN)


def test_a_choice_that_broadcasts_stays():
    text = """g (int64[n, 1] x, int64[n, 5] z) => (int64[n, 5] y) <int64 zero = {0}> {
        i = ArgMax <axis = 1> (x) c = Less (i, zero) y = Where (c, z, i) }"""
    assert_open(text, text.replace("y = Where (c, z, i)", "y = Identity (i)"))


def one_hot(node, opset):
    text = f"""<ir_version: 8, opset_import: ["" : {opset}]>
        g (float[n, 5] x, int64[n] j) => (float[n, 5] y) <int64 d = {{5}}, float[2] v = {{0, 1}}>
        {{ i = ArgMax <axis = 1, keepdims = 0> (x) y = {node} }}"""
    return model(text)


def test_positions_are_the_same_in_every_opset():
    before, after = (one_hot("OneHot (i, d, v)", opset) for opset in (13, 9))
    assert is_proved(before, after)
    assert not is_proved(before, one_hot("OneHot <axis = 0> (i, d, v)", 9))
    # A negative index counts from the back, before opset 11 it stands for nothing.
    before, after = (one_hot("OneHot (j, d, v)", opset) for opset in (13, 9))
    assert not is_proved(before, after)
