import numpy as np
import onnx
from depth import examples
from harness import as_model
from hypothesis import given, settings
from hypothesis import strategies as st
from inferred import shapes
from straightline import ir
from straightline.analysis.shapes import node_transfer
from straightline.analysis.shapes.inference import ShapeInference
from straightline.analysis.shapes.node_transfer import NodeFacts
from straightline.analysis.shapes.onnx_inference_cache import OnnxFacts
from straightline.facts.fact import Fact, Symbols
from straightline.facts.polynomial import Dimension
from straightline.limits import governed
from straightline.ops.outputs import shapes_of
from tables import table

FLOAT, INT64, BOOL = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.BOOL
SIZES = st.integers(0, 4)
SHAPES = st.lists(SIZES, max_size=4)
AXES = st.integers(-4, 3)


def node_of(op_type, shapes, types, attributes, constants, outputs=1, opset=21):
    """A node in a model of its own, whose inputs are declared or constant."""
    names = [f"x{index}" for index in range(len(shapes))]
    node = onnx.helper.make_node(op_type, names, [f"y{i}" for i in range(outputs)], **attributes)
    inputs = [
        onnx.helper.make_tensor_value_info(name, type_, shape)
        for name, type_, shape in zip(names, types, shapes, strict=True)
        if name not in constants
    ]
    tensors = [onnx.numpy_helper.from_array(np.array(v, np.int64), n) for n, v in constants.items()]
    graph = onnx.helper.make_graph([node], "g", inputs, [], tensors)
    imports = [onnx.helper.make_opsetid("", opset)]
    model = ir.load(onnx.helper.make_model(graph, opset_imports=imports, ir_version=8))
    return model, model.graph.nodes()[0]


@st.composite
def broadcasting(draw):
    op_type = draw(st.sampled_from(["Add", "Less", "Pow", "Max", "Sum"]))
    return op_type, [draw(SHAPES) for _ in range(2)], {}, {}, 1


@st.composite
def along_axes(draw):
    kind = draw(st.sampled_from(["Softmax", "Gather", "ArgMax", "Transpose", "LayerNormalization"]))
    shape = draw(SHAPES)
    attributes = {"axis": draw(AXES)}
    if kind == "Transpose":
        perm = draw(st.permutations(range(len(shape))))
        attributes = draw(st.sampled_from([{}, {"perm": list(perm)}, {"perm": [0, 0]}]))
    if kind == "ArgMax":
        attributes["keepdims"] = draw(st.integers(0, 1))
    shapes = [shape, draw(SHAPES)] if kind == "Gather" else [shape]
    if kind == "LayerNormalization":
        shapes = [[1, *shape], shape[-1:]]
    return kind, shapes, attributes, {}, 1


@st.composite
def with_axes(draw):
    kind = draw(st.sampled_from(["Squeeze", "Unsqueeze", "ReduceSum", "ReduceMax"]))
    shape = draw(st.lists(st.sampled_from([0, 1, 1, 3]), max_size=4))
    axes = draw(st.lists(AXES, max_size=3))
    attributes = {}
    if kind.startswith("Reduce"):
        attributes = {
            "keepdims": draw(st.integers(0, 1)),
            "noop_with_empty_axes": draw(st.integers(0, 1)),
        }
    return kind, [shape, [len(axes)]], attributes, {"x1": axes}, 1


@st.composite
def products(draw):
    kind = draw(st.sampled_from(["MatMul", "Gemm"]))
    attributes = {}
    if kind == "Gemm":
        attributes = {"transA": draw(st.integers(0, 1)), "transB": draw(st.integers(0, 1))}
    return kind, [draw(SHAPES), draw(SHAPES)], attributes, {}, 1


@st.composite
def windows(draw):
    kind = draw(st.sampled_from(["Conv", "MaxPool", "AveragePool", "GlobalMaxPool"]))
    image = [draw(SIZES), draw(SIZES), *draw(st.lists(st.integers(0, 9), max_size=2))]
    kernel = draw(st.lists(st.integers(1, 4), min_size=len(image) - 2, max_size=len(image) - 2))
    rank = len(kernel)
    attributes = {}
    if kind != "GlobalMaxPool" and rank:
        for name, low, count in (("pads", 0, 2 * rank), ("strides", 1, rank)):
            attributes[name] = draw(st.lists(st.integers(low, 3), min_size=count, max_size=count))
        attributes["dilations"] = draw(st.lists(st.integers(1, 2), min_size=rank, max_size=rank))
    if kind in ("MaxPool", "AveragePool"):
        attributes["kernel_shape"] = kernel
        attributes["ceil_mode"] = draw(st.integers(0, 1))
    shapes = [image, [draw(SIZES), image[1], *kernel]] if kind == "Conv" else [image]
    return kind, shapes, attributes, {}, 1


