import pytest
from proofs import assert_open, assert_proved

X = "g (float[n, 4] x, float[4, 5] w, float[5] b) => (float[n, %s] y) "
NUMBERS = "<float half = {0.5}, float one = {1.0}, float two = {2.0}, float three = {3.0}> "
PAIRS = {
    "Gelu": (X % 4, "y = Gelu (x)",
     "s = Sqrt (two) d = Div (x, s) e = Erf (d) p = Add (one, e) h = Mul (half, x) y = Mul (h, p)",
     ("Mul (half, x)", "Mul (two, x)")),
    "Mish": (X % 4, "y = Mish (x)", "s = Softplus (x) t = Tanh (s) y = Mul (x, t)",
     ("Tanh (s)", "Sigmoid (s)")),
    "HardSwish": (X % 4, "y = HardSwish (x)",
     "s = HardSigmoid <alpha = 0.16666667, beta = 0.5> (x) y = Mul (x, s)",
     ("beta = 0.5", "beta = 0.25")),
    "Swish": (X % 4, "y = Swish <alpha = 2.0> (x)",
     "a = Mul (two, x) s = Sigmoid (a) y = Mul (x, s)", ("Mul (two, x)", "Mul (three, x)")),
    "ThresholdedRelu": (X % 4, "y = ThresholdedRelu <alpha = 2.0> (x)",
     "c = Greater (x, two) z = Sub (two, two) y = Where (c, x, z)",
     ("Greater (x", "GreaterOrEqual (x")),
    "LeakyRelu": (X % 4, "y = LeakyRelu <alpha = 0.5> (x)",
     "z = Sub (two, two) c = Less (x, z) m = Mul (half, x) y = Where (c, m, x)",
     ("Where (c, m, x)", "Where (c, x, m)")),
    "Softmax": (X % 4, "y = Softmax (x)",
     "m = ReduceMax <axes = [-1]> (x) d = Sub (x, m) e = Exp (d) "
     "axis = Constant <value_ints = [1]> () s = ReduceSum (e, axis) y = Div (e, s)",
     ("Div (e, s)", "Div (s, e)")),
    "LogSoftmax": (X % 4, "y = LogSoftmax (x)",
     "m = ReduceMax <axes = [-1]> (x) d = Sub (x, m) e = Exp (d) "
     "axis = Constant <value_ints = [1]> () s = ReduceSum (e, axis) l = Log (s) y = Sub (d, l)",
     ("Sub (d, l)", "Sub (x, l)")),
    "Gemm": (X % 5, "y = Gemm <alpha = 2.0> (x, w, b)",
     "p = MatMul (x, w) q = Mul (p, two) y = Add (q, b)", ("Add (q, b)", "Sub (q, b)")),
    "ReduceL2": ("g (float[n, 4] x) => (float[n] y) ",
     "y = ReduceL2 <axes = [-1], keepdims = 0> (x)",
     "q = Mul (x, x) axis = Constant <value_ints = [-1]> () "
     "s = ReduceSum <keepdims = 0> (q, axis) y = Sqrt (s)", ("Sqrt (s)", "Abs (s)"))}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_a_longer_form_is_the_operator_and_a_near_miss_is_not(name):
    head, short, long, (old, new) = PAIRS[name]
    texts = []
    for nodes in (short, long, long.replace(old, new)):
        opset = 24 if name in ("Swish", "Mish", "HardSwish") else 22 if name == "Gelu" else 17
        texts.append(f'<ir_version: 10, opset_import: ["" : {opset}]> {head}{NUMBERS}{{ {nodes} }}')
    proof = assert_proved(texts[0], texts[1])
    by_definition = f"{name} gives the same bits as its definition" in proof.assumptions
    assert by_definition is (name != "ThresholdedRelu")
    assert_open(texts[0], texts[2])


def test_integers_need_no_assumption():
    text = "g (int64[n, 4] x, int64[4, 5] w, int64[5] b) => (int64[n, 5] y) {{ {} }}"
    before = text.format("y = Gemm (x, w, b)")
    assert assert_proved(before, text.format("p = MatMul (x, w) y = Add (p, b)")).assumptions == ()
    assert_open(before, text.format("p = MatMul (x, w) y = Sub (p, b)"))


def test_celu_holds_over_the_reals_alone():
    """Celu: kernels differ on the sign of zero."""
    text = "g (float[n] x) => (float[n] y) <float two = {{2.0}}> {{ {} }}"
    before = text.format("y = Celu <alpha = 2.0> (x)")
    after = text.format("d = Div (x, two) e = Elu (d) y = Mul (two, e)")
    assert assert_open(before, after, weaker=True).equality == "reals"
    assert assert_open(before, after.replace("Elu (d)", "Elu (x)"), weaker=True).equality is None


def test_a_global_pool_is_a_reduction_over_the_reals():
    text = "g (float[n, 4, 5, 6] x) => (float[n, 4, 1, 1] y) {{ {} }}"
    for pool, reduction in (("Average", "Mean"), ("Max", "Max")):
        before = text.format(f"y = Global{pool}Pool (x)")
        after = text.format(f"y = Reduce{reduction} (x, a)").replace(
            ") {", ") <int64[2] a = {2, 3}> {"
        )
        assert assert_open(before, after, weaker=True).equality == "reals"
        assert assert_open(before, after.replace("{2, 3}", "{1, 3}"), weaker=True).equality is None


def test_gemm_of_transposed_weights():
    text = "g (float[n, 4] x, float[5, 4] w, float[5] b) => (float[n, 5] y) {{ {} }}"
    before = text.format("y = Gemm <transB = 1> (x, w, b)")
    assert_proved(before, text.format("t = Transpose (w) p = MatMul (x, t) y = Add (b, p)"))
    square = before.replace("[5, 4]", "[4, 4]").replace("5]", "4]")
    assert_open(square, square.replace("transB", "transA").replace("n, 4", "4, 4"))


POWER = "g (float[n] x, {} k) => (float[n] y) <{} c = {{3}}, float three = {{3}}> {{ {} }}"


@pytest.mark.parametrize("kind", ["uint8", "int16", "float16"])
def test_a_power_in_the_type_of_the_base(kind):
    before = POWER.format(kind, "float", "y = Pow (x, k)")
    after = POWER.format(kind, "float", "e = Cast <to = 1> (k) y = Pow (x, e)")
    assert "Pow gives the same bits as its definition" in assert_proved(before, after).assumptions
    assert_open(before, after.replace("Pow (x, e)", "Pow (e, x)"))


def test_a_power_by_a_constant():
    before = POWER.format("float", "int64", "y = Pow (x, c)")
    after = POWER.format("float", "int64", "y = Pow (x, three)")
    assert_proved(before, after)
    assert_open(before, after.replace("three = {3}", "three = {4}"))
    large = before.replace("c = {3}", "c = {16777217}")
    assert_open(large, after.replace("three = {3}", "three = {16777216}"))


@pytest.mark.parametrize("kind", ["int64", "double", "uint32"])
def test_exponents_that_the_base_cannot_hold(kind):
    before = POWER.format(kind, "float", "y = Pow (x, k)")
    assert_open(before, POWER.format(kind, "float", "e = Cast <to = 1> (k) y = Pow (x, e)"))
