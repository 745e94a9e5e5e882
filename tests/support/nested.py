"""A model whose bodies capture what is around them, at two depths."""

from straightline.ir import Model, Node, Operator, Value

ADD, RELU = Operator("Add"), Operator("Relu")
SPLIT = Operator("Split")
MODEL = """<ir_version: 10, opset_import: ["": 21]>
main (bool c, float[3] x, float[3] unused) => (float[3] y, float[3] z) <float[3] w = {1, 2, 3}> {
    a = Add(x, w)
    b = Relu(a)
    y = If (c) <
        then_branch = yes () => (float[3] p) {
            p = If (c) <
                then_branch = deep () => (float[3] d) { d = Add(a, w) },
                else_branch = same () => (float[3] e) { e = Identity(b) } >
        },
        else_branch = no () => (float[3] q) { q = Mul(b, x) } >
    z = Neg(b) }"""


def value(model: Model, name: str) -> Value:
    """The value of a name."""
    for graph in model.graphs():
        nodes = graph.nodes()
        for v in (*graph.inputs, *graph.initializers, *(v for n in nodes for v in n.outputs)):
            if v is not None and v.name == name:
                return v
    raise LookupError(name)


def node(model: Model, output: str) -> Node:
    """The node that computes it."""
    producer = value(model, output).producer
    assert producer is not None
    return producer