@st.composite
def splits(draw):
    shape, parts = draw(SHAPES), draw(st.integers(1, 3))
    if draw(st.booleans()):
        sizes = draw(st.lists(SIZES, min_size=parts, max_size=parts))
        return "Split", [shape, [parts]], {"axis": draw(AXES)}, {"x1": sizes}, parts
    return "Split", [shape], {"axis": draw(AXES), "num_outputs": parts}, {}, parts


CASES = st.one_of(broadcasting(), along_axes(), with_axes(), products(), windows(), splits())


def made(case):
    kind, shapes, attributes, constants, outputs = case
    types = [INT64 if (kind, index) == ("Gather", 1) else FLOAT for index in range(len(shapes))]
    try:
        model, node = node_of(kind, shapes, types, attributes, constants, outputs)
    except (ir.ModelError, ValueError):
        return None  # an empty list has no type, and some lists are refused at load
    symbols = Symbols()
    facts = [
        ir_fact(type_, shape, constants.get(f"x{index}"))
        for index, (type_, shape) in enumerate(zip(types, shapes, strict=True))
    ]
    return model, node, facts, symbols


def ir_fact(type_, shape, constant=None):
    dims = tuple(Dimension.constant(size) for size in shape)
    if constant is None:
        return Fact(type_, dims)
    content = np.empty(len(constant), object)
    content[:] = [Dimension.constant(number) for number in constant]
    return Fact(INT64, dims, content)


@settings(max_examples=examples(200), deadline=None)
@given(CASES)
def test_rules_say_what_onnx_says(case):
    prepared = made(case)
    if prepared is None:
        return
    model, node, facts, symbols = prepared
    ours = shapes_of(node, facts, symbols)
    theirs = OnnxFacts(model, symbols).of(node, facts, node.op)
    for shape, fact in zip(ours or (), theirs, strict=False):
        if shape is not None:
            assert shape == fact.shape, (case, theirs)


@settings(max_examples=examples(150), deadline=None)
@given(CASES, st.data())
def test_rules_hold_for_all_sizes(case, data):
    """Symbols in the place of some sizes: put the sizes in, and it is what onnx says of them."""
    prepared = made(case)
    if prepared is None:
        return
    model, node, facts, symbols = prepared
    theirs = OnnxFacts(model, symbols).of(node, facts, node.op)
    if not theirs[0].elem_type:
        return  # it does not fit
    sizes, loose = {}, []
    for index, fact in enumerate(facts):
        dims = []
        for axis, dim in enumerate(fact.shape):
            if fact.content is None and data.draw(st.booleans()):
                sizes[f"d{index}_{axis}"] = dim
                dim = Dimension.symbol(f"d{index}_{axis}")
            dims.append(dim)
        loose.append(Fact(fact.elem_type, tuple(dims), fact.content))
    for shape, fact in zip(shapes_of(node, loose, symbols) or (), theirs, strict=False):
        if shape is None or fact.shape is None:
            continue
        assert len(shape) == len(fact.shape)
        for dim, size in zip(shape, fact.shape, strict=True):
            if not any(name.startswith("?") for name in dim.symbols) and size.value is not None:
                assert dim.replaced(sizes) == size, (case, shape)


def facts_of(op_type, facts, attributes=None, outputs=1):
    shapes = [[1]] * len(facts)
    model, node = node_of(op_type, shapes, [FLOAT] * len(facts), attributes or {}, {}, outputs)
    symbols = Symbols()
    return NodeFacts(symbols, OnnxFacts(model, symbols)).of(node, facts, node.op)


N = Dimension.symbol("N")


@table(
    # By a rule, the element type by onnx.
    ("Less", [Fact(FLOAT, (N,)), Fact(FLOAT, (N,))], {}, (BOOL, (N,))),
    ("Cast", [Fact(FLOAT, (N,))], {"to": INT64}, (INT64, (N,))),
    # Without a rule.
    ("Det", [Fact(FLOAT, (N, N + 1, N + 1))], {}, (FLOAT, (N,))),
    # What does not fit is nobody's fact.
    ("Add", [Fact(FLOAT, (N,)), Fact(INT64, (N,))], {}, (0, (N,))),
    ("MatMul", [Fact(FLOAT, (N + 1, N)), Fact(FLOAT, ())], {}, (FLOAT, None)),
    # A rule that needs no element types.
    ("Relu", [Fact(0, (N,))], {}, (0, (N,))),
    ("Relu", [Fact()], {}, (0, None)),
)
def test_single_nodes(op_type, facts, attributes, wanted):
    (found,) = facts_of(op_type, facts, attributes)
    assert (found.elem_type, found.shape) == wanted


