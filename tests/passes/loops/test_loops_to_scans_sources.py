"""What a Scan takes apart: rows in their order, backward, from a place on, numbers."""

import numpy as np
from harness import as_model
from straightline import ir, reference
from straightline.analysis.constants.folding import Folder
from straightline.facts.polynomial import Dimension
from straightline.passes.iteration.loop_view import read
from straightline.passes.iteration.places import Selection
from straightline.passes.loops.loops_to_scans import ScanSources
from tables import table

TEXT = """g (float[N, 3] x, int64 n) => (float[?, 3] y) <bool yes = {1}> {
    y = Loop (n, yes) <body = b (int64[1] i, bool c) => (bool c2, float[3] r) {
        c2 = Identity (c) r = Gather (x, i) }> }"""
X = np.arange(12, dtype=np.float32).reshape(4, 3)


def scanned(add):
    model = ir.load(as_model(TEXT))
    node = next(n for n in model.graph.nodes() if n.is_op("Loop"))
    sources = ScanSources(model.graph, read(node), Folder(model).fold)
    add(sources, model.graph.inputs[0])
    model.graph.set_outputs(sources.values, [ir_info(v) for v in sources.values])
    (got,) = reference.run(ir.to_proto(model), {"x": X, "n": np.array(2)})
    return got, sources.backward


def ir_info(value):
    import onnx

    return onnx.ValueInfoProto(name=value.name)


@table(
    (0, 0, 1, True, X),
    (1, 0, 1, True, X.T),
    (0, 0, 1, False, X[:2]),
    (0, 2, 1, False, X[2:]),
    (0, -1, 1, False, X[[-1, 0]]),
    (1, 1, 1, False, X.T[1:]),
    (0, 3, -1, True, X),
    (0, 1, -1, False, X[:2]),
)
def test_rows(axis, start, step, whole, expected):
    def add(sources, x):
        sources.add(Selection(x, axis, Dimension.constant(start), step), 2, whole)

    got, backward = scanned(add)
    np.testing.assert_array_equal(got, expected)
    assert backward == [step == -1]


def test_numbers_have_the_rank_that_the_body_declares():
    got, backward = scanned(lambda sources, x: sources.add_numbers())
    np.testing.assert_array_equal(got, [[0], [1]])
    assert backward == [False]
