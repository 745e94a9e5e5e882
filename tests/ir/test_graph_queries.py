import doctest

import onnx
import pytest
from nested import MODEL, RELU, SPLIT, node, value
from straightline import ir
from straightline.ir import Graph, Model, Node, Operator
from straightline.ir.graph_queries import GraphQueries


@pytest.fixture
def model() -> Model:
    return ir.parse(MODEL)


class TestQueries:
    def test_captures_are_uses_of_every_holder_around(self, model: Model) -> None:
        outer = node(model, "y")
        deep = node(model, "p").body("then_branch")
        a, w = value(model, "a"), value(model, "w")
        assert deep.captures() == [a, w]
        assert set(outer.body("then_branch").captures()) == {a, w, *model.graph.inputs[:1]} | {
            value(model, "b")
        }
        assert model.graph.users(a) == [node(model, "b"), outer]
        assert deep.users(a) == [node(model, "d")]

    def test_uses_lists_every_place_at_every_depth(self, model: Model) -> None:
        b = value(model, "b")
        places = [(use.user, use.position) for use in model.graph.uses(b)]
        assert set(places) == {(node(model, label), 0) for label in "eqz"}
        same = node(model, "p").body("else_branch")
        same.set_outputs([b])
        assert (same, 0) in [(use.user, use.position) for use in model.graph.uses(b)]
        assert model.graph.is_used(b)
        assert not model.graph.is_used(value(model, "unused"))

    def test_asking_changes_nothing(self, model: Model) -> None:
        branch = node(model, "y").body("else_branch")
        a = value(model, "a")
        assert not branch.is_used(a)
        assert branch.uses(a) == []
        ir.verify(model)
        assert model.graph.users(node(model, "d").output()) == []

    def test_users_of_one_output_among_several(self, model: Model) -> None:
        graph = model.graph
        split = graph.add_node(SPLIT, [graph.inputs[1]], ["s", "t"])
        s, t = split.outputs
        assert s is not None and t is not None
        user = graph.add_node(RELU, [t], ["r"])
        assert graph.users(s) == [] and graph.users(t) == [user]
        assert graph.is_needed(split) and not graph.is_needed(user)

    def test_sees(self, model: Model) -> None:
        deep = node(model, "p").body("then_branch")
        assert deep.sees(value(model, "w")) and deep.sees(value(model, "d"))
        assert not model.graph.sees(value(model, "d"))
        assert not node(model, "y").body("else_branch").sees(value(model, "p"))

    def test_view_cannot_be_changed(self, model: Model) -> None:
        with pytest.raises(Exception, match="Frozen"):
            model.graph.view().remove_node(model.graph.inputs[0])
        assert len(model.graph.view()) == 1 + len(model.graph) + 4

    def test_the_examples_of_the_view_run(self) -> None:
        tests = doctest.DocTestFinder().find(Graph.view, "view", globs={})
        results = [doctest.DocTestRunner().run(test) for test in tests]
        assert [result.failed for result in results] == [0]
        assert results[0].attempted >= 6

    def test_vertices_of_the_view(self, model: Model) -> None:
        graph, inner = model.graph, node(model, "y").body("then_branch")
        a, x = value(model, "a"), value(model, "x")
        assert graph.vertex(a) is a.producer and graph.vertex(x) is x
        assert inner.vertex(a) is a, "captured"
        assert all(v in graph.view() for v in (a.producer, x)) and a in inner.view()

    def test_nodes_come_in_an_order_that_stays(self, model: Model) -> None:
        graph = model.graph
        late = graph.add_node(RELU, [value(model, "w")], ["late"])
        graph.set_input(node(model, "b"), 0, late.output())
        assert [n.label for n in graph.nodes()] == ["a", "late", "b", "y", "z"]

    def test_the_nodes_are_the_callers_own_and_those_of_now(self, model: Model) -> None:
        graph = model.graph
        before = graph.nodes()
        before.reverse()
        assert graph.nodes() == before[::-1]
        graph.add_node(RELU, [value(model, "w")], ["late"])
        assert [n.label for n in graph.nodes()] == [n.label for n in before[::-1]] + ["late"]

    def test_long_chains_and_deep_nests(self) -> None:
        model = ir.parse(MODEL)
        graph, last = model.graph, value(model, "x")
        for _ in range(10_000):
            last = graph.add_node(RELU, [last], ["r"]).output()
        graph.set_outputs([last, last])
        assert len(graph.nodes()) == 10_000 + 5
        ir.to_proto(model)

    def test_nest_of_a_hundred_levels(self) -> None:
        model = ir.parse(MODEL)
        top = nest(model, 100)
        ir.verify(model)
        assert len(model.graph.uses(value(model, "x"))) == 2 + 100
        model.graph.replace_uses(value(model, "x"), value(model, "unused"))
        ir.verify(model)
        assert len(model.graph.uses(value(model, "unused"))) == 2 + 100
        assert ir.to_proto(model).graph.node[-1].op_type == "If"
        model.graph.remove(top)
        ir.verify(model)
        assert len(model.graph.uses(value(model, "unused"))) == 2


def nest(model: Model, depth: int) -> Node:
    """Ifs inside each other, with a node in each branch that uses an input of the model."""
    c, x = model.graph.inputs[:2]
    info = model.graph.output_infos[:1]
    graph = model.graph
    top = None
    for level in range(depth):
        holder = graph.add_node(Operator("If"), [c], [f"n{level}"])
        top = top or holder
        if graph is not model.graph:
            graph.set_outputs([holder.output()], info)
        other = graph.add_body(holder, "else_branch", onnx.GraphProto(name="other"))
        other.set_outputs([other.add_node(RELU, [x], ["e"]).output()], info)
        graph = graph.add_body(holder, "then_branch", onnx.GraphProto(name="then"))
    graph.set_outputs([graph.add_node(RELU, [c], ["e"]).output()], info)
    assert top is not None
    return top


