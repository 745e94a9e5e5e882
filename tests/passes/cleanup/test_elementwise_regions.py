import numpy as np
import pytest
from harness import assert_rewrites, op_types, run_passes
from straightline.passes import CancelMovement, EliminateDeadNodes
from tables import table

PASSES = (CancelMovement(), EliminateDeadNodes())


def numbers(*shape):
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


SIGNATURE = "g (float[n, 4] x, float[1, n, 4] z) => (float[n, 4] y, float[1, n, 4] w)"
CONSTANTS = "<int64[1] k = {0}, float h = {0.5}, float[4] b = {1, 2, 3, 4}, float[1, 1] o = {3}>"


def text(nodes):
    return f"{SIGNATURE} {CONSTANTS} {{ w = Neg (z) {nodes} }}"


@table(
    ("r = Unsqueeze (x, k) t = Tanh (r) u = Mul (r, t) v = Mul (h, u) y = Squeeze (v, k)",
     "t = Tanh (x) u = Mul (x, t) y = Mul (h, u)"),
    ("r = Unsqueeze (x, k) t = Add (b, r) u = Pow (t, o) y = Squeeze (u, k)",
     "t = Add (b, x) y = Pow (t, o)"),
    ("r = Unsqueeze (x, k) s = Unsqueeze (x, k) t = Less (r, b) u = Where (t, r, s)"
     " y = Squeeze (u, k)", "t = Less (x, b) y = Where (t, x, x)"),
    ("n = Neg (x) r = Unsqueeze (x, k) s = Unsqueeze (n, k) u = Mul (r, s) y = Squeeze (u, k)",
     "n = Neg (x) y = Mul (x, n)"))  # fmt: skip
def test_operators_between_reshapes(before, after):
    feeds = [
        {"x": np.arange(4 * n, dtype=np.float32).reshape(n, 4), "z": np.ones((1, n, 4), np.float32)}
        for n in (0, 1, 3)
    ]
    wanted = run_passes(text(after), EliminateDeadNodes()).model
    assert_rewrites(PASSES, text(before), wanted, feeds)


def test_a_long_chain_is_left_alone():
    chain = " ".join(f"t{n + 1} = Sin (t{n})" for n in range(2000))
    nodes = f"t0 = Unsqueeze (x, k) {chain} u = Mul (t0, t2000) y = Squeeze (u, k)"
    assert not run_passes(text(nodes), CancelMovement()).changed


@table(
    "r = Unsqueeze (x, k) t = Tanh (r) u = Mul (r, z) y = Squeeze (u, k)",
    "r = Unsqueeze (x, k) t = Tanh (r) u = Mul (r, t) y = Squeeze (u, k) q = Neg (t)",
    "r = Reshape (x, l) t = Exp (r) u = Mul (r, t) q = Shape (x) y = Reshape (u, q)",
    "r = Unsqueeze (x, k) c = CumSum (r, k1) u = Mul (r, c) y = Squeeze (u, k)",
)
def test_values_with_other_readers_stay(nodes):
    nodes = nodes.replace("q = Neg (t)", "w2 = Neg (t)")
    model = text(nodes).replace(
        "int64[1] k = {0}", "int64[1] k = {0}, int64 k1 = {1}, int64[2] l = {3, 4}"
    )
    if "w2" in nodes:
        model = model.replace("4] w)", "4] w, float[1, n, 4] w2)")
    assert not run_passes(model, CancelMovement()).changed


TURNED = "g (float[n, 2, 3] x, float[n, 2, 1] z) => (float[n, a, b] y)"


@table(
    ("p = {T} (x) q = {T} (z) r = Add (p, q) s = Relu (r) t = Mul (s, p) y = {T} (t)",
     "r = Add (x, z) s = Relu (r) y = Mul (s, x)"),
    ("p = {T} (x) r = Add (b, p) s = Clip (r, h) t = Sub (s, c) y = {T} (t)",
     "r = Add (b, x) s = Clip (r, h) y = Sub (s, c)"),
    ("p = {T} (x) q = {T} (z) v = Exp (q) o = {T} (v) r = Add (o, x) y = {T} (r)",
     "p = {T} (x) q = {T} (z) v = Exp (q) y = Add (v, p)"))  # fmt: skip
def test_operators_between_transposes(before, after):
    before, after = (t.replace("{T}", "Transpose <perm = [0, 2, 1]>") for t in (before, after))
    feeds = [
        {
            "x": np.arange(6 * n, dtype=np.float32).reshape(n, 2, 3) - 4,
            "z": np.ones((n, 2, 1), np.float32),
        }
        for n in (0, 1, 2)
    ]
    lists = "<float h = {{0.5}}, float[{0}] b = {{1, 2}}, float[{1}] c = {{3, 4}}>".format
    given, wanted = lists("2", "1, 2"), lists("1, 2, 1", "1, 2, 1")
    turned = run_passes(f"{TURNED} {wanted} {{ {after} }}", EliminateDeadNodes()).model
    assert_rewrites(PASSES, f"{TURNED} {given} {{ {before} }}", turned, feeds)


