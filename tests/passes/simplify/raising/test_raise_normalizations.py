import numpy as np
import pytest
from harness import assert_rewrites, op_types, run_passes
from raising import assert_near, assert_raises, assert_stays, numbers, text
from straightline import ir
from straightline.passes import Pipeline, RaiseNormalizations
from straightline.passes.base import PassContext
from tables import table

from targets import fitted, lacking

CUBE = "(float[N, 3, 4] x, float[4] s, float[4] b) => (float[N, 3, 4] y)"
IMAGE = "(float[2, 3, 4, 5] x, float[3] s, float[3] b) => (float[2, 3, 4, 5] y)"
CONSTANTS = """<float two = {2.0}, float eps = {1e-5}, float one = {1.0}, float minus = {-0.5},
    float three = {3.0}, float quarter = {0.25}, float half = {0.5}, int64[1] last = {-1},
    int64[2] image = {2, 3}, int64[3] column = {3, 1, 1}>"""
OLDER = CONSTANTS.replace(", int64[1] last = {-1}", "")
MEAN = "m = ReduceMean <axes = [-1]> (x) d = Sub (x, m) "
VARIANCE = MEAN + "p = Pow (d, two) v = ReduceMean <axes = [-1]> (p) e = Add (v, eps) "
LAYER = VARIANCE + "q = Sqrt (e) n = Div (d, q) t = Mul (n, s) y = Add (t, b)"
RMS = "p = Mul (x, x) v = ReduceMean (p, last) e = Add (v, eps) q = Sqrt (e) "

LAYERS = [
    LAYER,
    VARIANCE + "q = Pow (e, minus) n = Mul (q, d) t = Mul (s, n) y = Add (b, t)",
    VARIANCE.replace("Pow (d, two)", "Mul (d, d)").replace("(v, eps)", "(eps, v)")
    + "q = Sqrt (e) r = Reciprocal (q) k = Mul (s, r) n = Mul (k, d) y = Add (n, b)",
    "m = ReduceMean <axes = [2]> (x) p = Mul (x, x) a = ReduceMean <axes = [2]> (p) "
    "c = Mul (m, m) v = Sub (a, c) e = Add (v, eps) q = Sqrt (e) r = Div (one, q) "
    "k = Mul (r, s) f = Mul (x, k) g = Mul (m, k) h = Sub (b, g) y = Add (f, h)",
    "u = ReduceSum (x, last) m = Mul (u, quarter) d = Sub (x, m) p = ReduceSumSquare <axes = [2]> "
    "(d) v = Mul (p, quarter) e = Add (v, eps) q = Sqrt (e) n = Div (d, q) t = Mul (n, s) "
    "y = Add (t, b)",
    "m = ReduceMean <axes = [-1], keepdims = 0> (x) w = Unsqueeze (m, last) d = Sub (x, w) "
    + LAYER[len(MEAN) :],
    "c = Cast <to = 11> (x) m = ReduceMean <axes = [-1]> (c) d = Sub (c, m) p = Mul (d, d) "
    "v = ReduceMean <axes = [-1]> (p) g = Cast <to = 1> (v) e = Add (g, eps) q = Sqrt (e) "
    "z = Cast <to = 1> (d) n = Div (z, q) t = Mul (n, s) y = Add (t, b)",
]


@pytest.mark.parametrize("nodes", LAYERS)
def test_spellings_of_layer_normalization(nodes):
    source = text(nodes, CUBE, CONSTANTS, 17)
    model = assert_raises(RaiseNormalizations(), source, ["LayerNormalization"])
    for scale in (1.0, 300.0):
        feeds = {"x": numbers(2, 3, 4, scale=scale), "s": numbers(4), "b": numbers(4)}
        assert_near(source, model, feeds, 1e-4)


def test_before_and_after():
    assert_rewrites(
        RaiseNormalizations(),
        text(LAYER, CUBE, "<float two = {2.0}, float eps = {0.5}>", 17),
        text(
            "y = LayerNormalization <axis = -1, epsilon = 0.5> (x, s, b)",
            CUBE,
            "<float two = {2.0}, float eps = {0.5}>",
            17,
        ),
        [{"x": numbers(n, 3, 4), "s": numbers(4), "b": numbers(4)} for n in (1, 2)],
    )


