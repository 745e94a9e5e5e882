import dataclasses
from typing import ClassVar

import onnx
import pytest
from harness import as_model
from straightline import ir
from straightline.limits import governed
from straightline.passes import FoldConstants, Pipeline, RewriteError
from straightline.passes.base import Pass, PassContext
from straightline.passes.cleanup import fold_shapes
from straightline.passes.functions.inline_functions import InlineFunctions
from straightline.passes.functions.trial import InliningTrials
from straightline.passes.manager.registry import DEFAULT_PASSES
from straightline.passes.utils.budget import Budget

HEAD = '<ir_version: 10, opset_import: ["" : 18, "local" : 1]>\n'
RUN = PassContext(default_passes=DEFAULT_PASSES)
LOCAL = '\n<domain: "local", opset_import: ["" : 18, "local" : 1]>\n'

CHOOSE = """choose (a, c) => (r) {
    b = Not (c)
    d = Not (b)
    e = Not (d)
    r = If (e) <then_branch = t () => (p) { p = Exp (a) },
                else_branch = f () => (q) { q = Abs (a) }> }"""


def verdicts(main, *functions, max_nodes=10_000, signature="float[2] x, bool c", constants=""):
    """Why each call of the main graph would be kept; None where it resolves something."""
    texts = "".join(LOCAL + text for text in functions)
    model = ir.load(as_model(f"{HEAD} g ({signature}) => (y) <{constants}> {{ {main} }}{texts}"))
    before = ir.to_proto(model).SerializeToString(deterministic=True)
    trials = InliningTrials(
        model,
        InlineFunctions().passes_of_trial(RUN),
        Budget(RUN.meter, max_nodes),
        RUN.analyses.memory,
    )
    found = {}
    for node in model.graph.nodes():
        function = model.functions.get(node.op.function_key)
        if function is not None:
            found[node.output().name] = trials.reason_to_keep(node, function)
    assert ir.to_proto(model).SerializeToString(deterministic=True) == before
    return found


def test_attributes_decide_each_call_by_itself():
    along = """along <axis> (a) => (r) {
        s = Shape (a)
        k = Constant <value_int: int = @axis> ()
        n = Gather (s, k)
        r = Loop (n, , a) <body = b (int64 i, bool c, p) => (bool c, q) { q = Neg (p) }>
    }"""
    found = verdicts(
        "u = local.along <axis = 1> (x) v = local.along <axis = 0> (x) y = Add (u, v)",
        along,
        signature="float[3, N] x",
    )
    assert found["v"] is None
    assert "inlining it would not resolve Loop" in found["u"]
    assert "the shape of input 'x'" in found["u"]


def test_constants_decide_each_call_by_itself():
    main = "u = local.choose (x, c) v = local.choose (x, yes) w = local.choose (x, no)"
    found = verdicts(f"{main} y = Sum (u, v, w)", CHOOSE, constants="bool yes = {1}, bool no = {0}")
    assert (found["v"], found["w"]) == (None, None)
    assert found["u"] is not None


def test_shapes_decide_each_call_by_itself():
    sized = """sized (a, n) => (r) {
        s = Shape (a)
        l = Loop (s, , a) <body = b (int64 i, bool c, p) => (bool c, q) { q = Neg (p) }>
        r = Identity (l) }"""
    found = verdicts(
        "u = local.sized (x, x) v = local.sized (z, z) y = Add (u, v)",
        sized,
        signature="float[3] x, float[N] z",
    )
    assert found["u"] is None
    assert "the shape of input 'z'" in found["v"]


OUTER = """outer (a, c) => (r) { b = Not (c) u = local.choose (a, b) r = Neg (u) }"""


def test_functions_that_are_called_inside_are_tried_too():
    found = verdicts(
        "u = local.outer (x, yes) v = local.outer (x, c) y = Add (u, v)",
        OUTER,
        CHOOSE,
        constants="bool yes = {1}",
    )
    assert found["u"] is None
    assert found["v"] is not None


def test_a_trial_has_a_budget():
    main, constants = "y = local.outer (x, yes)", "bool yes = {1}"
    for most, resolves in ((2, False), (8, False), (9, True)):
        found = verdicts(main, OUTER, CHOOSE, max_nodes=most, constants=constants)
        assert (found["y"] is None) == resolves, most
        assert resolves or f"more nodes than max_nodes={most} allows" in found["y"]


def test_all_trials_of_a_run_share_it():
    main = "u = local.outer (x, yes) v = local.outer (x, no) y = Add (u, v)"
    constants = "bool yes = {1}, bool no = {0}"
    found = verdicts(main, OUTER, CHOOSE, max_nodes=17, constants=constants)
    assert found["u"] is None and "inlining calls on trial needs more nodes" in found["v"]
    assert not any(verdicts(main, OUTER, CHOOSE, max_nodes=18, constants=constants).values())


def doubling(levels):
    """Functions that each call the one before twice."""
    yield f"f0 {CHOOSE.removeprefix('choose')}"
    for level in range(1, levels):
        call = f"local.f{level - 1}"
        yield f"f{level} (a, c) => (r) {{ u = {call} (a, c) r = {call} (u, c) }}"


