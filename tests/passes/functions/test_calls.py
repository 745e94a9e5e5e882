import onnx
import pytest
from counting import assert_linear
from harness import as_model
from onnx import helper
from straightline import ir
from straightline.passes.functions.calls import CallGraph, count_control_flow, live_functions


def loaded(main, *functions):
    head = '<ir_version: 10, opset_import: ["" : 18, "local" : 1]>\n'
    local = '\n<domain: "local", opset_import: ["" : 18, "local" : 1]>\n'
    return ir.load(as_model(head + main + "".join(local + text for text in functions)))


def calling(**callees):
    """Functions that call others, by their names; loading would refuse circles."""
    texts = [f"{name} (a) => (r) {{ r = Neg (a) }}" for name in callees]
    model = loaded("g (x) => (y) { y = Neg (x) }", *texts)
    functions = {name: model.functions["local", name, ""] for name in callees}
    for name, others in callees.items():
        graph = functions[name].graph
        for other in others.split():
            domain = "" if other == "If" else "local"
            graph.add_node(ir.Operator(other, domain=domain), [graph.inputs[0]], ["u"])
    return CallGraph(model.functions), functions


def named(functions, chosen):
    return [name for name, function in functions.items() if chosen(function)]


def test_circles_and_what_leads_into_one():
    calls, functions = calling(a="b", b="c", c="b d", d="", e="e", f="d", g="f e")
    assert named(functions, calls.is_recursive) == ["a", "b", "c", "e", "g"]
    order = [function.header.name for function in calls.callees_first()]
    assert order == ["d", "f", "a", "b", "c", "e", "g"]
    key = functions["c"].key
    assert {name for _, name, _ in calls.reachable([key])} == {"b", "c", "d"}


def test_control_flow_counts_for_all_that_lead_to_it():
    calls, functions = calling(a="b c", b="d", c="", d="If", e="a a")
    assert named(functions, calls.holds_control_flow) == ["a", "b", "d", "e"]
    assert not named(functions, calls.is_recursive)
    order = [function.header.name for function in calls.callees_first()]
    assert order.index("d") < order.index("b") < order.index("a") < order.index("e")
    assert sorted(order) == sorted(functions)


def test_a_long_chain_of_calls_takes_work_as_its_length():
    """The functions that each one reaches are not listed."""

    def work(size):
        calls = {f"f{k}": f"f{k + 1}" for k in range(size - 1)} | {f"f{size - 1}": "If"}
        _, functions = calling(**calls)
        keyed = {function.key: function for function in functions.values()}

        def run():
            graph = CallGraph(keyed)
            assert graph.callees_first()[0] is functions[f"f{size - 1}"]
            assert len(named(functions, graph.holds_control_flow)) == size

        return run

    assert_linear(work, 200, 8)


def test_calls_in_bodies_count():
    loop = "r = Loop (n, , a) <body = b (int64 i, bool c, s) => (bool c, t) { t = %s (s) }>"
    model = loaded(
        "g (x) => (y) { y = local.outer (x) }",
        f"outer (a) => (r) {{ n = Constant <value_int = 2> () {loop % 'local.inner'} }}",
        "inner (a) => (r) { r = Neg (a) }",
        "alone (a) => (r) { r = local.outer (a) }",
    )
    calls = CallGraph(model.functions)
    keys = {name: ("local", name, "") for name in ("outer", "inner", "alone")}
    outer, inner, alone = (model.functions[key] for key in keys.values())
    assert calls.reachable_from(model.graph) == {keys["outer"], keys["inner"]}
    assert live_functions(model) == {keys["outer"], keys["inner"]}
    assert [calls.holds_control_flow(f) for f in (outer, inner, alone)] == [True, False, True]
    assert not any(map(calls.is_recursive, (outer, inner, alone)))
    order = calls.callees_first()
    assert order.index(inner) < order.index(outer) < order.index(alone)
    assert [f for _, f in calls.leading_to_control_flow(model.graph)] == [outer]
    assert calls.leading_to_control_flow(outer.graph) == []
    assert count_control_flow(outer.graph) == 1


@pytest.mark.parametrize("op_type", ["If", "Loop", "Scan", "SequenceMap"])
def test_every_kind_of_control_flow_counts(op_type):
    model = loaded("g (x) => (y) { y = Neg (x) }")
    model.graph.add_node(ir.Operator(op_type), [model.graph.inputs[0]], ["z"])
    model.graph.add_node(ir.Operator(op_type, domain="own"), [model.graph.inputs[0]], ["w"])
    assert count_control_flow(model.graph) == 1


def test_functions_of_training_are_alive():
    neg = "f (a) => (r) { r = Neg (a) }"
    model = loaded(
        "g (x) => (y) { y = Neg (x) }", neg, neg.replace("f (", "h ("), neg.replace("f (", "k (")
    )
    inner = helper.make_graph([helper.make_node("h", [], [], domain="local")], "inner", [], [])
    holding = helper.make_node("If", [], [], then_branch=inner)
    info = onnx.TrainingInfoProto()
    info.algorithm.node.append(helper.make_node("f", [], [], domain="local"))
    info.initialization.node.append(holding)
    model.training_info.append(info)
    assert live_functions(model) == {("local", "f", ""), ("local", "h", "")}


def test_calls_are_counted_without_being_walked():
    doubled = {f"f{k}": f"f{k - 1} f{k - 1}" for k in range(1, 100)}
    calls, functions = calling(**{"f0": "If", **doubled, "once": "f3", "plain": ""})
    # Each has a Neg of its own.
    assert calls.expanded_size(functions["f3"]) == 2 + 3 + 2 * (3 + 2 * (3 + 2 * 2)) - 2
    assert calls.expanded_size(functions["f99"]) > 2**100
    assert calls.repeats_itself(functions["f99"]) and not calls.repeats_itself(functions["f1"])
    assert not calls.repeats_itself(functions["plain"])
