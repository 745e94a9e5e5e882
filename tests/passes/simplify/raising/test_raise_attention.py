from harness import as_model, assert_rewrites, op_types, run_passes
from raising import assert_near, assert_raises, assert_stays, numbers, text
from straightline.passes import RaiseAttention
from tables import table

HEADS = (
    "(float[2, 6, 4, 8] q, float[2, 6, 5, 8] k, float[2, 6, 5, 8] v, {}) => (float[2, 6, 4, 8] y)"
)
MASK = HEADS.format("float[4, 5] m")
ROWS = "(float[2, 4, 48] q, float[2, 5, 48] k, float[2, 5, 48] v, float[2, 1, 4, 5] m)"
CONSTANTS = """<float c = {0.25}, float h = {0.5}, float four = {4.0}, float fourth = {0.59460354},
    int64[4] split = {0, 0, 6, 8}, int64[3] join = {0, 0, 48}>"""
TURN = "t = Transpose <perm = [0, 1, 3, 2]> (k) s = MatMul (q, t) "
REST = "w = Softmax (d) y = MatMul (w, v)"
PLAIN = TURN + "d = Mul (s, c) " + REST
SEQUENCES = (
    "a = Reshape (q, split) o = Transpose <perm = [0, 2, 1, 3]> (a) b = Reshape (k, split) "
    "t = Transpose <perm = [0, 2, 3, 1]> (b) e = Reshape (v, split) "
    "f = Transpose <perm = [0, 2, 1, 3]> (e) s = MatMul (o, t) g = Div (s, four) d = Add (g, m) "
    "w = Softmax <axis = 3> (d) n = MatMul (w, f) r = Transpose <perm = [0, 2, 1, 3]> (n) "
    "y = Reshape (r, join)"
)


def feeds(source):
    model = as_model(source)
    shapes = {
        v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in model.graph.input
    }
    return {name: numbers(*shape) for name, shape in shapes.items()}


@table(
        (PLAIN, ["Attention"]),
        (TURN + "a = Div (s, four) d = Add (m, a) " + REST, ["Attention"]),
        ("p = Mul (fourth, q) t = Transpose <perm = [0, 1, 3, 2]> (k) u = Mul (t, fourth) "
         "d = MatMul (p, u) " + REST, ["Attention"]),
        ("p = Mul (k, h) t = Transpose <perm = [0, 1, 3, 2]> (p) z = MatMul (q, t) "
         "d = Mul (z, h) " + REST, ["Attention"]),
        (TURN + "g = Mul (s, c) a = Add (g, m) d = Add (m, a) " + REST, ["Add", "Attention"])
)  # fmt: skip
def test_spellings_with_heads(nodes, operators):
    source = text(nodes, MASK, CONSTANTS, 23)
    assert_near(source, assert_raises(RaiseAttention(), source, operators), feeds(source))


def test_splitting_and_joining_heads_is_absorbed():
    source = text(SEQUENCES, ROWS + " => (float[2, 4, 48] y)", CONSTANTS, 23)
    assert_near(source, assert_raises(RaiseAttention(), source, ["Attention"]), feeds(source))


@table(("float[1, 5]", ["Expand", "Attention"]), ("float[5]", ["Expand", "Attention"]),
     ("float[2, 1, 1, 5]", ["Expand", "Attention"]), ("float[1, 6, 4, 5]", ["Attention"])
)  # fmt: skip
def test_masks_that_broadcast(mask, operators):
    nodes = TURN + "a = Mul (s, c) d = Add (a, m) " + REST
    source = text(nodes, HEADS.format(f"{mask} m"), CONSTANTS, 23)
    assert_near(source, assert_raises(RaiseAttention(), source, operators), feeds(source))


def test_heads_that_are_repeated_for_groups():
    constants = CONSTANTS[:-1] + (
        ", int64[1] two = {2}, int64[5] times = {1, 1, 2, 1, 1}, int64[4] all = {2, 6, 5, 8}>"
    )
    repeat = "a{0} = Unsqueeze ({0}, two) b{0} = Expand (a{0}, times) {0}1 = Reshape (b{0}, all) "
    nodes = repeat.format("k") + repeat.format("v") + PLAIN.replace("(k)", "(k1)")
    signature = MASK.replace("6, 5", "3, 5")
    source = text(nodes.replace(", v)", ", v1)"), signature, constants, 23)
    assert_near(source, assert_raises(RaiseAttention(), source, ["Attention"]), feeds(source))


CACHED = """(float[1, 3, 32] q, float[1, 3, 16] k, float[1, 3, 16] v, float[3, 8] m,
    float[1, 2, 5, 8] past, float[1, 2, 5, 8] other, float[1, 3, 4] cos, float[1, 3, 4] sin)
    => (float[1, 3, 32] y, float[1, 2, 8, 8] keys, float[1, 2, 8, 8] values)"""
GROUPS = """<float c = {0.25}, int64[4] many = {0, 0, 4, 8}, int64[4] few = {0, 0, 2, 8},
    int64[3] join = {0, 0, 32}, int64[1] two = {2}, int64[5] times = {1, 1, 2, 1, 1},
    int64[4] all = {1, 4, 8, 8}>"""
