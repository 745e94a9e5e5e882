import re

from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes.simplify.raising.algebra import equal
from straightline.passes.simplify.raising.reading import Reading, uniform_number
from straightline.passes.simplify.raising.region import nodes_after
from tables import table

HEAD = '<ir_version: 10, opset_import: ["" : 17]>\n'
CONSTANTS = """<float TWO = {2.0}, float HALF = {0.5}, float QUARTER = {0.25}, float SIX = {6.0},
    float ZERO = {0.0}, float THREE = {3.0}, float ONE = {1.0}, float[2] PAIR = {1.0, 2.0},
    int64[1] LAST = {-1}>"""


def read(*bodies):
    """The reading of a model with all bodies, and the sum of `y` in each."""
    own = [re.sub(r"\b([a-vyz]) ", rf"\g<1>{i} ", b) for i, b in enumerate(bodies)]
    own = [re.sub(r"\b([a-vyz])(?=[,)])", rf"\g<1>{i}", b) for i, b in enumerate(own)]
    outputs = ", ".join(f"float[N, 4] y{index}" for index in range(len(bodies)))
    model = ir.parse(
        f"{HEAD}g (float[N, 4] x, float[4] W) => ({outputs}) {CONSTANTS}{{ {' '.join(own)} }}"
    )
    source = model.graph.inputs[0]
    reading = Reading(source, nodes_after(model.graph, source), ShapeInference(model))
    return reading, [reading.of(value) for value in model.graph.outputs]


@table(
        ("y = Mul (x, x)", "y = Pow (x, TWO)"),
        ("y = Div (x, TWO)", "y = Mul (HALF, x)"),
        ("n = Neg (x) y = Add (W, n)", "y = Sub (W, x)"),
        ("s = Exp (x) q = Sqrt (s) r = Reciprocal (q) y = Mul (s, r)",
         "s = Exp (x) y = Sqrt (s)"),
        ("m = ReduceMean <axes = [1]> (x) y = Sub (x, m)",
         "s = ReduceSum (x, LAST) m = Mul (s, QUARTER) y = Sub (x, m)"),
        ("m = ReduceMean <axes = [-1], keepdims = 0> (x) k = Unsqueeze (m, LAST) y = Sub (x, k)",
         "m = ReduceMean <axes = [1]> (x) y = Sub (x, m)"),
        ("s = ReduceSumSquare <axes = [1]> (x) r = Sqrt (s) y = Mul (x, r)",
         "s = ReduceL2 <axes = [1]> (x) y = Mul (x, s)"),
        ("y = HardSigmoid <alpha = 0.16666667, beta = 0.5> (x)",
         "a = Add (x, THREE) c = Clip (a, ZERO, SIX) y = Div (c, SIX)"),
        ("p = Softmax (x) y = Log (p)", "l = ReduceLogSumExp <axes = [1]> (x) y = Sub (x, l)"),
        ("d = Cast <to = 11> (x) e = Exp (d) f = Cast <to = 1> (e) y = Mul (f, TWO)",
         "e = Exp (x) y = Add (e, e)"),
        ("y = Tanh (x)", "d = Mul (TWO, x) s = Sigmoid (d) a = Mul (s, TWO) y = Sub (a, ONE)"),
        ("s = Softplus (x) y = Mul (s, x)",
         "e = Exp (x) f = Add (ONE, e) l = Log (f) y = Mul (x, l)"),
        ("n = Neg (x) e = Erf (n) y = Mul (e, x)", "e = Erf (x) m = Mul (e, x) y = Neg (m)")
)  # fmt: skip
def test_spellings_of_one_function(one, other):
    _, (first, second) = read(one, other)
    assert equal(first, second)


@table(
        ("y = Pow (x, THREE)", "y = Pow (x, TWO)"),
        ("y = Relu (x)", "y = Clip (x, ZERO, SIX)"),
        ("s = ReduceSum (x, LAST) y = Mul (x, s)",
         "s = ReduceMean <axes = [1]> (x) y = Mul (x, s)"),
        ("q = Mul (x, x) y = Sqrt (q)", "y = Identity (x)"))  # fmt: skip
def test_near_misses(one, other):
    _, (first, second) = read(one, other)
    assert not equal(first, second)


def test_values_that_do_not_depend_on_the_source_are_atoms():
    reading, (total,) = read("e = Exp (W) f = Add (e, W) y = Add (x, f)")
    assert len(total) == 2
    assert {reading.algebra.atoms[key[0][0]].kind for key in total} == {"value"}


def test_a_number_is_a_constant_of_equal_elements():
    graph = ir.parse(f"{HEAD}g (float[N, 4] x) => (y) {CONSTANTS}{{ y = Exp (x) }}").graph
    numbers = {value.name: uniform_number(value) for value in graph.initializers}
    assert numbers["TWO"] == 2 and numbers["PAIR"] is None and numbers["LAST"] is None