@table(
    RMS + "n = Div (x, q) y = Mul (n, s)",
    RMS.replace("Mul (x, x)", "Pow (x, two)") + "r = Reciprocal (q) n = Mul (x, r) y = Mul (s, n)",
    RMS + "r = Div (s, q) y = Mul (r, x)",
)
def test_spellings_of_root_mean_square_normalization(nodes):
    source = text(nodes, CUBE, CONSTANTS, 23)
    model = assert_raises(RaiseNormalizations(), source, ["RMSNormalization"])
    assert_near(source, model, {"x": numbers(2, 3, 4), "s": numbers(4), "b": numbers(4)})
    assert_stays(RaiseNormalizations(), text(nodes, CUBE, CONSTANTS, 22))


def test_casts_around_a_normalization_of_halves():
    nodes = (
        "c = Cast <to = 1> (x) p = Mul (c, c) v = ReduceMean (p, last) e = Add (v, eps) "
        "q = Sqrt (e) n = Div (c, q) h = Cast <to = 10> (n) y = Mul (h, s)"
    )
    signature = "(float16[N, 3, 4] x, float16[4] s) => (float16[N, 3, 4] y)"
    source = text(nodes, signature, CONSTANTS, 23)
    model = assert_raises(RaiseNormalizations(), source, ["RMSNormalization"])
    half = np.float16
    assert_near(
        source, model, {"x": numbers(2, 3, 4, dtype=half), "s": numbers(4, dtype=half)}, 0.01
    )


def test_scale_and_bias_of_trained_models_are_absorbed():
    constants = (
        CONSTANTS[:-1] + ", float[1, 1, 4] S = {0.5, 1.25, -2, 3}, float[1, 4] B = {1, 2, 3, 4}>"
    )
    source = text(LAYER.replace(", s)", ", S)").replace(", b)", ", B)"), CUBE, constants, 17)
    model = assert_raises(RaiseNormalizations(), source, ["LayerNormalization"])
    assert_near(source, model, {"x": numbers(2, 3, 4), "s": numbers(4), "b": numbers(4)})


def test_channels_of_images_are_instance_normalization():
    nodes = (
        "m = ReduceMean <axes = [2, 3]> (x) d = Sub (x, m) p = Mul (d, d) "
        "v = ReduceMean <axes = [2, 3]> (p) e = Add (v, eps) q = Sqrt (e) n = Div (d, q) "
        "c = Reshape (s, column) f = Reshape (b, column) t = Mul (n, c) y = Add (t, f)"
    )
    source = text(nodes, IMAGE, CONSTANTS, 11)
    model = assert_raises(RaiseNormalizations(), source, ["InstanceNormalization"], is_proved=True)
    assert_near(source, model, {"x": numbers(2, 3, 4, 5), "s": numbers(3), "b": numbers(3)})
    open_batch = text(nodes, IMAGE.replace("[2, 3, 4, 5]", "[N, 3, 4, 5]"), CONSTANTS, 11)
    assert_stays(RaiseNormalizations(), open_batch)  # kernels fail for an empty batch


@table(
        (LAYER.replace("Pow (d, two)", "Pow (d, three)"), CUBE),
        (LAYER.replace("v, eps", "v, x"), CUBE),
        (VARIANCE.replace("e = Add (v, eps)", "f = Sqrt (v)") + "q = Add (f, eps) n = Div (d, q) "
         "t = Mul (n, s) y = Add (t, b)", CUBE),
        (LAYER, CUBE.replace("float[N, 3, 4] x", "float[N, 3, 1] x")),
        (LAYER.replace("ReduceMean <axes = [-1]> (p)", "ReduceMean <axes = [-2]> (p)"), CUBE),
        (LAYER.replace("[-1]", "[-2]"), CUBE),
        (LAYER.replace("n = Div (d, q)", "n = Div (x, q)"), CUBE),
        (LAYER + " k = Exp (d)", CUBE.replace("4] y)", "4] y, float[N, 3, 4] k)")),
        (LAYER.replace("float", "double"), CUBE.replace("float", "double")))  # fmt: skip
