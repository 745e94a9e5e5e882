"""Sizes that run time tells, computed with."""

from case import INT, Case, loop, model, tensor
from onnx.helper import make_node


def product(size):
    """The product of so many symbolic sizes, each plus one: two to this power of terms."""
    nodes = [make_node("Shape", ["x"], ["sizes"])]
    nodes.append(make_node("Add", ["sizes", "one"], ["more"]))
    last = ""
    for k in range(size):
        nodes.append(make_node("Gather", ["more", f"at{k}"], [f"d{k}"], axis=0))
        nodes.append(make_node("Mul", [last, f"d{k}"], [f"p{k}"]) if last else nodes.pop())
        last = f"p{k}" if k else "d0"
    nodes.append(make_node("ConstantOfShape", [last], ["y"]))
    stored = [tensor("one", [1]), *(tensor(f"at{k}", [k]) for k in range(size))]
    return model(nodes, [("x", [f"s{k}" for k in range(size)])], [("y", ["n"])], stored)


def square(size):
    """A sum of three sizes that is squared again and again."""
    nodes = [
        make_node("Shape", ["x"], ["sizes"]),
        make_node("ReduceSum", ["sizes"], ["p0"], keepdims=1),
        *(make_node("Mul", [f"p{k}", f"p{k}"], [f"p{k + 1}"]) for k in range(size)),
        make_node("ConstantOfShape", [f"p{size}"], ["y"]),
    ]
    return model(nodes, [("x", ["a", "b", "c"])], [("y", ["n"])])


def grown(size):
    """A Loop whose every iteration multiplies by a size plus one."""
    nodes = [
        make_node("Shape", ["x"], ["sizes"]),
        make_node("Add", ["sizes", "one"], ["more"]),
        loop("n", [make_node("Mul", ["v", "v"], ["w"])], [("more", "v", "w", [3], INT)]),
        make_node("ReduceProd", ["w_out"], ["p"], keepdims=1),
        make_node("ConstantOfShape", ["p"], ["y"]),
    ]
    stored = [tensor("one", [1]), tensor("n", size)]
    return model(nodes, [("x", ["a", "b", "c"])], [("y", ["n"])], stored)


def kept(size):
    """A Reshape by such a product: what it multiplies is asked for by other analyses."""
    whole = product(size)
    whole.graph.node.append(make_node("Reshape", ["y", "flat"], ["z"]))
    whole.graph.initializer.append(tensor("flat", [-1, 1]))
    whole.graph.output[0].name = "z"
    del whole.graph.output[0].type.tensor_type.shape.dim[:]
    for name in ("n", "m"):
        whole.graph.output[0].type.tensor_type.shape.dim.add(dim_param=name)
    return whole


def joined(size):
    """A Concat with itself, again and again: a size of two to this power."""
    nodes = [
        make_node("Concat", [f"x{k}" if k else "x"] * 2, [f"x{k + 1}"], axis=0) for k in range(size)
    ]
    nodes.append(make_node("ReduceSum", [f"x{size}"], ["y"], keepdims=0))
    return model(nodes, [("x", ["a"])], [("y", [])])


CASES = [
    Case("product-of-sizes", product, 24, 24),
    Case("squared-sizes", square, 40, 40),
    Case("grown-sizes", grown, 40, 40),
    Case("reshaped-product", kept, 24, 24),
    Case("joined-sizes", joined, 60, 60),
]
