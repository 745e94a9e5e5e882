import onnx
from proofs import assert_open, assert_proved
from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from straightline.verification.proof.definitions.opening import Definitions, instantiated
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.term_manager import Terms

FLOAT = onnx.TensorProto.FLOAT
SHAPE = tuple(map(Dimension.constant, (2, 3)))
MISH = "s = Softplus (x) t = Tanh (s) m = Mul (x, t)"
TEXT = "g (float[2, 3] x) => (float[{}] y) <int64[1] six = {{6}}> {{ {} }}"


def test_a_definition_is_opened_once_and_named_when_used():
    terms = Terms(Budget())
    x = terms.leaf("input", "x", Fact(FLOAT, SHAPE))
    mish = terms.op("Mish", 22, x)
    definitions = Definitions(terms)
    assert definitions.opened(x) is None and definitions.assumed == set()
    opened = definitions.opened(mish)
    assert opened is not None and opened.is_op("Mul") and opened.args[0] is x
    assert definitions.of(mish) is opened and definitions.assumed == {"Mish"}


def test_a_definition_of_unknown_rank_stays_closed():
    terms = Terms(Budget())
    x = terms.leaf("input", "x", Fact(FLOAT))
    assert Definitions(terms).opened(terms.op("Mish", 22, x)) is None


def test_a_scalar_is_no_vector():
    """A constant of onnx's function of Celu has rank 1."""
    terms = Terms(Budget())
    celu = terms.op("Celu", 12, terms.leaf("input", "x", Fact(FLOAT, ())), alpha=2.0)
    opened = Definitions(terms, over_reals=True).opened(celu)
    assert opened is None or opened.fact.shape == ()


def test_axes_of_run_time():
    """Sizes that only run time determines are no sign of another shape."""
    terms = Terms(Budget())
    x = terms.leaf("input", "x", Fact(FLOAT, SHAPE))
    axes = terms.leaf("input", "a", Fact(onnx.TensorProto.INT64, (Dimension.constant(1),)))
    opened = Definitions(terms).opened(terms.op("ReduceL1", 18, x, axes, keepdims=0))
    assert opened is not None and opened.is_op("ReduceSum") and opened.args[1] is axes
    assert opened.args[0] is terms.op("Abs", 18, x)
    no_axes = terms.op("ReduceL1", 18, x, axes, keepdims=0, noop_with_empty_axes=1)
    assert Definitions(terms).opened(no_axes) is None


def test_a_definition_of_another_shape_stays_closed():
    """A scale that broadcasts the data is no scale of the specification."""
    terms = Terms(Budget())
    x = terms.leaf("input", "x", Fact(FLOAT, SHAPE[1:]))
    scale = terms.leaf("input", "s", Fact(FLOAT, SHAPE))
    assert Definitions(terms).opened(terms.op("LayerNormalization", 17, x, scale)) is None


def test_a_definition_is_opened_below_what_moves_it():
    for shape, move in (("6", "Reshape (%s, six)"), ("3, 2", "Transpose (%s)")):
        before = TEXT.format(shape, f"m = Mish (x) y = {move % 'm'}")
        after = TEXT.format(shape, f"{MISH} y = {move % 'm'}")
        assert_proved(before, after)
        assert_proved(after, before)
        assert_open(before, after.replace("Tanh", "Sigmoid"))


def test_two_operators_with_one_longer_form():
    text = "g (float[n] x) => (float[n] y) {{ {} }}"
    before = text.format("y = HardSwish (x)")
    after = text.format("h = HardSigmoid <alpha = 0.16666667, beta = 0.5> (x) y = Mul (h, x)")
    assert_proved(before, after)


def test_an_operator_in_a_loop():
    body = """g (float[4, 3] x) => (float[4, 3] y) {{
        y = Scan <num_scan_inputs = 1, body = b (float[3] r) => (float[3] o) {{ {} }}> (x) }}"""
    before = body.format("o = Mish (r)")
    after = "g (float[4, 3] x) => (float[4, 3] y) { s = Softplus (x) t = Tanh (s) y = Mul (x, t) }"
    assert "Mish gives the same bits as its definition" in assert_proved(before, after).assumptions
    assert_open(before, after.replace("Tanh", "Erf"))


def test_absent_arguments_and_outputs():
    text = '<domain: "local", opset_import: ["": 17]> F (x, l, h) => (y, z) { y = Clip (x, l, h) }'
    function = onnx.parser.parse_function(text)
    terms = Terms(Budget())
    x = terms.leaf("input", "x", Fact(FLOAT, SHAPE))
    results = instantiated(terms, function, (x,))
    assert results[0] is terms.op("Clip", 17, x) and results[1] is None


def test_the_steps_of_an_opened_definition_count_once_for_all_comparisons():
    terms = Terms(Budget())
    mish = terms.op("Mish", 22, terms.leaf("input", "x", Fact(FLOAT, SHAPE)))
    steps = terms.budget.steps
    opened = Definitions(terms).opened(mish)
    assert steps - terms.budget.steps >= 3 * 8  # three nodes
    steps = terms.budget.steps
    assert Definitions(terms).opened(mish) is opened and terms.budget.steps == steps


QUICK_GELU = "a = Constant <value = float {1.702}> () b = Mul (x, a) s = Sigmoid (b) y = Mul (x, s)"


def test_operators_outside_of_onnx_have_the_bits_of_definitions_that_move_elements():
    foreign = """<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]>
    g (float[2, 3] x, int64 k) => (float[2, 3] y) {{ {} }}"""
    trilu = foreign.format("y = com.microsoft.Trilu (x, k)")
    proof = assert_proved(trilu, foreign.format("y = Trilu (x, k)"))
    assert "com.microsoft::Trilu computes its definition" in proof.assumptions
    assert_open(trilu, foreign.format("y = Trilu <upper = 0> (x, k)"))
    assert_open(foreign.format("y = com.microsoft.QuickGelu (x)"), foreign.format(QUICK_GELU))
