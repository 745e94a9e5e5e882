import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import AttributeProto, helper
from straightline.ir import ModelError, Operator
from straightline.ir.read_names import (
    free_names,
    in_order,
    named_tensors,
    named_tensors_of_training,
    nesting,
    put_in_order,
)

GRAPH = onnx.parser.parse_graph("""
    g (bool c, float[3] x) => (float[3] y, float[3] far) <float[3] w = {1, 2, 3}> {
        a = Add(x, outer)
        y = If (c) <
            then_branch = yes () => (float[3] p) { p = Add(a, deep) },
            else_branch = no () => (float[3] q) <float[3] w = {4, 5, 6}> { q = Add(w, x) } > }""")


def test_free_names() -> None:
    assert free_names(GRAPH) == {"outer", "deep", "far"}
    sparse = onnx.GraphProto(node=[helper.make_node("Neg", ["s"], ["t"])])
    assert free_names(sparse) == {"s"}
    sparse.sparse_initializer.add().values.name = "s"
    assert free_names(sparse) == set()


def test_nesting() -> None:
    assert nesting([]) == 0
    assert nesting(GRAPH.node) == 1
    holder = helper.make_node("Hold", [], [], body=GRAPH)
    assert nesting([*GRAPH.node, holder]) == 2


@given(st.permutations(range(8)), st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7))))
def test_any_order_is_put_right(places: list[int], edges: list[tuple[int, int]]) -> None:
    reads: dict[int, list[str]] = {index: [""] for index in range(8)}
    for source, user in edges:
        if source < user:
            reads[user].append(f"v{source}")
    nodes = [helper.make_node("F", reads[k], [f"v{k}", ""]) for k in places]
    right = all(
        places.index(source) < places.index(user) for source, user in edges if source < user
    )
    assert in_order(nodes) == right
    ordered = put_in_order(nodes, "here")
    assert in_order(ordered)
    assert sorted(n.output[0] for n in ordered) == sorted(n.output[0] for n in nodes)
    if right:
        assert ordered == nodes


def test_cycles_and_names_that_are_defined_twice() -> None:
    def node(reads: str, gives: str) -> onnx.NodeProto:
        return helper.make_node("F", list(reads), list(gives))

    for nodes, what in [
        ([node("b", "a"), node("a", "b")], "the nodes of here form a cycle"),
        ([node("a", "a")], "the nodes of here form a cycle through 'a'"),
        ([node("b", "a"), node("x", "b"), node("", "b")], "'b' is defined twice in here"),
        ([node("x", "x")], "'x' is defined twice in here"),
    ]:
        assert not in_order(nodes)
        with pytest.raises(ModelError, match=what):
            put_in_order(nodes, "here", {"x"})


GRADIENT = {"xs": ["a", "b"], "zs": ["c"], "y": "d"}


def test_gradient_names_its_tensors() -> None:
    for domain in ("ai.onnx.preview.training", "ai.onnx.training"):
        assert named_tensors(Operator.make("Gradient", domain, **GRADIENT)) == ["a", "b", "c", "d"]
    assert named_tensors(Operator.make("Gradient", "own", **GRADIENT)) == []
    message = AttributeProto(name="y", type=AttributeProto.STRING, ref_attr_name="y")
    assert named_tensors(Operator("Gradient", {"y": message}, "ai.onnx.training")) == []


def test_training_information_names_what_it_reads() -> None:
    branch = helper.make_graph([helper.make_node("Neg", ["deep"], ["n"])], "b", [], [])
    nodes = [
        helper.make_node("Add", ["w", "loss"], ["step"]),
        helper.make_node("If", ["step"], ["e"], then_branch=branch, else_branch=branch),
        helper.make_node("Gradient", [], ["g"], "n", None, "ai.onnx.training", **GRADIENT),
    ]
    info = onnx.TrainingInfoProto(algorithm=helper.make_graph(nodes, "train", [], []))
    info.update_binding.add(key="weights", value="step")
    info.initialization_binding.add(key="first", value="second")
    names = set(named_tensors_of_training([info]))
    assert names - {"", "step"} == {
        *("w", "loss", "deep", "weights", "first", "second"),
        *("a", "b", "c", "d"),
    }
