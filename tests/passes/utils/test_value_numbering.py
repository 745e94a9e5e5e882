import numpy as np
from straightline import ir
from straightline.analysis.constants.equal import KeyMemory
from straightline.ir import Tensor
from straightline.passes.utils.value_numbering import Calls, NodeKeys, identity_key, merge_constants


def graph_of_constants(*tensors):
    """A graph that adds up constants; and these."""
    model = ir.parse(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[N] x) => (float[N] y) { y = Neg (x) }'
    )
    graph = model.graph
    values = [graph.add_initializer(f"k{n}", tensor) for n, tensor in enumerate(tensors)]
    graph.add_node(ir.Operator("Sum"), values, ["s"])
    return graph, values


def test_small_ones_are_compared_and_large_ones_known_again():
    small = [Tensor(array=np.ones(3, np.float32)) for _ in range(2)]
    large = Tensor(array=np.ones(5000, np.float32))
    graph, values = graph_of_constants(*small, large, large)
    graph.add_initializer("unread", small[0])
    assert merge_constants(graph)
    assert list(graph.initializers) == [values[0], *values[2:]]
    assert merge_constants(graph, key_of=identity_key)
    assert list(graph.initializers) == [values[0], values[2]]
    (total,) = graph.nodes_of("Sum")
    assert list(total.inputs) == [values[0]] * 2 + [values[2]] * 2
    assert not merge_constants(graph, key_of=identity_key)


def test_some_are_not_looked_at():
    tensor = Tensor(array=np.ones(3, np.float32))
    graph, values = graph_of_constants(tensor, tensor)
    assert not merge_constants(graph, fixed=values[:1], key_of=identity_key)


def test_keys_of_nodes():
    graph = ir.parse("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[N] x, float[N] z) => (float[N] y) <float k = {1}, float l = {1}> {
            a = Add (x, k) b = Add (l, x) c = Clip (x, k) d = Clip (x, l, "")
            e = RandomNormalLike (x) y = Sum (a, b, c, d, e) }""").graph
    keys = NodeKeys(graph.root, Calls({}), KeyMemory())
    a, b, c, d, e, _ = (keys.of(node, {}) for node in graph.nodes())
    assert a == b != c == d
    assert e is None
    x, z = graph.inputs
    assert keys.number(z, {z: x}) is x
