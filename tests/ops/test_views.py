import onnx
from harness import as_model
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.ops.views import read_reduction, read_slice
from tables import table


def view(call, opset=17, constants="", rest="int64[1] n, int64[M] m"):
    model = ir.load(
        onnx.parser.parse_model(
            f'<ir_version: 8, opset_import: ["" : {opset}]> g (float[4, N] x, {rest}) => (y)'
            f" <{constants}> {{ y = Slice {call} }}"
        )
    )
    (node,) = model.graph.nodes()
    return read_slice(node, ShapeInference(model).fact)


ONE = "int64[1] a = {-1}, int64[1] b = {1}, int64[1] e = {3}, int64[2] d = {0, 1}"


def test_bounds_that_are_constant():
    found = view("(x, b, e, a)", constants=ONE)
    assert (found.source.name, found.axis, found.numbers) == ("x", 1, (1, 3))
    assert [value.name for value in found.bounds] == ["b", "e"]


def test_bounds_that_are_attributes():
    found = view("<starts = [1], ends = [3], axes = [-2]> (x)", opset=9)
    assert (found.axis, found.numbers, found.bounds) == (0, (1, 3), (None, None))


def test_a_bound_that_run_time_tells():
    found = view("(x, n, e)", constants=ONE)
    assert (found.axis, found.numbers) == (0, (None, 3))
    assert found.bounds[0].name == "n"


@table(
    "(x, b, e, n)",  # an unknown axis
    "(x, d, d)",  # several axes
    "(x, b, e, a, e)",  # other steps
    "(x, b, e, b, n)",  # unknown steps
    "(x, b, e, e)",  # no such axis
    "(x, m, m)",  # perhaps several axes
)
def test_others_have_no_view(call):
    assert view(call, constants=ONE) is None


def test_an_unknown_rank_decides_axes_from_the_end_only():
    text = """g (x, int64[1] n) => (y, z, u)
        <int64[1] last = {-1}> { y = Slice (x, n, n) z = Neg (x) u = Slice (x, n, n, last) }"""
    model = ir.load(as_model(text))
    fact = ShapeInference(model).fact
    views = {node.output().name: read_slice(node, fact) for node in model.graph.nodes()}
    assert views["y"].axis == 0 and views["z"] is views["u"] is None
    assert read_slice(None, fact) is None


@table(
    (13, "<axes = [-1, 0], keepdims = 0> (x)", (0, 2), False),
    (13, "(x)", (0, 1, 2), True),
    (18, "(x, k)", (1,), True),
    (18, "<noop_with_empty_axes = 1> (x)", (), True),
    (18, "(x, none)", (0, 1, 2), True),
    (18, "(x, far)", None, True),
    (18, "(x, open)", None, True),
)
def test_axes(opset, call, axes, keeps):
    text = """<ir_version: 8, opset_import: ["" : {}]> g (float[2, N, 3] x, int64[K] open) => (y)
        <int64[1] k = {{1}}, int64[0] none = {{}}, int64[1] far = {{3}}> {{ y = ReduceMax {} }}"""
    model = ir.parse(text.format(opset, call))
    (node,) = model.graph.nodes()
    inference = ShapeInference(model)
    view = read_reduction(node, [inference.fact(value) for value in node.inputs])
    assert (view and view.axes) == axes
    assert view is None or (view.keeps, view.does_nothing) == (keeps, not axes)