DECODER = (
    "q1 = Reshape (q, many) q2 = Transpose <perm = [0, 2, 1, 3]> (q1) "
    "k1 = Reshape (k, few) k2 = Transpose <perm = [0, 2, 1, 3]> (k1) "
    "v1 = Reshape (v, few) v2 = Transpose <perm = [0, 2, 1, 3]> (v1) "
    "q3 = RotaryEmbedding (q2, cos, sin) k3 = RotaryEmbedding (k2, cos, sin) "
    "keys = Concat <axis = 2> (past, k3) values = Concat <axis = -2> (other, v2) "
    "k4 = Unsqueeze (keys, two) k5 = Expand (k4, times) k6 = Reshape (k5, all) "
    "v4 = Unsqueeze (values, two) v5 = Expand (v4, times) v6 = Reshape (v5, all) "
    "t = Transpose <perm = [0, 1, 3, 2]> (k6) s = MatMul (q3, t) a = Mul (s, c) d = Add (a, m) "
    "w = Softmax (d) n = MatMul (w, v6) r = Transpose <perm = [0, 2, 1, 3]> (n) "
    "y = Reshape (r, join)"
)


def test_a_layer_of_a_decoder_with_its_cache():
    source = text(DECODER, CACHED, GROUPS, 23)
    operators = ["RotaryEmbedding", "RotaryEmbedding", "Attention"]
    model = assert_raises(RaiseAttention(), source, operators)
    assert [*model.graph.node[-1].output] == ["y", "keys", "values"]
    assert_near(source, model, feeds(source))


def test_an_attention_that_splits_no_heads_itself():
    """Exporters to opset 23 write the operator between the reshapes."""
    start, end = DECODER.index("t = Transpose"), DECODER.index("r = Transpose")
    node = "n = Attention <scale = 0.25> (q3, k6, v6, m) "
    source = text(DECODER[:start] + node + DECODER[end:], CACHED, GROUPS, 23)
    operators = ["RotaryEmbedding", "RotaryEmbedding", "Attention"]
    assert_near(source, assert_raises(RaiseAttention(), source, operators), feeds(source))
    causal = source.replace("scale =", "is_causal = 1, scale =")
    assert_stays(RaiseAttention(), causal)


def test_a_cache_that_an_operand_depends_on_stays_outside():
    """The mask would need the output of the operator that it is an operand of."""
    nodes = DECODER.replace("(a, m)", "(a, m2)").replace(
        "k4 =", "e = ReduceMax <keepdims = 0> (keys) m2 = Add (m, e) k4 ="
    )
    source = text(nodes, CACHED, GROUPS, 23)
    after = run_passes(source, RaiseAttention()).model
    operators = op_types(after)
    assert operators.count("Concat") == 2 and "Attention" in operators
    assert_near(source, after, feeds(source))


def test_guards_and_rows_of_exporters():
    constants = CONSTANTS[:-1] + (
        ", float zero = {0.0}, int64[3] rows = {12, 5, 8}, int64[4] columns = {2, 6, 8, 5}>"
    )
    nodes = (
        "k1 = Reshape (k, rows) k2 = Transpose <perm = [0, 2, 1]> (k1) t = Reshape (k2, columns) "
        "s = MatMul (q, t) d = Mul (s, c) w = Softmax (d) i = IsNaN (w) g = Where (i, zero, w) "
        "y = MatMul (g, v)"
    )
    source = text(nodes, MASK, constants, 23)
    assert_near(source, assert_raises(RaiseAttention(), source, ["Attention"]), feeds(source))
    other = source.replace("zero = {0.0}", "zero = {1.0}")
    assert_stays(RaiseAttention(), other)


def test_rows_without_heads():
    signature = "(float[6, 4, 8] q, float[6, 5, 8] k, float[6, 5, 8] v) => (float[6, 4, 8] y)"
    source = text(PLAIN.replace("[0, 1, 3, 2]", "[0, 2, 1]"), signature, CONSTANTS, 23)
    assert_near(source, assert_raises(RaiseAttention(), source, ["Attention"]), feeds(source))


def test_before_and_after():
    after = "y = Attention <scale = 0.25> (q, k, v)"
    assert_rewrites(
        RaiseAttention(), text(PLAIN, MASK, CONSTANTS, 23), text(after, MASK, CONSTANTS, 23)
    )


@table(
    (PLAIN.replace("Softmax (d)", "Softmax <axis = 2> (d)"), MASK),
    (PLAIN.replace("(s, c)", "(s, q1)"), MASK.replace("q,", "q, float q1,", 1)),
    (PLAIN, MASK.replace("[2,", "[n,")),
    (PLAIN, MASK.replace("k,", "k,").replace("float[2, 6, 5, 8] k", "float[1, 6, 5, 8] k")),
    (PLAIN, MASK.replace("y)", "y, float[2, 6, 4, 5] w)")),
    (TURN + "a = Add (s, m) d = Mul (a, c) " + REST, MASK),
    (PLAIN.replace("Mul (s, c)", "Neg (s)"), MASK),
)
def test_near_misses_stay(nodes, signature):
    assert_stays(RaiseAttention(), text(nodes, signature, CONSTANTS, 23))


def test_older_opsets_and_doubles_stay():
    assert_stays(RaiseAttention(), text(PLAIN, MASK, CONSTANTS, 22))
    assert_stays(RaiseAttention(), text(PLAIN, MASK, CONSTANTS, 23).replace("float", "double"))