@table(
    "p = Transpose <perm = [2, 0, 1]> (x) r = Exp (p) y = Transpose <perm = [2, 0, 1]> (r)",
    "p = {T} (x) r = Add (p, w) y = {T} (r)",
    "p = {T} (x) r = Exp (p) y = {T} (r) v = Neg (r)",
    "p = {T} (x) r = CumSum (p, one) y = {T} (r)",
)
def test_transposes_that_others_need_stay(nodes):
    nodes = nodes.replace("{T}", "Transpose <perm = [0, 2, 1]>")
    signature = "g (float[3, 2, 2] x, float[2, 2] w) => (float[a, b, c] y, float[d, e, f] v)"
    if "v =" not in nodes:
        signature = signature.replace(", float[d, e, f] v", "")
    model = f"{signature} <int64 one = {{1}}> {{ {nodes} }}"
    assert not run_passes(model, CancelMovement()).changed


ROWS = """g (float[n, 2, 3] x, float[3, 4] w, float[4] b, float[3] g, float[n, 1, 3] z) =>
        (float[{out}] y) <int64[1] k = {{1}}, int64[1] e = {{0}}> {{ {nodes} }}"""
MOVEMENTS = {
    "transposes": ("x", "Transpose <perm = [1, 0, 2]> (@)", "Transpose <perm = [1, 0, 2]> (@)"),
    "a unit axis": ("x", "Unsqueeze (@, e)", "Squeeze (@, e)"),
    "fewer axes": ("z", "Squeeze (@, k)", "Unsqueeze (@, k)"),
}
OF_ROWS = {
    "MatMul": ("p = MatMul (m, w) q = Add (p, b) t = Relu (q)", 4),
    "two products": ("p = MatMul (m, w) u = Tanh (p) v = Transpose (w) t = MatMul (u, v)", 3),
    "Softmax": ("p = Mul (m, g) t = Softmax <axis = {last}> (p)", 3),
    "LayerNormalization": ("t = LayerNormalization <axis = {last}> (m, g)", 3),
    "a row of one": ("p = Softmax (m) q = MatMul (p, w) s = Mul (q, q) t = Add (q, s)", 4),
}


def _row_model(movement, nodes, out):
    source, there, back = MOVEMENTS[movement]
    last = {"a unit axis": 3, "fewer axes": 1}.get(movement, 2)
    there, back = there.replace("@", source), back.replace("@", "t")
    nodes = f"m = {there} {nodes.format(last=last)} y = {back}"
    axes = "1" if source == "z" else "2"
    return ROWS.format(out=f"n, {axes}, {out}", nodes=nodes)


@pytest.mark.parametrize("movement", MOVEMENTS)
@pytest.mark.parametrize("what", OF_ROWS)
def test_operators_on_rows_between_movements(what, movement):
    """Over the reals alone: a kernel may round rows at other places differently."""
    nodes, out = OF_ROWS[what]
    model = _row_model(movement, nodes, out)
    feeds = [
        {"x": numbers(n, 2, 3), "w": numbers(3, 4), "b": numbers(4), "g": numbers(3),
         "z": numbers(n, 1, 3)}
        for n in (0, 1, 3)
    ]  # fmt: skip
    result = run_passes(model, CancelMovement(exactness="reals"), EliminateDeadNodes(), feeds=feeds)
    moves = {"Transpose", "Squeeze", "Unsqueeze"} & {*op_types(result.model)}
    assert moves == ({"Transpose"} if "v = Transpose" in nodes else set())
    assert not run_passes(model, CancelMovement(exactness="values")).changed


@table(
    ("another axis", "transposes", "t = Softmax <axis = 1> (m)", 3),
    ("a matrix of each row", "transposes", "u = Unsqueeze (w, e) t = MatMul (m, u)", 4),
    ("rows of a region as a matrix", "fewer axes", "c = Tanh (m) d = Transpose (c)"
     " q = MatMul (c, d) t = MatMul (q, c)", 3),
    ("a mean", "a unit axis", "t, u = LayerNormalization <axis = -1> (m, g) s = Neg (u)",
     3))  # fmt: skip
def test_other_operators_keep_their_movements(what, movement, nodes, out):
    model = _row_model(movement, nodes, out)
    assert not run_passes(model, CancelMovement(exactness="reals")).changed


def test_rows_that_a_transpose_cuts_stay():
    model = """g (float[n, 3, 3] x, float[3, 3] w) => (float[n, 3, 3] y) {
        m = Transpose <perm = [0, 2, 1]> (x) t = MatMul (m, w)
        y = Transpose <perm = [0, 2, 1]> (t) }"""
    assert not run_passes(model, CancelMovement(exactness="reals")).changed


@table(("float[4, n] k", "Identity (k)", True), ("float[n, 4] k", "Transpose (k)", False))
def test_no_vector_is_multiplied_by_a_transposed_matrix(matrix, turned, changed):
    """onnxruntime fuses the Transpose with a product of matrices only."""
    model = f"""g (float[4] x, {matrix}) => (float[n] y) <int64[1] e = {{0}}> {{
        m = Unsqueeze (x, e) t = {turned} s = MatMul (m, t) y = Squeeze (s, e) }}"""
    assert run_passes(model, CancelMovement(exactness="reals")).changed == changed
