import pytest
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes.simplify.size_operands import set_constant_sizes

CASES = {
    ("N, S, 8", "N, S, 2, 4"): [0, 0, 2, 4],
    ("N, S, 8", "N, S, 2, -1"): [0, 0, 2, 4],
    ("N, S, 8", "N, -1, 8"): [0, 0, 8],
    ("N, S, 8", "4, -1"): [4, -1],
    ("N, 8, S", "N, S, 8"): None,
    ("N, 2, S", "S, 2, N"): None,
    ("N, S, 8", "S, N, 8"): None,
    ("N, 8", "N, 9"): None,
    ("N, 8", "N, 0"): [0, 8],
    ("N, 8", "8, N"): [8, -1],
}


def reshape(source, target):
    """A model that reshapes to sizes that it computes."""
    constants, nodes, parts = [], "", []
    for axis, dim in enumerate(source.split(", ")):
        if dim in "NS":
            constants.append(f"int64[1] axis{dim} = {{{axis}}}")
            nodes += f" {dim.lower()} = Gather (all, axis{dim})"
    for position, dim in enumerate(target.split(", ")):
        parts.append(dim.lower() if dim in "NS" else f"k{position}")
        if dim not in "NS":
            constants.append(f"int64[1] k{position} = {{{dim}}}")
    return ir.parse(f"""<ir_version: 8, opset_import: ["" : 17]> g (float[{source}] x) => (float y)
        <{", ".join(constants)}, int64[1] zero = {{0}}> {{ all = Shape (x) {nodes}
            t = Concat <axis = 0> ({", ".join(parts)}) y = Reshape (x, t) }}""")


@pytest.mark.parametrize(("source", "target"), CASES)
def test_reshape(source, target):
    model = reshape(source, target)
    (node,) = model.graph.nodes_of("Reshape")
    changed = set_constant_sizes(model.graph, node, ShapeInference(model))
    assert (node.inputs[1].constant.numpy().tolist() if changed else None) == CASES[source, target]


def test_allowzero_goes():
    model = ir.parse("""<ir_version: 8, opset_import: ["" : 17]> g (float[N, 4] x) => (float[M] y)
        <int64[1] minus = {-1}, int64 zero = {0}> { s = Shape (x) p = ReduceProd <keepdims = 1> (s)
            y = Reshape <allowzero = 1> (x, p) }""")
    (node,) = model.graph.nodes_of("Reshape")
    assert not set_constant_sizes(model.graph, node, ShapeInference(model))