@pytest.mark.parametrize("levels", [6, 30, 80])
def test_functions_that_call_another_twice_are_tried_once_each(levels):
    """The last one would be as many copies as 2 to the power of the levels."""
    text = "".join(LOCAL + function for function in doubling(levels))
    signature = "g (float[2] x, bool c) => (float[2] y)"
    main = f"{HEAD} {signature} {{ y = local.f{levels - 1} (x, c) }}{text}"
    # onnx's checker would follow every copy.
    result = Pipeline([InlineFunctions(max_nodes=500)]).run(onnx.parser.parse_model(main))
    assert not result.changed
    assert len(result.kept) == 2 * levels - 1
    assert all("would not resolve If" in remark.reason for remark in result.kept)


@dataclasses.dataclass(frozen=True)
class Counting(Pass):
    """Counts the graphs that passes go through, and what it infers of their outputs."""

    name: ClassVar[str] = "counting"
    graphs: list[ir.Graph] = dataclasses.field(default_factory=list, compare=False)

    def run(self, model, context):
        inference = context.inference(model)
        for value in model.graph.outputs:
            inference.fact(value)
        self.graphs.extend(model.graphs())
        return False


def counted(levels):
    """How many graphs trials go through, and how much they infer, where functions call the one
    before twice."""
    text = "".join(LOCAL + function for function in doubling(levels))
    signature = "g (float[2] x, bool c) => (float[2] y)"
    main = f"{HEAD} {signature} {{ y = local.f{levels - 1} (x, c) }}{text}"
    model, counting = ir.load(onnx.parser.parse_model(main)), Counting()
    with governed() as governor:
        InlineFunctions(trial=(FoldConstants(), counting)).run(model, PassContext())
        return len(counting.graphs), governor.inferred


def test_a_trial_goes_through_what_it_made_alone():
    """Functions are as passes leave them, and what their calls give out is known."""
    once, twice = counted(20), counted(40)
    assert twice[0] < 2.2 * once[0]
    assert twice[1] < 2.2 * once[1]


def test_the_reason_comes_from_inner_calls():
    """A call is tried one level at a time; the reason lies some levels further inside."""
    found = verdicts("y = local.f5 (x, c)", *doubling(6))
    assert "would not resolve If 'local::f0/r' in it" in found["y"]


def test_only_an_input_of_the_model_is_asked_for():
    assert "decide it with" in verdicts("n = Not (c) y = local.choose (x, c)", CHOOSE)["y"]
    inside = f"inner (a, c) => (r) {{ r = local.choose (a, c) }}{LOCAL}{CHOOSE}"
    model = ir.load(
        as_model(
            f"{HEAD} g (float[2] x, bool c) => (y) {{ y = local.inner (x, c) }}{LOCAL}{inside}"
        )
    )
    trials = InliningTrials(
        model, InlineFunctions().passes_of_trial(RUN), Budget(RUN.meter, 100), RUN.analyses.memory
    )
    (call,) = model.functions["local", "inner", ""].graph.nodes()
    reason = trials.reason_to_keep(call, model.functions["local", "choose", ""])
    assert "would not resolve If" in reason and "decide it with" not in reason


def test_a_decision_inside_a_function_does_not_count():
    own = """own (a) => (r) {
        yes = Constant <value = bool {1}> ()
        r = If (yes) <then_branch = t () => (p) { p = Exp (a) },
                      else_branch = e () => (q) { q = Abs (a) }> }"""
    assert (
        verdicts("y = local.own (x)", own)["y"] == "inlining it would resolve no control flow in it"
    )


def test_a_pass_that_is_given_nothing_to_try_says_so():
    text = f"{HEAD} g (float[2] x, bool c) => (y) {{ y = local.choose (x, c) }}{LOCAL}{CHOOSE}"
    with pytest.raises(RewriteError, match="run it in a Pipeline, or pass the passes to try"):
        InlineFunctions().run(ir.load(as_model(text)), PassContext())
    assert not InlineFunctions(trial=(FoldConstants(),)).run(ir.load(as_model(text)), PassContext())


def test_functions_that_do_not_change_are_searched_once(monkeypatch):
    asked = []
    search = fold_shapes._search_asking

    def counted(model):
        asked.append(model.settled)
        return search(model)

    monkeypatch.setattr(fold_shapes, "_search_asking", counted)
    first = """f0 (x) => (y) {
        n = Shape (x)
        m = Reshape (x, n)
        s = ReduceSum <keepdims = 0> (m)
        b = Cast <to = 9> (s)
        y = If (b) <then_branch = t () => (u) { u = Neg (x) },
                    else_branch = e () => (v) { v = Abs (x) }> }"""
    twice = "f{} (x) => (y) {{ a = local.f{} (x) y = local.f{} (a) }}"
    more = [twice.format(number, number - 1, number - 1) for number in range(1, 10)]
    verdicts("y = local.f9 (x)", first, *more, signature="float[2] x")
    assert asked.count(True) == 1, "although each of the calls is tried"
