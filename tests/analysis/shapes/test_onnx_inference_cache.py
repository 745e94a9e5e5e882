import onnx
from harness import as_model
from inferred import facts, shapes
from straightline import ir
from straightline.analysis.shapes import onnx_inference_cache
from straightline.analysis.shapes.inference import ShapeInference
from straightline.analysis.shapes.onnx_inference_cache import Memory


def test_copies_of_one_operator_have_sizes_of_their_own():
    model = ir.load(
        as_model("""<ir_version: 8, opset_import: ["" : 18]> g (bool[4] x, bool[4] w) => (y, z, u) {
               y = NonZero (x)  z = NonZero (w)  u = Add (y, y) }""")
    )
    first, second, _ = model.graph.nodes()
    second.graph.set_operator(second, first.op)
    inference = ShapeInference(model)
    one, other = [inference.fact(node.output()).shape for node in (first, second)]
    assert one is not None and other is not None
    assert one[0] == other[0] == 1
    assert one[1] != other[1]


def test_copies_that_omit_other_outputs():
    model = ir.load(
        as_model("""<ir_version: 8, opset_import: ["" : 18]> g (float[4] x) => (v, w)
               <int64[1] k = {2}> { v, i = TopK (x, k)  u, w = TopK (x, k) }""")
    )
    first, second = model.graph.nodes()
    second.graph.set_operator(second, first.op)
    inference = ShapeInference(model)
    types = [
        inference.fact(node.outputs[index]).elem_type for node, index in ((first, 0), (second, 1))
    ]
    assert types == [1, 7]


def asked(monkeypatch, body):
    """How often onnx is asked about the nodes of a model."""
    calls = []
    monkeypatch.setattr(onnx_inference_cache, "_ELEM_TYPES", {})
    ask = onnx.shape_inference.infer_node_outputs

    def counted(*args, **kwargs):
        calls.append(args[1].op_type)
        return ask(*args, **kwargs)

    monkeypatch.setattr(onnx.shape_inference, "infer_node_outputs", counted)
    shapes(f"g (float[N,3] x, float[N,4] z) => (y) {{ {body} }}")
    return calls


def test_onnx_is_asked_once_for_the_element_types_of_an_operator(monkeypatch):
    body = "a = Relu (x) b = Relu (z) c = Relu (a) d = Neg (x) y = Neg (d)"
    assert asked(monkeypatch, body) == ["Relu", "Neg"]


def test_models_share_element_types(monkeypatch):
    assert asked(monkeypatch, "a = Neg (x) y = Cast <to = 7> (a)") == ["Neg", "Cast"]
    shared = dict(onnx_inference_cache._ELEM_TYPES)
    assert sorted(shared.values()) == [(1,), (7,)]
    text = "g (float[N,3] x) => (y) { a = Cast <to = 6> (x) b = Cast <to = 7> (a) y = Neg (b) }"
    of = facts(text)
    assert (of["a"].elem_type, of["b"].elem_type, of["y"].elem_type) == (6, 7, 7)
    assert shared.items() <= onnx_inference_cache._ELEM_TYPES.items()


def test_onnx_is_asked_once_for_shapes_that_are_alike(monkeypatch):
    body = "a = Det (x) b = Det (x) c = Det (z)"
    # Element types once, shapes for each of two.
    assert asked(monkeypatch, body + " y = Det (x)") == ["Det"] * 3


def test_constants_that_tell_no_size_tell_nothing_apart(monkeypatch):
    weights = (
        "one = Constant <value_floats = [1.0, 2.0]> () two = Constant <value_floats = [3., 4.]> ()"
    )
    norm = "InstanceNormalization"
    body = f"{weights} a = {norm} (x, one, two) y = {norm} (x, two, one)"
    assert asked(monkeypatch, body).count(norm) <= 2  # element types and shapes


def test_attributes_tell_nodes_apart():
    text = "g (float[N] x) => (y) { a = Cast <to = 7> (x) y = Cast <to = 6> (x) }"
    assert facts(text)["a"].elem_type == onnx.TensorProto.INT64
    assert facts(text)["y"].elem_type == onnx.TensorProto.INT32


def test_constants_tell_nodes_apart():
    text = """g (float[1,1,2,2] x) => (a, y) <float[4] two = {1, 1, 2, 2}, float[4] three =
        {1, 1, 3, 3}> { a = Resize (x, , two) y = Resize (x, , three) }"""
    found = shapes(text)
    assert (found["a"], found["y"]) == (["1", "1", "4", "4"], ["1", "1", "6", "6"])


def test_the_cache_serves_another_inference(monkeypatch):
    text = """<ir_version: 8, opset_import: ["" : 18]> g (bool[4] x) => (y, z, u) {
        y = NonZero (x) z = Det (x) u = Add (y, y) }"""
    memory, models = Memory(), [ir.load(as_model(text)) for _ in range(2)]
    told = []
    for model in models:
        inference = ShapeInference(model, memory=memory)
        told.append([inference.fact(v) for v in model.graph.outputs])
        monkeypatch.setattr(onnx.shape_inference, "infer_node_outputs", None)  # asked no more
    one, other = told
    assert [f.elem_type for f in one] == [f.elem_type for f in other]
    assert [f.shape for f in one] == [f.shape for f in other]


def test_a_size_that_means_something_else_is_another_one_in_another_inference():
    """What a model calls "2*N" is no product in an inference that has not met one."""
    double = """<ir_version: 8, opset_import: ["" : 18]> g (float[N, 4] x) => (y) {
        y = Concat <axis = 0> (x, x) }"""
    named = """<ir_version: 8, opset_import: ["" : 18]> g (float["2*N", 4] x) => (y) {
        y = Concat <axis = 0> (x, x) }"""
    memory = Memory()
    first, second = [ir.load(as_model(text)) for text in (double, named)]
    (shape,) = [ShapeInference(first, memory=memory).fact(v).shape for v in first.graph.outputs]
    assert shape is not None and shape[0].terms == {("N",): 2}
    (x,) = second.graph.inputs
    shape = ShapeInference(second, memory=memory).fact(x).shape
    assert shape is not None and shape[0].terms == {("2*N",): 1}
