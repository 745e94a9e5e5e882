from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from harness import as_model
from straightline import ir
from straightline.ir import Graph, GraphError, Model, Node, Template, Tensor, Value

LOOP = """<ir_version: 10, opset_import: ["": 21]>
main (float[3] x, bool c) => (float[3] y) <int64 M = {3}, float[3] k = {1, 1, 1}> {
    y = Loop (M, , x) <
        body = body (int64 i, bool go, float[3] state) => (bool more, float[3] next)
            <float[3] w = {1, 2, 3}> {
            more = Identity(go)
            fixed = Neg(k)
            both = Add(fixed, w)
            sum = Add(state, both)
            next = If (c) <
                then_branch = yes () => (float[3] p) <float[3] v = {7, 8, 9}> {
                    s = Add(sum, v)
                    p = Mul(s, both)
                },
                else_branch = no () => (float[3] q) { q = Sub(sum, x) } > } > }"""


def parse(text: str = LOOP) -> tuple[Model, Node, Graph]:
    model = ir.parse(text)
    (loop,) = model.graph.nodes()
    return model, loop, loop.body("body")


def iterations(model: Model, body: Graph, count: int, template: Template) -> Value:
    graph = model.graph
    index, state = graph.add_initializer("i", Tensor(array=np.int64(0))), graph.inputs[0]
    for iteration in range(count):
        _, state = template.instantiate([index, graph.inputs[1], state], f"_{iteration}")
    return state


def unrolled(text: str = LOOP, **options: object) -> tuple[Model, Template]:
    model, loop, body = parse(text)
    template = Template(body, model.graph, **options)  # type: ignore[arg-type]
    model.graph.set_outputs([iterations(model, body, 3, template)])
    model.graph.remove(loop)
    ir.verify(model)
    onnx.checker.check_model(ir.to_proto(model), full_check=True)
    return model, template


def add(node: Node, tensors: Sequence[Tensor | None]) -> list[Tensor] | None:
    """Folds Add and Neg, as a pass would."""
    arrays = [t.numpy() for t in tensors if t is not None]
    if node.op_type == "Add":
        return [Tensor(array=arrays[0] + arrays[1])]
    return [Tensor(array=-arrays[0])] if node.op_type == "Neg" else None