def test_content_tells_the_shape():
    (found,) = facts_of("Shape", [Fact(FLOAT, (N, N))])
    assert (found.elem_type, found.shape) == (INT64, (2,))
    assert list(found.content) == [N, N]


def test_a_concat_follows_the_elements_that_are_known():
    sizes = [Dimension.constant(number) for number in (1, 4)]
    one, four = (Fact(INT64, (sizes[0],), np.array([size], object)) for size in sizes)
    (fact,) = facts_of("Concat", [one, Fact(INT64, (sizes[0],)), four], {"axis": 0})
    assert list(fact.content) == [sizes[0], None, sizes[1]]
    for unknown in (Fact(INT64, (N,)), Fact(INT64)):  # of an unknown number
        (fact,) = facts_of("Concat", [one, unknown], {"axis": 0})
        assert fact.content is None


def test_onnx_infers_an_output_without_a_rule():
    facts = facts_of("Dropout", [Fact(FLOAT, (N,))], outputs=2)
    assert [(fact.elem_type, fact.shape) for fact in facts] == [(FLOAT, (N,)), (BOOL, (N,))]


def test_sequences_are_left_to_onnx():
    sequence = onnx.helper.make_sequence_type_proto(onnx.helper.make_tensor_type_proto(FLOAT, [3]))
    (found,) = facts_of("Identity", [Fact(other=sequence, count=2)])
    assert (found.other, found.count) == (sequence, 2)


def test_nodes_that_are_alike_are_inferred_once(monkeypatch):
    seen = []

    def counted(node, inputs, symbols):
        seen.append(node.op_type)
        return shapes_of(node, inputs, symbols)

    monkeypatch.setattr(node_transfer, "shapes_of", counted)
    turn = "Transpose <perm = [1, 0]>"
    lines = "".join(
        f"t{i} = {turn} (x{i}) r{i} = Relu (t{i}) x{i + 1} = {turn} (r{i})" for i in range(9)
    )
    sizes = "s = Shape (x9) y = Reshape (x9, s) q = Shape (y) z = Reshape (y, q)"
    found = shapes(f"g (float[N,3] x0) => (z) {{ {lines} {sizes} }}")
    assert found["z"] == found["x9"] == ["N", "3"]
    assert seen == ["Transpose", "Relu", "Transpose", "Shape", "Reshape"]


def test_a_result_of_a_constant_serves_no_other_value():
    model = ir.load(
        as_model(
            """<ir_version: 8, opset_import: ["" : 18]> g (float[1,1,4,4] x, float[4] w) => (y, z)
               <float[4] k = {1.0, 1.0, 2.0, 2.0}> { y = Resize (x, , k)  z = Resize (x, , w) }"""
        )
    )
    first, second = model.graph.nodes()
    second.graph.set_operator(second, first.op)
    symbols = Symbols()
    inferred, four = NodeFacts(symbols, OnnxFacts(model, symbols)), ir_fact(FLOAT, [4])
    inputs = [ir_fact(FLOAT, [1, 1, 4, 4]), Fact(), four]
    one, other = (inferred.of(node, inputs, node.op)[0].shape for node in (first, second))
    assert one == (1, 1, 8, 8)
    assert other is None or all(dim.value is None for dim in other)


def test_sizes_that_no_tensor_has_are_not_known():
    """They could not be written down in a message either."""
    half = 1 << 62
    model, made = node_of("Concat", [[half, 2]] * 2, [FLOAT] * 2, {"axis": 0}, {})
    large, two = ShapeInference(model).fact(made.outputs[0]).shape
    assert large.value is None and two.value == 2
    model, made = node_of("Concat", [[half - 1, 2]] * 2, [FLOAT] * 2, {"axis": 0}, {})
    assert ShapeInference(model).fact(made.outputs[0]).shape[0].value == 2 * half - 2


def test_a_size_of_too_many_terms_is_told():
    """A product of 24 sizes, each plus one."""
    sizes, pads = ", ".join(f"N{i}" for i in range(24)), ", ".join(["0"] * 24 + ["1"] * 24)
    model = ir.load(
        as_model(f"""<ir_version: 8, opset_import: ["" : 18]> g (float[{sizes}] x) => (int64 y)
            <int64[48] pads = {{{pads}}}> {{ p = Pad (x, pads) y = Size (p) }}""")
    )
    with governed() as governor:
        fact = ShapeInference(model).fact(model.graph.outputs[0])
    assert fact.content is not None
    ((why, (place, _)),) = governor.refused.items()
    assert str(place) == "Size 'y'"
    assert "needs more terms than size_terms=512" in why
    assert why.endswith("set sizes as numbers with --shape or --dim")
