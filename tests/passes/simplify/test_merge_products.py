import numpy as np
import onnx
import pytest
import straightline as sl
from harness import assert_equal_outputs, run_passes
from straightline.passes import EliminateDeadNodes, MergeProducts
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : {}]>\n'
PASSES = (MergeProducts(), EliminateDeadNodes())
SIZES = {"u": (4, 2), "v": (4, 3), "w": (4, 1), "z": (5, 3), "c": (2,), "d": (1, 3), "e": (1,)}
SIZES |= {"ut": (2, 4), "vt": (3, 4), "wt": (1, 4), "one": ()}


def model(nodes, outputs, opset=17, inputs="float[N, 4] x"):
    """A model with the constants that its nodes name."""
    declared = ", ".join(f"float[?, ?] {name}" for name in outputs.split())
    text = f"{HEAD.format(opset)}g ({inputs}) => ({declared}) {{ {nodes} }}"
    proto = onnx.parser.parse_model(text)
    random = np.random.default_rng(3)
    read = {name for node in proto.graph.node for name in node.input}
    for name in sorted(read & set(SIZES)):
        array = random.standard_normal(SIZES[name]).astype(np.float32)
        proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return proto


def merged(proto):
    """The operators after merging; outputs are equal, and proved over the reals."""
    after = run_passes(proto, *PASSES).model
    for n in (0, 1, 3):
        feed = {"x": np.random.default_rng(n).standard_normal((n, 4)).astype(np.float32)}
        expected = sl.reference.run(proto, feed)
        for got, wanted in zip(sl.reference.run(after, feed), expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
    proof = sl.prove(proto, after, equality="reals")
    assert (proof.status, proof.equality) in (("proved", "bits"), ("proved", "reals"))
    return [node.op_type for node in after.graph.node]


BIASED = "p = MatMul (x, u) a = Add (p, c) q = MatMul (x, v) b = Add (d, q)"


@table(
    ("a = MatMul (x, u) b = MatMul (x, v) f = MatMul (x, w)", "a b f", "MatMul Split"),
    (BIASED, "a b", "MatMul Add Split"),
    (f"{BIASED} f = MatMul (x, w)", "a b f", "MatMul Add Split"),
    ("p = MatMul (x, u) a = Add (p, c) b = MatMul (x, v) f = MatMul (x, w)", "a b f",
     "MatMul Split Add"),
    ("a = Gemm (x, u, c) b = Gemm (x, v, d) f = Gemm (x, w)", "a b f", "Gemm Split"),
    ("a = Gemm <transB = 1> (x, ut) b = Gemm <transB = 1> (x, vt) f = Gemm (x, w)", "a b f",
     "Gemm Split"))  # fmt: skip
@pytest.mark.parametrize("opset", [11, 17])
def test_products_are_merged(nodes, outputs, operators, opset):
    assert sorted(merged(model(nodes, outputs, opset))) == sorted(operators.split())


@table(
    ("two without a bias", "a = MatMul (x, u) b = MatMul (x, v)"),
    ("of other tensors", f"n = Neg (x) {BIASED}".replace("(x, v)", "(n, v)")),
    ("a matrix that others read", f"{BIASED} f = Neg (u)"),
    ("a product that others read", f"{BIASED} f = Neg (p)"),
    ("a bias of one number", "p = MatMul (x, u) a = Add (p, e) q = MatMul (x, v) b = Add (q, e)"),
    ("other attributes", "a = Gemm (x, u) b = Gemm <alpha = 2.0> (x, v)"),
    ("no constant", "a = MatMul (x, y) b = MatMul (x, u) f = MatMul (x, y)"),
)
def test_others_stay(what, text):
    names = "a b f" if " f = " in text else "a b"
    proto = model(text, names, inputs="float[N, 4] x, float[4, 4] y")
    assert not run_passes(proto, MergeProducts()).changed


def typed(proto, elem_type):
    """The model with numbers of another type."""
    text = onnx.printer.to_text(proto).replace("float[", f"{elem_type}[")
    return onnx.parser.parse_model(text)


def test_notions_and_oldest_opset():
    proto, doubles = model(BIASED, "a b"), typed(model(BIASED, "a b"), "double")
    assert not run_passes(proto, MergeProducts(exactness="bits")).changed
    assert run_passes(proto, MergeProducts(exactness="values")).changed
    assert not run_passes(doubles, MergeProducts(exactness="values")).changed
    assert run_passes(doubles, MergeProducts()).changed
    old = model(BIASED.replace("Add (d, q)", "Mul (q, d)"), "a b", 6)
    assert not run_passes(old, MergeProducts()).changed


@pytest.mark.parametrize("exactness", ["values", "reals"])
def test_no_zero_is_added_where_a_reader_tells_its_sign(exactness):
    """1 / (f + 0) is inf for an f of -0, and 1 / f is -inf."""
    heads = f"""{BIASED} f = MatMul (x, w) r = Div (one, f)"""
    proto = model(heads, "a b r")
    after = run_passes(proto, MergeProducts(exactness=exactness), EliminateDeadNodes()).model
    operators = sorted(node.op_type for node in after.graph.node)
    assert operators == ["Add", "Add", "Div", "MatMul", "Split"]
    feed = {"x": np.zeros((1, 4), np.float32)}
    for tensor in proto.graph.initializer:
        if tensor.name == "w":
            feed["x"][0] = -1e-45 * np.sign(onnx.numpy_helper.to_array(tensor)[:, 0])
    assert_equal_outputs(proto, after, feed)
    biased = "a = Gemm (x, u, c) b = Gemm (x, v, d) f = Gemm (x, w) r = Div (one, f)"
    assert not run_passes(model(biased, "a b r"), MergeProducts(exactness=exactness)).changed


def test_numbers_of_onnxruntime():
    proto = model(f"{BIASED} f = MatMul (x, w)", "a b f")
    feed = {"x": np.random.default_rng(0).standard_normal((2, 4)).astype(np.float32)}
    assert_equal_outputs(proto, run_passes(proto, *PASSES).model, feed)
