import dataclasses
from typing import ClassVar

import numpy as np
from harness import as_model, assert_equal_outputs, op_types
from straightline import ir
from straightline.passes import FoldShapes, Pass, PassContext, Pipeline, parse_pipeline, straighten
from straightline.passes.utils.fixpoint import OperatorKinds, rewrite_model
from texts import LOOP_THEN_IF as TEXT


@dataclasses.dataclass(frozen=True)
class Recording(Pass):
    """Records that it ran; changes what it is told to, once for each time."""

    name: ClassVar[str] = "recording"
    label: str = ""
    times: int = 0
    log: list[str] = dataclasses.field(default_factory=list, compare=False)

    def run(self, model, context):
        self.log.append(self.label)
        return self.log.count(self.label) <= self.times


@dataclasses.dataclass(frozen=True)
class Cleaning(Recording):
    """The same, of a kind that gives no other pass new work."""

    name: ClassVar[str] = "cleaning"
    cleans_up: ClassVar[bool] = True


def test_once_in_the_given_order():
    log = []
    passes = [Recording("a", 1, log), Cleaning("b", 1, log), Recording("a", 1, log)]
    result = Pipeline(passes).run(as_model(TEXT))
    assert log == ["a", "b", "a"]
    assert result.changed


def test_repeated_until_nothing_changes():
    log = []
    result = Pipeline([Recording("a", 2, log), Recording("b", 0, log)], repeat=True).run(
        as_model(TEXT)
    )
    assert log == ["a", "b", "a", "b", "a"]
    assert result.changed


@dataclasses.dataclass(frozen=True)
class Turning(Pass):
    """Replaces one operator by another one."""

    name: ClassVar[str] = "turning"
    old: str = "Relu"
    new: str = "Abs"
    log: list[str] = dataclasses.field(default_factory=list, compare=False)

    def run(self, model, context):
        self.log.append(self.new)
        for node in model.graph.nodes_of(self.old):
            made = model.graph.add_node(ir.Operator(self.new), node.inputs, ["a name"])
            model.graph.supersede(node.output(), made.output())
            model.graph.remove(node)
            return True
        return False


def test_passes_that_undo_each_other_end():
    log = []
    passes = [Turning("Relu", "Abs", log), Turning("Abs", "Relu", log)]
    text = "g (float[2] x) => (float[2] y) { y = Relu (x) }"
    result = Pipeline(passes, repeat=True).run(as_model(text))
    assert len(log) < 12
    assert "as it was some rounds before" in result.remarks[-1].reason


def test_passes_that_go_on_changing_something_are_not_taken_for_such():
    many = "".join(f"v{i + 1} = Relu (v{i}) " for i in range(9))
    text = f"g (float[2] v0) => (float[2] v9) {{ {many} }}"
    result = Pipeline([Turning()], repeat=True).run(as_model(text), verify=False)
    assert op_types(result.model) == ["Abs"] * 9
    assert not result.remarks


def test_cleanup_makes_no_work_for_other_passes():
    log = []
    Pipeline([Recording("a", 0, log), Cleaning("b", 1, log)], repeat=True).run(as_model(TEXT))
    assert log == ["a", "b"]


def test_each_pass_is_timed():
    result = straighten().run(as_model(TEXT))
    names = [timing.pass_name for timing in result.timings]
    assert names == [pass_.name for pass_ in straighten().passes]
    assert all(timing.seconds >= 0 for timing in result.timings)


def test_a_nested_repetition_is_one_of_the_passes():
    text = TEXT.replace("bool q", "bool r").replace("If (q)", "If (yes)")
    text = text.replace("<int64 n = {2}>", "<int64 n = {2}, bool yes = {1}>")
    result = parse_pipeline("straighten,eliminate-dead-nodes").run(as_model(text))
    assert op_types(result.model) == ["Neg"] * 3
    assert {r.op_type for r in result.remarks if r.action == "rewritten"} >= {"Loop", "If"}
    names = [timing.pass_name for timing in result.timings]
    assert {"unroll-loops", "inline-ifs", "eliminate-dead-nodes"} <= set(names)


def test_times_are_those_that_were_spent():
    (timing,) = Pipeline([Recording("a", 3, [])], repeat=True).run(as_model(TEXT)).timings
    assert 0 <= timing.seconds < 0.9, "it does nothing but count"


def test_remarks_on_what_is_gone_are_dropped():
    text = TEXT.replace("y = If (q)", "unused = If (q)").replace("y)", "z)", 1)
    context = PassContext()
    assert rewrite_model(straighten().passes, ir.load(as_model(text)), context, repeat=True)
    assert [r.op_type for r in context.remarks if r.action == "kept"] == []


def test_declarations_are_set_right_only_where_something_changed():
    text = """g (float[2] x) => (float[2] y) <float[3] z> { z = Neg (x) y = Neg (z) }"""
    model = ir.load(as_model(text))
    assert not rewrite_model([Recording("a", 0, [])], model, PassContext(), repeat=True)
    assert model.graph.nodes()[0].output().shape == (3,)
    assert rewrite_model([Recording("a", 1, [])], model, PassContext(), repeat=True)
    assert model.graph.nodes()[0].output().shape == (2,)


@dataclasses.dataclass(frozen=True)
class Asking(Recording):
    """Records what it is told of the values of the model."""

    def run(self, model, context):
        self.log.append(context.inference(model))
        return len(self.log) <= self.times


