import pytest
from simplified import operators
from tables import table


def products(bias, elem_type="float"):
    kinds = f"{elem_type}[N, 3] x, {elem_type}[3, 4] w, {elem_type}[{bias}] b"
    return f"({kinds}) => ({elem_type}[N, 4] y)"


@pytest.mark.parametrize("bias", ["4", "1", "1, 4"])
def test_a_product_and_a_bias(bias):
    text = "{ t = MatMul (x, w) y = Add (b, t) }"
    assert operators(text, products(bias), "reals") == ["Gemm"]
    assert operators(text, products(bias)) == ["MatMul", "Add"]


def test_sums_that_gemm_cannot_hold():
    text = "{ t = MatMul (x, w) y = Add (b, t) }"
    three = products("1, 1, 4").replace("float[N, 4] y", "float[1, N, 4] y")
    assert operators(text, three, "reals") == ["MatMul", "Add"]
    assert operators(text, products("4", "int32"), "reals") == ["MatMul", "Add"]


def test_a_bias_and_a_transpose_in_a_gemm():
    text = "{ t = Transpose (w) u = Gemm (x, t) y = Add (u, b) }"
    signature = "(float[N, 3] x, float[4, 3] w, float[4] b) => (float[N, 4] y)"
    assert operators(text, signature, "reals") == ["Gemm"]


@pytest.mark.parametrize("op_type", ["Mul", "Div"])
@table("MatMul (x, w)", "Gemm (x, w, b)", "Gemm <transB = 1> (x, w, b)")
def test_a_factor_goes_into_the_weights(product, op_type):
    text = f"""<float[2, 2] w = {{1, 2, 3, 4}}, float[2] b = {{5, 6}}, float[2] s = {{2, 4}}> {{
        t = {product} y = {op_type} (t, s) }}"""
    assert operators(text, "(float[N, 2] x) => (y)", "reals") == [product.split()[0]]
    assert len(operators(text, "(float[N, 2] x) => (y)")) == 2


def test_a_factor_of_another_axis_stays():
    text = """<float[2, 2] w = {1, 2, 3, 4}, float[3, 1] s = {2, 4, 6}> {
        t = MatMul (x, w) y = Mul (t, s) }"""
    assert operators(text, "(float[3, 2] x) => (y)", "reals") == ["MatMul", "Mul"]


NODES = ["MatMul (t, w)", "Gemm (t, w, b)", "Gemm <transB = 1, alpha = 0.5> (t, w)"]


@pytest.mark.parametrize("op_type", ["Mul", "Div"])
@pytest.mark.parametrize("product", NODES)
def test_a_number_times_rows_goes_into_the_weights(product, op_type):
    text = """<float[2, 2] w = {1, 2, 3, 4}, float[2] b = {5, 6}, float s = {4}, float one = {1}> {
        %s y = %s }"""
    left = operators(text % (f"t = {op_type} (x, s)", product), "(float[N, 2] x) => (y)", "reals")
    assert left == [product.split()[0]]
    gelu = "u = Erf (x) v = Add (one, u) h = Mul (v, x) t = Mul (h, s)"
    left = operators(text % (gelu, product), "(float[N, 2] x) => (y)", "reals")
    assert left == ["Erf", "Add", "Mul", "Mul", product.split()[0]]


@pytest.mark.parametrize("product", [node.replace("(t", "(x") for node in NODES])
def test_a_normalized_product(product):
    text = f"""<float[2, 2] w = {{1, 2, 3, 4}}, float[2] b = {{5, 6}}, float[2] f = {{2, 3}},
        float[2] o = {{20, -40}}, float[2] m = {{3, 5}}, float[2] v = {{4, 1}}> {{
        t = {product} y = BatchNormalization <epsilon = 0.1> (t, f, o, m, v) }}"""
    signature = "(float[N, 2] x) => (y)"
    assert operators(text, signature, "reals") == ["Gemm"]
    assert operators(text, signature, "values") == [product.split()[0], "BatchNormalization"]
    scaled = text.replace("Gemm (x", "Gemm <beta = 0.5> (x")
    if scaled != text:
        assert operators(scaled, signature, "reals") == ["Gemm", "BatchNormalization"]


@pytest.mark.parametrize("opset", [9, 17])
@pytest.mark.parametrize("flags", ["", "<transA = 1>", "<transB = 1>", "<transA = 1, transB = 1>"])
def test_a_gemm_transposes_both_matrices(flags, opset):
    text = f"{{ t = Transpose (x) u = Transpose (w) y = Gemm {flags} (t, u, b) }}"
    x = "float[2, 3] x" if "transA" in flags else "float[3, 2] x"
    w = "float[3, 4] w" if "transB" in flags else "float[4, 3] w"
    signature = f"({x}, {w}, float[4] b) => (float[2, 4] y)"
    assert operators(text, signature, "reals", opset) == ["Gemm"]
    assert len(operators(text, signature, "values", opset)) == 3


@pytest.mark.parametrize("operands", ["t, w", "w, t"])
def test_a_product_of_a_transposed_matrix(operands):
    text = f"{{ t = Transpose (x) y = MatMul ({operands}) }}"
    signature = "(float[3, 3] x, float[3, 3] w) => (y)"
    assert operators(text, signature, "reals") == ["Gemm"]
    assert operators(text, signature, "values") == ["Transpose", "MatMul"]
    assert operators(text, signature, "reals", 9) == ["Transpose", "MatMul"]  # needs a bias
    cube = f"{{ t = Transpose <perm = [0, 2, 1]> (x) y = MatMul ({operands}) }}"
    signature = "(float[2, 3, 3] x, float[2, 3, 3] w) => (y)"
    assert operators(cube, signature, "reals") == ["Transpose", "MatMul"]


@pytest.mark.parametrize("flags", ["", "transA = 1, ", "transB = 1, ", "transA = 1, transB = 1, "])
def test_sums_after_a_gemm(flags):
    text = f"<float[2] b = {{5, 6}}, float[2] s = {{7, -8}}, float c = {{2}}> {{ t = Gemm <{flags}"
    signature = "(float[2, 2] x, float[2, 2] w) => (y)"
    for operands, node in (
        ("x, w", "Add (s, t)"),
        ("x, w, b", "Add (t, s)"),
        ("x, w, b", "Sub (t, s)"),
        ("x, w, b", "Sub (t, c)"),
    ):
        nodes = f"{text} alpha = 0.5> ({operands}) y = {node} }}"
        assert operators(nodes, signature, "reals") == ["Gemm"]
        assert len(operators(nodes, signature, "values")) == 2
    for scale, node in (("alpha = 0.5", "Sub (s, t)"), ("beta = 0.5", "Add (t, s)")):
        nodes = f"{text} {scale}> (x, w, b) y = {node} }}"
        assert len(operators(nodes, signature, "reals")) == 2
