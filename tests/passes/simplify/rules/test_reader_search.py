import pytest
from straightline import ir
from straightline.passes.simplify.rules.reader_search import ReaderSearch
from tables import table


def search(nodes):
    head = '<ir_version: 8, opset_import: ["" : 17]> g (float[3] x) => (float[3] y)'
    graph, seen = ir.parse(f"{head} {{ {nodes} }}").graph, []

    def reading(user, value):
        seen.append((user, value))
        return True if user.op_type == "Exp" else False if user.op_type == "Shape" else None

    return ReaderSearch(graph, reading), graph, seen


@table(
    ("y = Exp (x)", True),
    ("y = Neg (x)", False),
    ("a = Neg (x) y = Exp (a)", True),
    ("a = Abs (x) b = Neg (x) c = Exp (b) y = Add (a, c)", True),
    ("s = Shape (x) c = Cast <to = 1> (s) e = Exp (c) y = Add (x, e)", False),
    ("y = If (z) <then_branch = t () => (u) { u = Exp (x) }, else_branch = e () => (v) {"
     " v = Neg (x) }>", False))  # fmt: skip
def test_readers_of_a_value(nodes, found):
    if "(z)" in nodes:
        nodes = f"m = ReduceMax <keepdims = 0> (x) z = Cast <to = 9> (m) {nodes}"
    searched, graph, _ = search(nodes)
    assert searched.finds(graph.inputs[0]) == found


@pytest.mark.parametrize("last", ["Exp", "Neg"])
def test_each_reader_is_looked_at_twice_at_most(last):
    nodes, before = "", "x"
    for k in range(300):
        nodes += f"v{k} = Add ({before}, {before}) "
        before = f"v{k}"
    searched, graph, seen = search(f"{nodes} y = {last} ({before})")
    assert [searched.finds(node.output()) for node in graph.nodes()[:-1]] == [last == "Exp"] * 300
    assert searched.finds(graph.inputs[0]) == (last == "Exp")
    assert len(seen) <= 4 * 301
