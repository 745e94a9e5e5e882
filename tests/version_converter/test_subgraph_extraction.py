import numpy as np
from harness import as_model, assert_same_text
from straightline import ir
from straightline.analysis.constants.folding import Folder
from straightline.passes.functions.calls import CallGraph
from straightline.version_converter.constants import Constants
from straightline.version_converter.subgraph_extraction import Cut
from straightline.version_converter.types import Types

TEXT = """g (float[N, 2] x, bool c) => (float[N, 2] y, float[N, 2] z) <float[2] w = {1, 2}> {
        s = Shape (x)
        a = Add (x, w)
        b = If (c) <
            then_branch = t () => (float[N, 2] p) { p = Mul (a, w) },
            else_branch = e () => (float[N, 2] q) { q = Reshape (a, s) }>
        y = Relu (b)
        z = Neg (a) }"""


def cut(model: ir.Model, *outputs: str) -> Cut:
    """The nodes that make some values, cut out of the main graph."""
    chosen = [n for n in model.graph.nodes() if n.outputs[0] and n.outputs[0].name in outputs]
    types = Types(model)
    return Cut(
        model,
        model.graph,
        chosen,
        types,
        Constants(types, Folder(model)),
        CallGraph(model.functions),
    )


def test_it_has_what_is_read_for_inputs_and_what_others_read_for_outputs() -> None:
    graph = ir.to_proto(cut(ir.load(as_model(TEXT)), "a", "b").scratch).graph
    assert [node.op_type for node in graph.node] == ["Add", "If"]
    assert [value.name for value in graph.input] == ["x", "c", "s"]
    assert [value.name for value in graph.output] == ["a", "b"]
    assert [tensor.name for tensor in graph.initializer] == ["w"]
    assert [
        dim.dim_value or dim.dim_param for dim in graph.input[2].type.tensor_type.shape.dim
    ] == [2]


def test_an_unchanged_subgraph_returns_as_it_was() -> None:
    model = ir.load(as_model(TEXT))
    cut(model, "a", "b").put_in_place()
    ir.verify(model)
    names = [node.outputs[0].name for node in model.graph.nodes() if node.outputs[0]]
    assert sorted(names) == ["a", "b", "s", "y", "z"]
    (held,) = ir.to_proto(model).graph.initializer
    assert held.name == "w", "the weights are not there twice"


def test_a_rewritten_subgraph_replaces_the_old_one() -> None:
    model = ir.load(as_model(TEXT))
    found = cut(model, "b")
    graph = found.scratch.graph
    (node,) = graph.nodes()
    (given,) = [value for value in graph.inputs if value.name == "a"]
    graph.replace_uses(node.output(), graph.add_node(ir.Operator("Sin"), [given], ["n"]).output())
    graph.remove(node)
    found.put_in_place()
    ir.verify(model)
    assert_same_text(
        ir.to_proto(model),
        """g (float[N, 2] x, bool c) => (float[N, 2] y, float[N, 2] z) <float[2] w = {1, 2}> {
            a = Add (x, w)
            n = Sin (a)
            y = Relu (n)
            z = Neg (a) }""",
    )


def test_a_constant_in_its_place() -> None:
    model = ir.load(as_model(TEXT))
    found = cut(model, "a")
    graph = found.scratch.graph
    (node,) = graph.nodes()
    held = graph.add_initializer("held", ir.Tensor(array=np.zeros((1, 2), np.float32)))
    graph.replace_uses(node.output(), held)
    graph.remove(node)
    found.put_in_place()
    ir.verify(model)
    assert "Identity" not in [node.op_type for node in model.graph.nodes()]


def test_pinned_values_must_stay() -> None:
    proto = as_model(TEXT)
    note = proto.graph.quantization_annotation.add(tensor_name="a")
    note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="w")
    model = ir.load(proto)
    assert cut(model, "a").obstacle() == "its output 'a' is named from outside the data flow"
    assert cut(model, "y").obstacle() is None