def test_descendants_of_vertices():
    model = ir.parse("""<ir_version: 10, opset_import: ["": 21]>
        main (float[3] x, float[3] w) => (float[3] z) {
            a = Exp (x) b = Mul (a, w) c = Neg (w) z = Add (b, a) }""")
    graph = model.graph
    x, w = graph.inputs
    exp, mul, neg, add = graph.nodes()
    assert graph.dependents([]) == set()
    assert graph.dependents([neg]) == {neg}
    assert graph.dependents([w]) == {w, mul, neg, add, graph}
    assert graph.dependents([mul, x]) == {x, exp, mul, add, graph}
    assert graph.requirements([neg]) == {neg, w}
    assert graph.requirements([mul, neg]) == {mul, exp, neg, x, w}


def test_a_capture_does_not_look_at_all_nodes_of_the_graph_around(monkeypatch):
    model = ir.parse("""<ir_version: 10, opset_import: ["": 21]>
        main (bool c, float[3] x) => (float[3] z) {
            a = Exp (x)
            z = If (c) <then_branch = t () => (float[3] y) { y = Neg (x) },
                        else_branch = e () => (float[3] y) { y = Abs (x) }> }""")
    exp, holder = model.graph.nodes()

    def counted(graph):
        raise AssertionError(f"the nodes of {graph} are counted")

    monkeypatch.setattr(GraphQueries, "__len__", counted)
    branch = holder.body("then_branch")
    node = branch.add_node(RELU, [exp.output()], ["r"])
    assert node in branch.users(exp.output())


def test_nodes_by_operator_and_those_that_hold_graphs() -> None:
    """They follow every change, and are found without a walk over all nodes."""
    model = ir.parse("""<ir_version: 10, opset_import: ["": 21]>
        main (float[2] x, bool c) => (float[2] y) {
            a = Neg (x)
            b = If (c) <then_branch = t () => (p) { p = Neg (a) }, else_branch = e () => (q) {
                q = Abs (a) }>
            d = Neg (b)
            y = Add (d, a) }""")
    graph = model.graph
    first, held, last, add = graph.nodes()
    assert graph.nodes_of("Neg") == [first, last] and graph.nodes_of("Add", "If") == [held, add]
    assert graph.nodes_of("Loop") == [] and set(graph.kinds()) == {"Neg", "If", "Add"}
    assert graph.holders() == [held] and [g.name for g in graph.walk()][1:] == ["t", "e"]
    graph.set_operator(last, ir.Operator("Abs"))
    assert graph.nodes_of("Neg") == [first] and graph.nodes_of("Abs") == [last]
    assert graph.unneeded() == []
    graph.replace_uses(last.output(), first.output())
    assert graph.unneeded() == [last]
    graph.remove(last)
    assert graph.unneeded() == [held]
    graph.remove(held)
    assert graph.holders() == [] and graph.nodes_of("If", "Abs") == [] and len(graph) == 2
    ir.verify(model)


def test_operators_of_nodes_each_once() -> None:
    model = ir.parse(MODEL)
    nodes = list(model.graph.unordered_nodes())
    operators = model.graph.operators()
    assert len(operators) == len(set(operators)) == len({node.op for node in nodes})
    assert operators[0] is nodes[0].op


def test_users_of_each_output_of_a_wide_node() -> None:
    """Split with many outputs that as many nodes read, one of them in a branch."""
    count = 100
    model = ir.parse(
        '<ir_version: 10, opset_import: ["": 21]> main (float[2] x) => (float[2] x) {}'
    )
    graph = model.graph
    wide = graph.add_node(ir.Operator("Split"), graph.inputs, [f"o{k}" for k in range(count)])
    readers = [graph.add_node(ir.Operator("Neg"), [wide.output(k)], [f"n{k}"]) for k in range(99)]
    holder = graph.add_node(ir.Operator("If"), [wide.output(0)], ["h"])
    body = graph.add_body(holder, "then_branch", onnx.GraphProto(name="t"))
    inner = body.add_node(ir.Operator("Neg"), [wide.output(98)], ["i"])
    assert graph.users(wide.output(5)) == [readers[5]]
    assert graph.users(wide.output(0)) == [readers[0], holder]
    assert graph.users(wide.output(98)) == [readers[98], holder]
    assert not graph.is_used(wide.output(99)) and graph.is_used(wide.output(98))
    body.set_input(inner, 0, wide.output(99))
    assert graph.users(wide.output(98)) == [readers[98]] and graph.is_used(wide.output(99))
    graph.replace_all_uses({value: graph.inputs[0] for value in wide.outputs if value})
    assert all(reader.inputs == graph.inputs for reader in (*readers, inner))
    assert graph.unneeded()[0] is wide


def test_the_operators_of_a_graph_follow_its_changes() -> None:
    model = ir.parse("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2] x) => (float[2] y) { a = Neg (x) b = Neg (a) y = Abs (b) }""")
    graph = model.graph
    _, last, absolute = graph.nodes()
    assert set(graph.kinds()) == {"Neg", "Abs"} and graph.nodes_of("Exp", "Log") == []
    graph.set_operator(absolute, ir.Operator("Exp"))
    assert set(graph.kinds()) == {"Neg", "Exp"} and graph.nodes_of("Exp", "Abs") == [absolute]
    graph.replace_uses(last.output(), last.inputs[0])  # type: ignore[arg-type]
    graph.remove(last)
    assert set(graph.kinds()) == {"Neg", "Exp"} and len(graph.nodes_of("Neg")) == 1
