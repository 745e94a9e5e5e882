import numpy as np
import pytest
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.facts.polynomial import Dimension
from straightline.passes.simplify.raising.algebra import ONE, Algebra
from straightline.passes.simplify.raising.parameters import parameter
from straightline.passes.simplify.raising.replacement import Site

TEXT = """<ir_version: 10, opset_import: ["" : 17]>
g (float[2] v, float[1, 2] row) => (float[2, 1] y)
    <float[2, 1] c = {1.0, 3.0}, double[2, 1] w = {1.0, 0.1}, int64[1] one = {1}> {
    y = Unsqueeze (v, one) }"""
VECTOR = (Dimension.constant(2),)
COLUMN = (*VECTOR, Dimension.constant(1))


@pytest.fixture
def site():
    model = ir.parse(TEXT)
    return Site(model.graph, ShapeInference(model))


def of(site, name, factor=1.0, shape=VECTOR, operand=COLUMN):
    graph, algebra = site.graph, Algebra()
    values = [*graph.inputs, *graph.initializers, *(n.output() for n in graph.nodes())]
    value = next(value for value in values if value.name == name)
    one = algebra.scale(algebra.of_value(value, site.shape(value)), factor)
    return parameter(site, algebra, one, 1, shape, operand)


def test_a_view_is_read_through(site):
    assert of(site, "y").name == "v"
    assert of(site, "v", operand=VECTOR).name == "v"
    assert of(site, "v") is None, "it broadcasts along another axis"
    assert of(site, "row", operand=VECTOR) is None, "another rank"


def test_constants_are_computed_where_that_is_exact(site):
    np.testing.assert_array_equal(of(site, "c", 2.0), np.array([2, 6], np.float32))
    assert of(site, "c", 0.1) is None
    assert of(site, "w") is None, "0.1 as a double is no float"
    assert of(site, "v", 2.0, operand=VECTOR) is None, "run time multiplies it"


def test_a_number_is_a_vector_where_the_size_is_known(site):
    algebra = Algebra()
    np.testing.assert_array_equal(parameter(site, algebra, ONE, 1, VECTOR, COLUMN), [1, 1])
    symbol = (Dimension.symbol("N"),)
    assert parameter(site, algebra, ONE, 1, symbol, symbol) is None
