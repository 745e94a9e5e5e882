import onnx
import pytest
from onnx import TensorProto, helper
from straightline.ir import ModelError
from straightline.ir.checker.calls import Calls
from straightline.ir.checker.graphs import GraphChecker
from straightline.ir.checker.schemas import Forms
from straightline.ir.message_contents import Types
from straightline.ir.places import Place


def checker(opset: int = 21) -> GraphChecker:
    return GraphChecker(Forms(opset), Calls([]), Types(), Place("g"))


def check(graph: onnx.GraphProto) -> None:
    checker().check(graph, Place(graph.name))


def graph(nodes: list[onnx.NodeProto], name: str = "g") -> onnx.GraphProto:
    return helper.make_graph(nodes, name, [], [])


def nested(depth: int, inner: onnx.NodeProto) -> onnx.GraphProto:
    held = graph([inner], "deepest")
    for level in range(depth):
        node = helper.make_node("If", ["c"], ["y"], f"n{level}", then_branch=held, else_branch=held)
        held = graph([node], f"g{level}")
    return held


def test_a_fault_is_found_at_every_depth() -> None:
    bad = helper.make_node("Add", ["a"], ["b"])
    with pytest.raises(ModelError, match=r"^Add 'b' has 1 inputs"):
        check(graph([bad]))
    with pytest.raises(ModelError, match=r"^Add 'n1/n0/b' has 1 inputs"):
        check(nested(2, bad))
    check(nested(3, helper.make_node("Neg", ["a"], ["b"])))


def test_no_file_nests_so_deep() -> None:
    outermost = inner = onnx.GraphProto(name="g")
    for level in range(101):
        node = inner.node.add(op_type="Holder", domain="own", name=f"n{level}")
        inner = node.attribute.add(name="body", type=onnx.AttributeProto.GRAPH).g
        inner.name = f"g{level}"
    with pytest.raises(ModelError, match="is nested more than 100 deep"):
        check(outermost)
    check(outermost.node[0].attribute[0].g)


def test_nodes_that_look_alike_are_checked_once_and_others_again() -> None:
    fine = [helper.make_node("Add", ["a", "b"], [f"c{i}"]) for i in range(3)]
    seen = checker()
    seen.check(graph(fine), Place("g"))
    assert len(seen.forms.valid) == 1
    for odd in (
        helper.make_node("Add", ["a", ""], ["d"]),
        helper.make_node("Add", ["a", "b"], ["", ""]),
        helper.make_node("Concat", ["a"], ["d"]),
    ):
        with pytest.raises(ModelError):
            check(graph([*fine, helper.make_node("Concat", ["a"], ["e"], axis=0), odd]))


def test_values_are_looked_at_each_time() -> None:
    good, bad = (
        helper.make_node("Cast", ["a"], [name], to=to) for name, to in (("b", 1), ("d", 99))
    )
    with pytest.raises(ModelError, match="Cast 'd' has 99 as its attribute 'to'"):
        check(graph([good, bad]))


def test_faults_of_declarations_and_tensors() -> None:
    whole = graph([])
    whole.value_info.append(helper.make_tensor_value_info("v", 99, [2]))
    with pytest.raises(ModelError, match="'v' of graph 'g' has the element type 99"):
        check(whole)
    whole = graph([])
    whole.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[-1])
    with pytest.raises(ModelError, match="initializer 'w' has a negative dimension"):
        check(whole)


def test_other_domains_are_only_walked_through() -> None:
    inner = helper.make_node("Add", ["a"], ["b"])
    holder = helper.make_node("Anything", [], ["y"], "h", domain="own", body=graph([inner]), to=99)
    with pytest.raises(ModelError, match="Add 'h/b'"):
        check(graph([holder]))
    with pytest.raises(ModelError, match="holds a node without an operator"):
        check(graph([onnx.NodeProto(output=["y"])]))


def test_a_function_has_a_name() -> None:
    function = helper.make_function(
        "own", "f", ["x"], ["y"], [helper.make_node("Add", ["x"], ["y"])], []
    )
    with pytest.raises(ModelError, match=r"^Add 'own::f/y' has 1 inputs"):
        checker().check_nodes(function.node, Place("f", "own"))
    function.name = ""
    with pytest.raises(ModelError, match="a function of domain 'own' has no name"):
        checker().check_function(function)


@pytest.mark.parametrize("depth", [0, 1, 3])
@pytest.mark.parametrize("domain", ["", "own"])
def test_no_node_outside_functions_takes_an_attribute_of_one(depth: int, domain: str) -> None:
    plain = helper.make_node("Softmax", ["a"], ["b"], domain=domain, axis=1)
    node = helper.make_node("Softmax", ["a"], ["c"], domain=domain, axis=1)
    node.attribute[0].ref_attr_name = "k"
    text = r"Softmax 'n.*c' takes its attribute 'axis' from 'k'" if depth else "Softmax 'c' takes"
    held = nested(depth, node)
    held.node.insert(0, plain)  # what looks alike was checked before
    with pytest.raises(ModelError, match=text):
        check(held)
