import onnx
from harness import as_model
from straightline import ir
from straightline.version_converter.types import Types, shape_of

FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
HEAD = '<ir_version: 10, opset_import: ["" : 17, "local" : 1]>\n'


def typed(text, head=HEAD):
    """The types of a model, and its values by name."""
    model = ir.load(as_model(head + text))
    graphs = list(model.graphs())
    values = [v for g in graphs for v in g.inputs]
    values += [v for g in graphs for n in g.nodes() for v in n.outputs if v]
    return Types(model), {value.name: value for value in values}


def test_types_are_inferred():
    types, values = typed("g (float[N,3] x) => (y) { s = Shape (x) y = Transpose (x) }")
    assert types.shape(values["y"]) == [3, None]
    assert types.rank(values["y"]) == 2
    assert types.elem_type(values["s"]) == INT64
    assert types.texts(values["s"]) == ["tensor(int64)"]
    assert types.of(None) is types.rank(None) is types.elem_type(None) is None


def test_unknown_types():
    types, values = typed("g (float[N,3] x) => (y) { y = local.Strange (x) }")
    assert types.every(values["y"]) == types.texts(values["y"]) == []
    assert types.of(values["y"]) is types.shape(values["y"]) is None


def test_declarations_of_bodies_are_trusted():
    text = """g (float x, int64 n) => (y) {
        u = local.Strange (x)
        y = Loop (n, , u) <body = b (int64 i, bool c, float[2,K] a) => (bool d, float[2,L] r) {
            d = Identity (c) r = Neg (a) }> }"""
    types, values = typed(text)
    assert types.shape(values["a"]) == types.shape(values["r"]) == [2, None]


CALLS = """g (float[N,3] x, float[N,4] z, int64[2] k) => (p, q, r) {
    p = local.f <to = 1> (x) q = local.f <to = 1> (%s) r = local.f <to = 1> (x) }
<domain: "local", opset_import: ["" : 17]>
f <to> (a) => (b) { c = Neg (a) b = Cast <to : int = @to> (c) }"""


def test_a_function_has_the_types_of_its_calls():
    types, values = typed(CALLS % "z")
    assert [shape_of(type_) for type_ in types.every(values["c"])] == [[None, 3], [None, 4]]
    assert types.shape(values["c"]) == [None, None]
    assert types.elem_type(values["b"]) == FLOAT
    assert len(types.every(values["b"])) == 2


def test_a_function_called_with_two_element_types():
    types, values = typed(CALLS % "k")
    assert types.of(values["c"]) is types.elem_type(values["c"]) is None
    assert sorted(types.texts(values["c"])) == ["tensor(float)", "tensor(int64)"]


def test_a_function_that_nothing_calls():
    text = CALLS.replace("local.f <to = 1>", "Neg") % "z"
    types, values = typed(text)
    assert types.every(values["c"]) == []


def test_nodes_are_read_in_the_version_that_they_are_written_in():
    types, values = typed("g (float[N,3] x) => (y) { y = ReduceMax <axes = [0]> (x) }")
    node = values["y"].producer
    types.begin_step([node], 17)
    node.graph.root.opset_imports[""] = 18
    assert types.version_of(node) == 17
    types.mark_converted(node)
    assert types.version_of(node) == 18
    types.add(node, 17)
    assert types.shape(values["y"]) == [1, 3]


def test_replacements_have_known_types():
    types, values = typed("g (float[N,3] x) => (y, z) { y = Neg (x) z = local.Strange (x) }")
    types.transfer(values["y"], values["z"])
    assert types.shape(values["z"]) == [None, 3]
    types.transfer(values["z"], values["y"])
    assert types.shape(values["y"]) == [None, 3]


def test_types_that_a_node_would_have_in_another_opset():
    types, values = typed("g (float[N,3] x) => (y) { y = Softmax (x) }")
    node = values["y"].producer
    (type_,) = types.of_outputs(node, ir.Operator.make("Shape"), 13)
    assert (type_.tensor_type.elem_type, shape_of(type_)) == (INT64, [2])
    assert types.of_outputs(node, ir.Operator.make("Strange"), 13) == [None]


def test_sizes_that_are_followed():
    types, values = typed("""g (float[N,3] x, w) => (y) {
        s = Shape (x) i = Constant <value_ints = [1]> () t = Gather (s, i) y = Identity (w) }""")
    assert [str(size) for size in types.dimensions(values["x"])] == ["N", "3"]
    assert types.dimensions(values["y"]) is types.dimensions(None) is None
    assert types.decided(values["t"]).numpy().tolist() == [3]
    assert types.decided(values["s"]) is types.decided(values["y"]) is None
