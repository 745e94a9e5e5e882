import numpy as np
from harness import run_passes
from simplified import assert_exact
from straightline.passes import EliminateDeadNodes, HoistBeforeSplits
from tables import table

PASSES = (HoistBeforeSplits(), EliminateDeadNodes())


def hoists(before, after, opset=17, shapes=((2, 3), (0, 3), (1, 0))):
    feeds = [{"x": np.arange(np.prod(s) * 12, dtype=np.float32).reshape(*s, 12)} for s in shapes]
    assert_exact(PASSES, before, after, *feeds, opset=opset)


def test_heads_of_an_attention():
    hoists(
        """g (float[N, S, 12] x) => (float[N, 2, 2, S] e, float[N, 2, S, 2] f, float[N, 2, S, 2] k)
            <int64[3] sizes = {4, 4, 4}, int64[4] t = {0, 0, 2, 2}> {
            a, b, c = Split <axis = -1> (x, sizes)
            ar = Reshape (a, t) br = Reshape (b, t) cr = Reshape (c, t)
            e = Transpose <perm = [0, 2, 3, 1]> (ar) f = Transpose <perm = [0, 2, 1, 3]> (br)
            k = Transpose <perm = [0, 2, 1, 3]> (cr) }""",
        """g (float[N, S, 12] x) => (float[N, 2, 2, S] e, float[N, 2, S, 2] f, float[N, 2, S, 2] k)
            <int64[4] shape = {0, 0, 6, 2}, int64[3] sizes = {2, 2, 2}> {
            x_1 = Reshape (x, shape) x_2 = Transpose <perm = [0, 2, 1, 3]> (x_1)
            e_1, f, k = Split <axis = 1> (x_2, sizes)
            e = Transpose <perm = [0, 1, 3, 2]> (e_1) }""",
    )


def test_parts_of_other_sizes_and_elementwise_operators():
    hoists(
        """g (float[N, S, 12] x) => (float[N, S, 4, 2] e, float[N, S, 2, 2] f)
            <int64[4] t = {0, 0, -1, 2}> {
            a, b = Split <axis = 2, split = [8, 4]> (x)
            ar = Reshape (a, t) br = Reshape (b, t) e = Exp (ar) f = Exp (br) }""",
        """g (float[N, S, 12] x) => (float[N, S, 4, 2] e, float[N, S, 2, 2] f)
            <int64[4] shape = {0, 0, 6, 2}> {
            x_1 = Reshape (x, shape) e_1 = Exp (x_1)
            e, f = Split <axis = 2, split = [4, 2]> (e_1) }""",
        opset=11,
        shapes=((2, 3), (1, 1)),
    )


ATTENTION = """g (float[N, S, {wide}] x) => (float[N, 2, S, {head}] y)
    <int64[3] sizes = {{{part}, {part}, {part}}}, int64[4] t = {{0, 0, 2, {head}}}> {{
    a, b, c = Split <axis = -1> (x, sizes)
    ar = Reshape (a, t) br = Reshape (b, t) cr = Reshape (c, t)
    q = Transpose <perm = [0, 2, 1, 3]> (ar) k = Transpose <perm = [0, 2, 3, 1]> (br)
    v = Transpose <perm = [0, 2, 1, 3]> (cr) {scores} p = Softmax (s) y = MatMul (p, v) }}"""
PRODUCTS = "s = MatMul (q, k)"


@table((8, PRODUCTS, False), (16, PRODUCTS, True), (8, "r = Relu (q) s = MatMul (r, k)", True))
def test_heads_too_short_to_be_moved_before_products(head, scores, is_hoisted):
    text = ATTENTION.format(head=head, part=2 * head, wide=6 * head, scores=scores)
    assert run_passes(text, HoistBeforeSplits()).changed == is_hoisted


@table(
    ("another reader", "e = Exp (a) f = Exp (b) h = Neg (b)"),
    ("other operators", "e = Exp (a) f = Neg (b) h = Neg (f)"),
    ("other attributes", "e = LeakyRelu (a) f = LeakyRelu <alpha = 0.5> (b) h = Neg (f)"),
    ("all of a row", "e = Softmax (a) f = Softmax (b) h = Neg (f)"),
    ("other orders", """e = Transpose <perm = [1, 0, 2]> (a) f = Transpose <perm = [2, 0, 1]> (b)
        h = Neg (f)"""),
    ("other axes", "e = Reshape (a, rows) f = Reshape (b, rows) h = Neg (f)"),
    ("other parts", "e = Reshape (a, twos) f = Reshape (b, threes) h = Neg (f)"),
    ("two operands", "e = Mul (a, s) f = Mul (b, s) h = Neg (f)"),
    ("a part that is an output", "e = Exp (a) h = Identity (b) f = Exp (b)"),
    ("dead readers", "e = Exp (a) g = Exp (b) f = Exp (x) h = Neg (f)"),
    ("an open axis", "c, d = Split <axis = 0> (x, two) e = Exp (c) f = Exp (d) h = Neg (f)"),
    ("no reader", "e = Exp (a) f = Exp (x) h = Neg (f)"))  # fmt: skip
def test_others_stay(what, nodes):
    ranks = {"other axes": 2, "other parts": 4}
    declared = [f"float[{', '.join('?' * ranks.get(what, 3))}] {name}" for name in "efh"]
    text = f"""g (float[N, 1, 12] x, float s) => ({", ".join(declared)})
        <int64[2] two = {{1, 1}}, int64[2] rows = {{-1, 1}}, int64[4] twos = {{0, 0, 3, 2}},
         int64[4] threes = {{0, 0, 2, 3}}> {{ a, b = Split <axis = 2> (x) {nodes} }}"""
    assert not run_passes(text, HoistBeforeSplits()).changed
