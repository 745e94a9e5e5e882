import numpy as np
import onnx
import pytest
from proofs import assert_proved
from sessions import open_session
from straightline.ops import described
from straightline.verification.proof import Proof
from straightline.verification.proof.terms.axis_maps import ELEMENTWISE
from straightline.verification.proof.terms.exact_operators import FOLDED, LONGER, OF_ROWS

ROWS = """g (float[n, 5] x, float[5] w) => (float[n, 5] y) <bool yes = {1}, int64 zero = {0}> {
    s = Shape (x) m = Gather (s, zero)
    y = Loop (m, yes) <body = b (int64 i, bool c) => (bool c2, float[5] o) {
        c2 = Identity (c) r = Gather (x, i) o = %s }> }"""


def whole(node):
    return "g (float[n, 5] x, float[5] w) => (float[n, 5] y) { y = %s }" % (node % "x")


@pytest.mark.parametrize("op", ("Sin", "Exp", "Softplus", "Softmax <axis = -1>", "Mish"))
def test_rows_of_what_rounds_are_taken_to_be_those_of_all(op):
    node = f"{op} (%s)"
    proof = assert_proved(ROWS % (node % "r"), whole(node))
    assert proof.assumptions == (f"{op.split()[0]} {OF_ROWS}",)


@pytest.mark.parametrize("node", ("Neg (%s)", "Add (%s, w)", "Relu (%s)", "Sqrt (%s)"))
def test_rows_of_what_rounds_once_are_those_of_all(node):
    assert assert_proved(ROWS % (node % "r"), whole(node)).assumptions == ()


def test_constants_that_one_model_folds_are_taken_to_be_those_of_the_runtime():
    text = "g (float[2] x) => (float[2] y) <float[2] c = {%s}> { %s }"
    c, folded = np.float32([0.5, 3]), np.exp(np.float32([0.5, 3]))
    made = text % (", ".join(map(repr, map(float, c))), "e = Exp (c) y = Add (x, e)")
    kept = text % (", ".join(map(repr, map(float, folded))), "y = Add (x, c)")
    assert assert_proved(made, kept).assumptions == (f"Exp {FOLDED}",)
    assert assert_proved(kept, made).assumptions == (f"Exp {FOLDED}",)
    assert assert_proved(made, made.replace("(x, e)", "(e, x)")).assumptions == ()


def test_a_claim_names_a_few_operators():
    claim = Proof("proved", "", assumptions=(f"Exp {OF_ROWS}", f"Sin {OF_ROWS}")).claim
    assert (
        claim
        == "equal for every input, if Exp and Sin of some rows give the same bits as of all rows"
    )
    claim = Proof("proved", "", assumptions=(f"Gelu {LONGER}", f"Mish {LONGER}")).claim
    assert claim.endswith("if Gelu and Mish give the same bits as their definitions")
    many = tuple(f"{n} {OF_ROWS}" for n in ("Exp", "Log", "MatMul", "Sin"))
    claim = Proof("proved", "", assumptions=(*many, f"Tanh {FOLDED}", "it rains")).claim
    assert claim == (
        "equal for every input, if Exp, Log and 2 others of some rows give the same bits as of all"
        " rows and Tanh of constants gives the same bits in the runtime and it rains"
    )


ONE = sorted(ELEMENTWISE - {"BitShift", "Cast", "Where", "PRelu", "Mod", "Pow", "Clip"})


@pytest.mark.sample(10)
@pytest.mark.parametrize("op", [op for op in ONE if described()[op].fixed_roundings() is not None])
def test_runtimes_give_the_same_bits_of_rows_as_of_all(op):
    """Of what is said to be exact, in rows of sizes that vector registers do not divide."""
    dice = np.random.default_rng(0)
    count = max(onnx.defs.get_schema(op, 20).min_input, 1)
    is_truth = op in ("And", "Or", "Xor", "Not")
    is_whole = op.startswith("Bitwise")
    for size in (1, 7, 17, 100):
        wide = dice.standard_normal((count, 3, size)) * 6
        dtype = bool if is_truth else np.int32 if is_whole else np.float32
        session = _session(op, count, dtype)
        feeds = [(array > 0 if is_truth else array).astype(dtype) for array in wide]
        (all_rows,) = session.run(None, {f"i{n}": a for n, a in enumerate(feeds)})
        for row in range(3):
            (one,) = session.run(None, {f"i{n}": a[row : row + 1] for n, a in enumerate(feeds)})
            assert one.tobytes() == all_rows[row : row + 1].tobytes()


def _session(op, count, dtype):
    names = [f"i{n}" for n in range(count)]
    kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    infos = [onnx.helper.make_tensor_value_info(n, kind, [None, None]) for n in names]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(op, names, ["y"])], "g", infos, [onnx.ValueInfoProto(name="y")]
    )
    imports = [onnx.helper.make_opsetid("", 20)]
    proto = onnx.helper.make_model(graph, opset_imports=imports, ir_version=9)
    return open_session(proto, optimized=False)


def test_sums_are_exact_of_integers_only():
    text = "g (%s[n, 5] x) => (%s[n] y) <int64[1] a = {1}> { y = ReduceSum <keepdims = 0> (x, a) }"
    loop = """g (%s[n, 5] x) => (%s[n] y) <bool yes = {1}, int64 zero = {0}, int64[1] a = {0}> {
        s = Shape (x) m = Gather (s, zero)
        y = Loop (m, yes) <body = b (int64 i, bool c) => (bool c2, %s o) {
            c2 = Identity (c) r = Gather (x, i) o = ReduceSum <keepdims = 0> (r, a) }> }"""
    exactly = "onnxruntime computed ReduceSum of integers exactly"
    for kind, assumptions in (("int64", (exactly,)), ("float", (f"ReduceSum {OF_ROWS}",))):
        proof = assert_proved(loop % (kind, kind, kind), text % (kind, kind))
        assert proof.assumptions == assumptions