def test_near_misses_stay(nodes, signature):
    constants = CONSTANTS
    if "double" in signature:
        constants = CONSTANTS.replace("float", "double")
    assert_stays(RaiseNormalizations(), text(nodes, signature, constants, 17))


def test_a_scale_of_another_shape_stays_outside():
    """A scale along another axis is no scale of the operator."""
    source = text(LAYER, CUBE.replace("float[4] s", "float[3, 1] s"), CONSTANTS, 17)
    model = assert_raises(RaiseNormalizations(), source, ["LayerNormalization", "Mul", "Add"])
    assert_near(source, model, {"x": numbers(2, 3, 4), "s": numbers(3, 1), "b": numbers(4)})


def test_an_overridable_epsilon_is_no_constant():
    signature = CUBE.replace("float[4] b)", "float[4] b, float eps = {1e-5})")
    constants = CONSTANTS.replace("float eps = {1e-5}, ", "")
    assert_stays(RaiseNormalizations(), text(LAYER, signature, constants, 17))


def test_only_the_reals_allow_it():
    source = text(LAYER, CUBE, CONSTANTS, 17)
    assert_stays(RaiseNormalizations(exactness="values"), source)


def test_a_client_without_the_operator_does_not_get_it():
    model = ir.parse(text(LAYER, CUBE, CONSTANTS, 17))
    context = PassContext(supports=lambda op_type, opset: op_type != "LayerNormalization")
    assert not Pipeline([RaiseNormalizations()]).apply(model, run=context).changed


def test_infinities_and_large_values():
    """Finite outputs stay finite."""
    source = text(LAYER, CUBE, CONSTANTS, 17)
    model = assert_raises(RaiseNormalizations(), source, ["LayerNormalization"])
    x = numbers(2, 3, 4)
    x[0, 0, 0], x[0, 1, 2], x[1, 2] = np.inf, np.nan, 1e15
    assert_near(source, model, {"x": x, "s": numbers(4), "b": numbers(4)}, 1e-4)


def test_a_form_inside_a_body():
    source = f"""<ir_version: 10, opset_import: ["" : 17]>
        g (float[2, 3, 4] x, bool c) => (float[2, 3, 4] y) <float[4] s = {{1, 2, 3, 4}},
        float[4] b = {{1, 2, 3, 5}}, float two = {{2.0}}, float eps = {{1e-5}}> {{
        y = If (c) <then_branch = t () => (float[2, 3, 4] y1) {{ {LAYER.replace("y =", "y1 =")} }},
        else_branch = e () => (float[2, 3, 4] y2) {{ y2 = Exp (x) }}> }}"""
    model = ir.parse(source)
    assert Pipeline([RaiseNormalizations()]).apply(model).changed
    ir.verify(model)
    operators = [node.op_type for graph in model.graphs() for node in graph.nodes()]
    assert sorted(operators) == ["Exp", "If", "LayerNormalization"]


def test_a_target_decides():
    """With a target, the pipeline raises only to operators that it lists."""
    source = text(LAYER, CUBE, CONSTANTS, 17)
    for target, count in ((lacking(), 1), (lacking("LayerNormalization"), 9)):
        assert len(fitted(source, target, passes="simplify{exactness=reals}").ir.graph) == count


@pytest.mark.parametrize("after", [0, 30])
def test_many_readers_of_what_is_normalized(after):
    """Rows of readers before and after the normalization, which all depend on its operand."""
    layer = LAYER.replace(" <axes = [-1]> (x)", " (x, last)").replace(
        " <axes = [-1]> (p)", " (p, last)"
    )
    others = " ".join(f"o{k} = Mul (x, x)" for k in range(30))
    total = ", ".join(f"o{k}" for k in range(30))
    chain = "w0 = Add (y, x) " + " ".join(f"w{k + 1} = Mul (w{k}, x)" for k in range(after))
    nodes = f"{others} {layer} o = Sum ({total}) {chain} z = Add (o, w{after})"
    result = run_passes(text(nodes, CUBE.replace("y)", "z)"), CONSTANTS, 23), RaiseNormalizations())
    names = op_types(result.model)
    assert "LayerNormalization" in names
    assert "RMSNormalization" not in names
