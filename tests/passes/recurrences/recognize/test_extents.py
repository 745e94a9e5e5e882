import math
from types import SimpleNamespace

import pytest
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes.recurrences.recognize.extents import Extents

INF = math.inf
HEAD = """<ir_version: 8, opset_import: ["" : 17]> g (float[3] e, float[3] f) => (float[3] r)
    <float half = {0.5}, float[3] wide = {-1, 0, 2}> { g = Less (e, f) p = Sigmoid (e) """
CASES = {
    "r = Cast <to = 1> (g)": (0, 1),
    "h = Not (g) k = Cast <to = 1> (h) r = Mul (k, p)": (0, 1),
    "k = Neg (p) r = Add (k, half)": (-0.5, 0.5),
    "r = Sub (wide, p)": (-2, 2),
    "k = Tanh (e) r = Max (k, p)": (0, 1),
    "k = Tanh (e) r = Min (k, half)": (-1, 0.5),
    "k = Exp (e) r = Where (g, k, wide)": (-1, INF),
    "k = Exp (e) r = Mul (k, p)": (0, INF),
    "k = Exp (e) l = Neg (k) r = Add (k, l)": (-INF, INF),
    "k = Unsqueeze (p, zero) r = Squeeze (k, zero)": (0, 1),
    "k = Cast <to = 7> (p) r = Cast <to = 1> (k)": (-(1 << 63), (1 << 63) - 1),
    "a = Greater (p, half) k = Cast <to = 7> (a) l = Neg (k) r = Cast <to = 1> (l)": (-1, 0),
    "r = Add (e, half)": (-INF, INF),
}


@pytest.mark.parametrize(("nodes", "expected"), CASES.items())
def test_extents(nodes, expected):
    zero = "zero = Constant <value_ints = [0]> () "
    model = ir.parse(f"{HEAD} {zero} {nodes} }}")
    loop_view = SimpleNamespace(scan_inputs=(), states=(), iteration=None)
    iterations = SimpleNamespace(loop_view=loop_view)
    recurrence = SimpleNamespace(iterations=iterations, fact=ShapeInference(model).fact)
    assert Extents(recurrence).of(model.graph.outputs[0]) == expected
