from collections.abc import Callable

import numpy as np
import onnx
import pytest
from straightline import ir
from straightline.ir import Annotation, Model, ModelError, Node, Tensor, Value, verify
from straightline.ir.node import write_inputs, write_outputs

TEXT = """<ir_version: 10, opset_import: ["": 21]>
main (bool c, float[3] x) => (float[3] y) <float[3] w = {1, 2, 3}> {
    a = Add(x, w)
    y = If (c) <
        then_branch = yes () => (float[3] p) { p = Relu(a) },
        else_branch = no () => (float[3] q) { q = Neg(a) } > }"""
Break = Callable[[Model], object]


def nodes(model: Model) -> tuple[Node, Node, Node]:
    """Add, If, and the Relu in its first branch."""
    add, holder = model.graph.nodes()
    return add, holder, holder.body("then_branch").nodes()[0]


def foreign_node(model: Model) -> None:
    nodes(model)[0].graph = nodes(model)[1].body("then_branch")


def foreign_output(model: Model) -> None:
    write_outputs(nodes(model)[0], (Value("a"),))


def foreign_body(model: Model) -> None:
    nodes(model)[1].body("then_branch").owner = nodes(model)[0]


def foreign_input(model: Model) -> None:
    model.graph.inputs[0].owner = None


def lacking_edge(model: Model) -> None:
    write_inputs(nodes(model)[0], (*model.graph.inputs, *nodes(model)[0].inputs))


def needless_edge(model: Model) -> None:
    write_inputs(nodes(model)[0], nodes(model)[0].inputs[:1])


def lacking_capture(model: Model) -> None:
    write_inputs(nodes(model)[2], model.graph.inputs[1:])


def unused_capture(model: Model) -> None:
    nodes(model)[1].body("then_branch")._capture(model.graph.inputs[1])


def invisible_value(model: Model) -> None:
    branch = nodes(model)[1].body("then_branch")
    other = ir.parse(TEXT).graph.inputs[1]
    branch._topology.insert(other)
    model.graph._topology.insert(other)
    branch._topology.connect(other, nodes(model)[2])
    model.graph._topology.connect(other, nodes(model)[1])
    write_inputs(nodes(model)[2], (nodes(model)[2].inputs[0], other))


def unknown_source(model: Model) -> None:
    model.graph._topology.insert(Value("stray", owner=model.graph))


def source_without_vertex(model: Model) -> None:
    model.graph._inputs.append(Value("stray", owner=model.graph))


def cycle(model: Model) -> None:
    add = nodes(model)[0]
    model.graph.set_input(add, 0, add.output())


def computed_constant(model: Model) -> None:
    nodes(model)[0].output().constant = Tensor(array=np.ones(1))


def constant_that_is_none(model: Model) -> None:
    next(iter(model.graph.initializers)).constant = None


def constant_that_can_be_overridden(model: Model) -> None:
    x = model.graph.inputs[1]
    model.graph.initializers[x] = x.constant = Tensor(array=np.ones(3, np.float32))


def outputs_without_declaration(model: Model) -> None:
    model.graph.output_infos = ()


def annotation_of_what_is_gone(model: Model) -> None:
    gone = model.graph.add_node(ir.Operator("Relu"), [model.graph.inputs[1]], ["r"])
    gone.output().pinned = True
    model.graph.annotations.append(Annotation(gone.output(), ()))
    gone.output().pinned = False
    model.graph.remove(gone)


def annotation_of_what_may_go(model: Model) -> None:
    model.graph.annotations.append(Annotation("a", (("SCALE", nodes(model)[0].output()),)))


def wrong_arity(model: Model) -> None:
    nodes(model)[1].body("then_branch").add_input("n")


BROKEN: dict[Break, str] = {
    foreign_node: "belongs to another graph",
    foreign_output: "value 'a' is wrongly|is not its|has a needless edge|lacks edge",
    foreign_body: "has another owner",
    foreign_input: "value 'c' is not its own",
    lacking_edge: "lacks edge from value 'c' to Add 'a'",
    needless_edge: "has a needless edge from value 'w' to Add 'a'",
    lacking_capture: "the topology",
    unused_capture: "the topology|captured value 'x' is not used",
    invisible_value: "value 'x' is not visible",
    unknown_source: "value 'stray' is neither input nor initializer",
    source_without_vertex: "value 'stray' is not in the topology",
    cycle: "cycle",
    computed_constant: "value 'a' is computed but marked constant",
    constant_that_is_none: "value 'w' is wrongly marked constant",
    constant_that_can_be_overridden: "value 'x' is wrongly marked constant",
    outputs_without_declaration: "outputs lack declarations",
    annotation_of_what_is_gone: "annotated value 'r' is gone",
    annotation_of_what_may_go: "annotated value 'a' is gone or free to go",
    wrong_arity: "its body has 1 inputs; the node feeds 0",
}


@pytest.mark.parametrize("change", BROKEN, ids=lambda change: change.__name__)
def test_a_broken_graph_is_found(change: Break) -> None:
    model = ir.parse(TEXT)
    verify(model)
    change(model)
    with pytest.raises(ModelError, match=BROKEN[change]):
        verify(model)


def test_functions_are_checked_too() -> None:
    model = ir.parse("""<ir_version: 10, opset_import: ["": 21, "own": 1]>
        main (float[3] x) => (float[3] y) { y = own.f(x) }
        <domain: "own", opset_import: ["": 21]> f (x) => (y) { y = Neg(x) }""")
    verify(model)
    (function,) = model.functions.values()
    function.graph.output_infos = (onnx.ValueInfoProto(),) * 2
    with pytest.raises(ModelError, match="graph 'f': outputs lack declarations"):
        verify(model)