class TestCopies:
    def test_invariant_nodes_are_copied_once(self) -> None:
        model, template = unrolled()
        counts = [n.op_type for n in model.graph.nodes()]
        assert counts.count("Neg") == 1, "a node of captured values alone"
        assert counts.count("If") == 3
        assert template.added == len(counts) == 2 + 3 * 3
        assert template.cost(3) == 2 + 3 * (3 + 3)
        assert [n.op_type for n in template.holders] == ["If"] * 3

    def test_tensors_and_operators_are_shared(self) -> None:
        model, _loop, body = parse()
        (tensor,) = body.initializers.values()
        template = Template(body, model.graph)
        iterations(model, body, 2, template)
        assert len([v for v, t in model.graph.initializers.items() if t is tensor]) == 1
        branches = [n.body("then_branch") for n in template.holders]
        first, second = (next(iter(b.initializers.values())) for b in branches)
        assert first is second
        assert branches[0].nodes()[0].op is branches[1].nodes()[0].op

    def test_captures_of_nested_bodies_follow_the_copy(self) -> None:
        model, template = unrolled()
        sums = [n for n in model.graph.nodes() if n.label.startswith("sum")]
        for node, holder in zip(sums, template.holders, strict=True):
            captured = holder.body("then_branch").captures()
            assert node.output() in captured
            assert all(v.graph is model.graph for v in captured)

    def test_folding_on_the_way(self) -> None:
        model, _template = unrolled(fold=add)
        assert "Neg" not in [n.op_type for n in model.graph.nodes()]
        folded = {v.name: t.numpy().tolist() for v, t in model.graph.initializers.items()}
        assert folded["both"] == [0, 1, 2]

    def test_constants_that_are_one_are_placed_once(self) -> None:
        text = """g (float[2] x, int64 n) => (float[2] y, float[2] z) {
            y, z = Loop (n, , x, x) <body = b (int64 i, bool c, float[2] s, float[2] t)
                => (bool c, float[2] u, float[2] v) { v = Cast <to = 1> (i) u = Mul (s, v) }> }"""
        model = ir.load(as_model(text))
        (loop,) = model.graph.nodes()
        body, same = loop.body("body"), Tensor(array=np.ones(2, np.float32))
        template = Template(
            body, model.graph, fold=lambda node, _: [same] if node.is_op("Cast") else None
        )
        (x, n), last = model.graph.inputs, []
        number = model.graph.add_initializer("i", Tensor(array=np.array(0)))
        state, other = x, x
        for iteration in range(4):
            _, state, other = template.step([number, n, state, other], f"_{iteration}")
            last.append(other)
        # One that is given out as well is a value of its own.
        model.graph.set_outputs([state, template.place(other)])
        model.graph.remove(loop)
        ir.verify(model)
        placed = [v for v, t in model.graph.initializers.items() if t is same]
        assert placed == [last[0], last[3]]
        read = {node.inputs[1] for node in model.graph.nodes() if node.is_op("Mul")}
        assert read == {last[0]}

    def test_constants_that_are_one_stay_so_for_every_copy(self) -> None:
        text = """g (float[2] x, int64 n) => (float[2] y) <float[2] k = {1, 2}> {
            y = Loop (n, , x) <body = b (int64 i, bool c, float[2] s) => (bool c, float[2] t) {
                k1 = Neg (k) k2 = Neg (k) u = Add (x, k1) v = Add (x, k2)
                w = Mul (s, k2) z = Mul (u, v) t = Add (w, z) }> }"""
        model = ir.load(as_model(text))
        (loop,) = model.graph.nodes()
        same = Tensor(array=np.array([-1, -2], np.float32))
        fold = lambda node, _: [same] if node.is_op("Neg") else None  # noqa: E731
        template = Template(loop.body("body"), model.graph, fold=fold)
        model.graph.set_outputs([iterations(model, loop.body("body"), 3, template)])
        model.graph.remove(loop)
        ir.verify(model)
        assert [v.name for v, t in model.graph.initializers.items() if t is same] == ["k1"]

    def test_the_branch_of_a_constant_condition_is_copied_at_once(self) -> None:
        text = LOOP.replace("(float[3] x, bool c)", "(float[3] x)")
        text = text.replace("<int64 M = {3},", "<bool c = {1}, int64 M = {3},")
        model, loop, body = parse(text)
        template = Template(body, model.graph)
        graph, state = model.graph, model.graph.inputs[0]
        known = [v for v in graph.initializers if v.name in ("M", "c")]
        for iteration in range(3):
            _, state = template.instantiate([*reversed(known), state], f"_{iteration}")
        graph.set_outputs([state])
        graph.remove(loop)
        ir.verify(model)
        assert "If" not in [n.op_type for n in graph.nodes()]
        assert [v.name for v in graph.initializers].count("v") == 1

    def test_declared_types_are_kept_where_they_hold(self) -> None:
        info = onnx.helper.make_tensor_value_info("sum", onnx.TensorProto.FLOAT, [3, "N"])
        for keep in (True, False):
            model, loop, body = parse()
            next(n for n in body.nodes() if n.label == "sum").output().info = info
            state = iterations(model, body, 2, Template(body, model.graph, keep_infos=keep))
            sums = [n.output() for n in model.graph.nodes() if n.label.startswith("sum")]
            assert [v.info is info for v in sums] == [keep] * 2
            # A body captures it, so its numbers stay; the symbol may be another size in each copy.
            assert [v.shape for v in sums] == [(3, "N") if keep else (3, None)] * 2
            model.graph.set_outputs([state])
            model.graph.remove(loop)
            assert {"sum_0", "sum_1"} <= {info.name for info in ir.to_proto(model).graph.value_info}

    def test_a_declaration_for_one_iteration_is_dropped(self) -> None:
        model, _loop, body = parse()
        assert body.outputs[1].shape == (3,)
        state = iterations(model, body, 2, Template(body, model.graph, keep_infos=False))
        assert state.info is None

    def test_bodies_whose_outputs_are_inputs_constants_or_outer_values(self) -> None:
        model, _loop, body = parse()
        outer = next(v for v in model.graph.initializers if v.name == "k")
        (constant,) = body.initializers
        infos = [onnx.ValueInfoProto(name=f"o{k}") for k in range(4)]
        body.set_outputs([body.inputs[2], body.inputs[2], constant, outer], infos)
        a, b, c, d = Template(body, model.graph).instantiate([outer, outer, model.graph.inputs[0]])
        assert a is b is model.graph.inputs[0]
        assert c in model.graph.initializers and c is not constant
        assert d is outer

    def test_wrong_number_of_arguments(self) -> None:
        model, _loop, body = parse()
        with pytest.raises(GraphError, match="takes 3 inputs, not 1"):
            Template(body, model.graph).instantiate([model.graph.inputs[0]])

    def test_the_body_is_not_changed(self) -> None:
        model, _loop, body = parse()
        before = [(node, node.inputs, node.outputs) for node in body.nodes()]
        limit = next(v for v in model.graph.initializers if v.name == "M")
        ir.instantiate(body, model.graph, [limit, *model.graph.inputs[::-1]])
        assert [(node, node.inputs, node.outputs) for node in body.nodes()] == before
        ir.verify(model)


class TestAnnotations:
    def annotated(self) -> onnx.ModelProto:
        proto = onnx.parser.parse_model(LOOP)
        body = proto.graph.node[0].attribute[0].g
        for name in ("w", "sum", "state", "nothing"):
            entry = body.quantization_annotation.add(tensor_name=name)
            entry.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="k")
        return proto

    def test_those_of_what_varies_are_copied_each_time_others_once(self) -> None:
        model = ir.load(self.annotated())
        (loop,) = model.graph.nodes()
        body = loop.body("body")
        model.graph.set_outputs([iterations(model, body, 3, Template(body, model.graph, fold=add))])
        model.graph.remove(loop)
        ir.verify(model)
        names = [a.tensor_name for a in ir.to_proto(model).graph.quantization_annotation]
        assert names.count("w") == names.count("nothing") == 1
        assert [n for n in names if n.startswith("sum")] == ["sum_0", "sum_1", "sum_2"]
        assert len(names) == 2 + 3 * 2

    def test_annotated_values_are_neither_folded_nor_removed(self) -> None:
        model = ir.load(self.annotated())
        (loop,) = model.graph.nodes()
        template = Template(loop.body("body"), model.graph, fold=add)
        (constant,) = [v for v in model.graph.initializers if v.name == "k"]
        template.instantiate([constant, constant, constant])
        total = next(n for n in model.graph.nodes() if n.label == "sum")
        assert total.output().pinned, "though both its inputs are constants"
        assert constant.pinned, "the annotated state"
        model.graph.remove(template.holders[0])
        with pytest.raises(GraphError, match="named from outside"):
            model.graph.remove(total)
