import sys

import onnx
import pytest
from harness import as_model
from straightline import ir
from straightline.ir import GraphError, Node, Template, Tensor
from straightline.ir.copy_plan import Block, parts_of, reader

TEXT = """g (float[2] x, int64 n) => (float[2] y) <float[2] k = {1, 2}, float low = {0}> {
    y = Loop (n, , x) <body = b (int64 i, bool c, float[2] s) => (bool c, float[2] t) {
        one = Add (s, x) two = Mul (one, one) three = Clip (two, , low)
        f = Cast <to = 1> (i) four = Add (three, f) five = Mul (four, k) t = Sub (five, one) }> }"""


def fold(node: Node, tensors: object) -> list[Tensor] | None:
    return [Tensor(array=NUMBERS[node.label])] if node.label in NUMBERS else None


NUMBERS = {"f": onnx.numpy_helper.to_array(onnx.helper.make_tensor("f", 1, [], [3.0]))}


@pytest.mark.parametrize("folds", [False, True])
def test_a_copy_equals_single_nodes(folds: bool, monkeypatch) -> None:
    def copied() -> ir.Model:
        model = ir.load(as_model(TEXT))
        (loop,), (state, _) = model.graph.nodes(), model.graph.inputs
        template = Template(
            loop.body("body"), model.graph, fold=fold if folds else None, keep_infos=False
        )
        number = model.graph.add_initializer("i", Tensor(array=NUMBERS["f"]))
        x = state
        for iteration in range(3):
            before = template.added
            _, state = template.step([number, number, state], f"_{iteration}")
            assert template.added == before + (6 if folds else 7)
        model.graph.set_outputs([state])
        model.graph.remove(loop)
        ir.verify(model)
        assert len(model.graph.users(x)) == 3
        return model

    together = copied()
    monkeypatch.setattr(sys.modules[Template.__module__], "parts_of", lambda steps, *_: steps)
    alone = copied()
    assert ir.to_proto(together) == ir.to_proto(alone)
    edges = [[(str(a), str(b)) for a, b in m.graph.view().edges] for m in (together, alone)]
    assert sorted(edges[0]) == sorted(edges[1])
    assert list(map(str, together.graph.view())) == list(map(str, alone.graph.view()))


def test_steps_that_constants_may_change_stay_apart() -> None:
    model = ir.load(as_model(TEXT))
    (loop,) = model.graph.nodes()
    steps = Template(loop.body("body"), model.graph, keep_infos=False)._steps

    def lengths(loose: set[int], folds: bool) -> list[int]:
        parts = parts_of(steps, set(steps[0].reads), loose, folds)
        return [len(part) if isinstance(part, Block) else 0 for part in parts]

    assert lengths(set(), False) == [7]
    assert lengths(set(), True) == [3, 0, 0, 2], "what is folded, and what reads it"
    assert lengths(set(steps[1].reads), False) == [7], "what is given is no longer loose"
    assert lengths({steps[0].reads[0]}, False) == [0, 6]


def test_nothing_is_added_that_reads_what_is_not_visible() -> None:
    model = ir.load(as_model(TEXT))
    (loop,) = model.graph.nodes()
    body = loop.body("body")
    block = Block(Template(body, model.graph)._steps[:1])
    with pytest.raises(GraphError, match="not visible"):
        model.graph.add_block(block, [body.nodes()[0].output()] * 2, "")
    assert len(model.graph) == 1
    ir.verify(model)


def test_values_of_one_node_and_wide_nodes() -> None:
    text = f"""g (float[N] x, int64 n) => (float[N] y) {{
        a, b = Split <axis = 0> (x)
        y = Loop (n, , a, b) <body = l (int64 i, bool c, float[M] s, float[M] t)
            => (bool c, float[M] u, float[M] v) {{
            k = Add (s, t) v = Add (k, k) o = Add (s, s)
            {" ".join(f"k{number} = Add (k, s)" for number in range(20))}
            u = Sum ({", ".join(f"k{number}" for number in range(20))}) }}> }}"""
    model = ir.load(as_model(text))
    graph = model.graph
    split, loop = graph.nodes()
    template = Template(loop.body("body"), graph, keep_infos=False)
    results = [graph.inputs[1], *split.outputs]
    for iteration in range(2):
        before = graph.changes
        results = template.step([graph.inputs[1], *results], f"_{iteration}")
        assert graph.changes > before
        ir.verify(model)
    added = {v.outputs[0].name: v for v in graph.nodes() if v.outputs[0]}
    view = graph.view()
    assert list(view.pred[added["k_0"]]) == [split], "once, although it reads two of its values"
    fed = [loop, *[added[f"{name}_0"] for name in ("k", "v", "o", *[f"k{n}" for n in range(20)])]]
    assert list(view.succ[split]) == [user for user in fed if user is not added["v_0"]]
    assert [len(view.pred[added[name]]) for name in ("u_0", "o_0", "v_1", "k_1")] == [20, 1, 1, 2]
    assert len(view.succ[added["k_0"]]) == 21


def test_a_reader() -> None:
    assert [reader(places)([5, 6, 7]) for places in ((), (1,), (2, 0))] == [(), (6,), (7, 5)]
