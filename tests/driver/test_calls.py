import dataclasses
import inspect
import typing

from straightline import ir, passes
from straightline.driver import calls, option_fields
from straightline.driver.options import RewriteOptions
from straightline.options.table import KEYWORDS, OPTIONS, options_of
from straightline.passes.control.unroll_loops import UnrollLoops
from straightline.passes.manager.autotune import Accelerate
from straightline.passes.manager.registry import PASSES
from tables import table


def options_of_passes():
    """Each option that a caller may give, with its types."""
    types = {}
    for kind in (*PASSES, Accelerate):
        hints = typing.get_type_hints(kind)
        for field in dataclasses.fields(kind):
            if not field.metadata.get("code_only"):
                types.setdefault(field.name, set()).add(hints[field.name])
    return types


def test_options_are_those_of_the_passes():
    typed = typing.get_type_hints(option_fields.PassOptions)
    assert {name: {hint} for name, hint in typed.items()} == options_of_passes()


@table(
    (calls.rewrite, option_fields.RewriteKeywords),
    (calls.transform, option_fields.TransformKeywords),
    (calls.convert_version, option_fields.ConvertKeywords),
)
def test_keywords_are_those_of_the_calls(call, typed):
    parameters = inspect.signature(call).parameters.values()
    own = {p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
    assert own == {option.name for option in options_of(call.__name__)}
    written = {name: typed.__annotations__[name].__forward_arg__ for name in own}
    assert written == {name: call.__annotations__[name] for name in own}
    takes_options = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    of_passes = set(option_fields.PassOptions.__annotations__) if takes_options else set()
    assert set(typed.__annotations__) == own | of_passes


def test_every_option_of_the_table_is_a_field_or_an_option_of_passes():
    fields = {field.name for field in dataclasses.fields(RewriteOptions)} - {"pass_options"}
    of_a_call = {"verify", "unproved", "on_progress"}
    assert {option.name for option in OPTIONS if option.type} - of_a_call == fields
    others = {option.name for option in OPTIONS if not option.type and not option.of}
    assert others <= set(option_fields.PassOptions.__annotations__)
    assert {*KEYWORDS, "passes"} == fields | of_a_call


UNROLLED = """
    <ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) <int64 n = {200}> {
        y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {
            d = Identity (c) e = Add (a, a) }> }"""


class KeepNodes(passes.Pass):
    """Pass of another package that keeps nodes."""

    name = "keep-nodes"
    kept: typing.ClassVar[list[ir.Node]] = []

    def run(self, model, context):
        self.kept[:] = model.graph.nodes()
        return False


def test_the_nodes_of_a_result_are_freed_at_once(monkeypatch):
    released = []
    monkeypatch.setattr(calls, "current_watcher", lambda: None)  # this folder has one
    monkeypatch.setattr(ir.Model, "release", lambda model: released.append(len(model.graph)))
    calls.rewrite(ir.to_proto(ir.parse(UNROLLED)), "unroll-loops")
    assert released == [200]


def test_nodes_that_another_package_keeps_stay_whole():
    proto = ir.to_proto(ir.parse(UNROLLED))
    calls.rewrite(proto, [UnrollLoops(), KeepNodes()])
    node = KeepNodes.kept[-1]
    assert len(KeepNodes.kept) == 200 and node.graph.nodes() == KeepNodes.kept
    assert node.inputs[0].producer is KeepNodes.kept[-2]


class KeepModels:
    """Watcher that keeps models."""

    def __init__(self):
        self.kept = []

    def before(self, pass_, model):
        """Keep nothing."""

    def after(self, pass_, model, changed):
        self.kept.append(model)


def test_a_model_that_a_watcher_keeps_stays_whole():
    watcher = KeepModels()
    with passes.watching(watcher):
        calls.rewrite(ir.to_proto(ir.parse(UNROLLED)), "unroll-loops")
    assert len(watcher.kept[-1].graph) == 200


def test_a_result_in_the_kind_of_the_ir_stays_whole():
    assert len(calls.rewrite(ir.parse(UNROLLED)).graph.nodes()) == 200