def test_passes_share_what_is_known_until_one_changes_something():
    log = []
    passes = [Asking("a", 0, log), Asking("b", 2, log), Asking("c", 0, log)]
    context = PassContext()
    rewrite_model(passes, ir.load(as_model(TEXT)), context, repeat=False)
    assert log[0] is log[1] and log[1] is not log[2]
    assert context.inference(ir.load(as_model(TEXT))) is not log[2]  # of another model


class Replacing(Asking):
    """Replaces values by equal ones only."""

    keeps_facts = True


def test_facts_survive_replacements_by_equal_values():
    log = []
    passes = [Asking("a", 0, log), Replacing("b", 2, log), Asking("c", 3, log), Asking("d", 0, log)]
    context = PassContext()
    rewrite_model(passes, ir.load(as_model(TEXT)), context, repeat=False)
    assert log[0] is log[1] is log[2] is not log[3]


def test_facts_of_a_pass_serve_later_passes():
    log = []
    context, model = PassContext(), ir.load(as_model(TEXT))
    rewrite_model([FoldShapes(), Asking("a", 0, log), FoldShapes()], model, context, repeat=False)
    assert context.inference(model) is log[0]
    own = context.analyses.new_inference(model)
    context.analyses.share(own)
    assert context.inference(model) is log[0] is not own
    context.analyses.invalidate()
    context.analyses.share(own)
    assert context.inference(model) is own


def test_shapes_are_declared_only_where_a_shape_was_asked_for():
    text = """g (float[N, 4] x) => (int64[2] y, int64 z) <int64 one = {1}> {
        a = Neg (x) b = Exp (x) c = Shape (b) y = Neg (c) d = Gather (c, one) z = Neg (d) }"""
    context, model = PassContext(), ir.load(as_model(text))
    for node in model.graph.nodes():  # what was asked for by others is no business of the pass
        context.inference(model).fact(node.output())
    FoldShapes().run(model, context)
    assert [v.name for v in model.graph.value_infos if isinstance(v, ir.Value)] == ["b", "c"]


EARLY_STOP = """g (float[2] x, int64 n) => (float[2] y)
    <int64 zero = {0}, int64 one = {1}, int64 five = {5}, bool yes = {1}, float lots = {9.0}> {
        y, last = Loop (, yes, x, zero) <body = b (int64 i, bool c, float[2] a, int64 j)
                                             => (bool go, float[2] r, int64 k) {
            top = ReduceMax <keepdims = 0> (a)
            small = Less (top, lots)
            r = If (small) <then_branch = t () => (float[2] u) { u = Add (a, x) },
                            else_branch = e () => (float[2] v) { v = Mul (a, x) }>
            k = Add (j, one)
            inside = Less (k, five)
            go = And (small, inside) }> }"""


def test_selects_is_the_whole_recipe():
    """An If in a loop that data ends: neither pass does by itself, in the wrong order neither."""
    kept = parse_pipeline("straighten").run(as_model(EARLY_STOP))
    assert any(node.op_type == "Loop" for node in kept.model.graph.node)
    result = parse_pipeline("selects").run(as_model(EARLY_STOP))
    assert {node.op_type for node in result.model.graph.node}.isdisjoint({"Loop", "If"})
    for value in (-1.0, 0.5, 2.0, 4.0, 10.0, np.nan):
        feeds = {"x": np.array([value, 1], np.float32), "n": np.array(3)}
        assert_equal_outputs(EARLY_STOP, result.model, feeds)


def test_selects_leaves_what_cannot_run_when_it_is_not_taken():
    failing = EARLY_STOP.replace("v = Mul (a, x)", "w = Reshape (a, s) v = Identity (w)")
    failing = failing.replace("int64 n)", "int64 n, int64[1] s)")
    result = parse_pipeline("selects").run(as_model(failing))
    assert any("cannot run when it is not taken" in remark.reason for remark in result.kept)


def test_options_reach_all_passes_of_selects():
    result = parse_pipeline("selects", max_trips=4).run(as_model(EARLY_STOP))
    assert any("max_trips=4" in remark.reason for remark in result.kept)


def test_a_pass_runs_only_where_there_are_operators_that_it_is_for():
    class Looking(Recording):
        works_on = frozenset({"Relu"})

    log = []
    model = ir.load(as_model(TEXT))
    assert OperatorKinds(model).include_work_of(Looking()), "one is in a branch"
    rewrite_model(
        [Looking("a", 0, log), Recording("b", 0, log)], model, PassContext(), repeat=False
    )
    without = ir.load(as_model(TEXT.replace("Relu", "Exp")))
    held = OperatorKinds(without)
    assert not held.include_work_of(Looking()) and held.include_work_of(Recording())
    rewrite_model(
        [Looking("c", 1, log), Recording("d", 0, log)], without, PassContext(), repeat=True
    )
    assert log == ["a", "b", "d"]


def test_a_pass_does_not_run_once_the_others_have_left_nothing_that_it_is_for():
    text = TEXT.replace("bool q", "bool r").replace("If (q)", "If (yes)")
    text = text.replace("<int64 n = {2}>", "<int64 n = {2}, bool yes = {0}>")
    log = []

    class Looking(Recording):
        works_on = frozenset({"Loop"})

    passes = [Looking("a", 0, log), *straighten().passes, Looking("b", 0, log)]
    rewrite_model(passes, ir.load(as_model(text)), PassContext(), repeat=True)
    assert log == ["a"], "no Loop is left behind the others"
