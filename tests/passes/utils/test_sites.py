import dataclasses
from typing import ClassVar

import pytest
from harness import HEAD, as_model
from straightline import ir
from straightline.facts.obstacle import Obstacle
from straightline.facts.reason import Message
from straightline.ops.batching import Unbatchable
from straightline.ops.builder import RewriteError
from straightline.passes.base import PassContext
from straightline.passes.iteration.loop_view import read, read_replaceable
from straightline.passes.utils.sites import SitePass, Visits

TEXT = """g (float[N, M] x, float s) => (float y, float z) {
    y = Scan <num_scan_inputs = 1, body = b (float a, float[M] e) => (float r) {
        r = Scan <num_scan_inputs = 1, body = h (float f, float u) => (float v) {
            v = Add (f, u) }> (a, e) }> (s, x)
    z = Scan <num_scan_inputs = 1, body = k (float a, float[M] e) => (float r) {
        q = ReduceMax <keepdims = 0> (e) r = Add (a, q) }> (s, x) }"""


@dataclasses.dataclass(frozen=True)
class Named(SitePass):
    """Name the bodies of Scans, but those called k."""

    name: ClassVar[str] = "named"
    sites: ClassVar[tuple[str, ...]] = ("Scan",)

    def visit(self, site):
        name = read_replaceable(site.node).body.name
        assert site.node.graph is site.graph and site.inference is not None
        if name == "k":
            raise Obstacle("it is called k")
        site.rewritten(f"was {name}, {'certain' if site.is_certain else 'perhaps'}")


def run(kind, text=HEAD + TEXT):
    model, context = ir.load(as_model(text)), PassContext()
    changed = kind().run(model, context)
    return changed, [(one.path, one.action, one.reason) for one in context.remarks]


def test_each_is_rewritten_or_kept_inner_ones_first():
    assert run(Named) == (
        True,
        [
            ("y/r", "rewritten", "was h, perhaps"),
            ("y", "rewritten", "was b, perhaps"),
            ("z", "kept", "it is called k"),
        ],
    )


def test_other_nodes_are_kept_with_their_reason():
    old = """g (float[1, N] x) => (float[1, N] z) {
        z = Scan <num_scan_inputs = 1, body = b (float e) => (float r) { r = Neg (e) }> (, x) }"""
    changed, [(_, action, reason)] = run(Named, HEAD.replace('"" : 17', '"" : 8') + old)
    assert not changed and action == "kept" and "opset 8" in reason


class Countdown(Named):
    """Rewrite each Scan as often as its body has inputs."""

    repeats: ClassVar[bool] = True
    left: ClassVar[dict] = {}

    def visit(self, site):
        if site.node.is_op("Scan") and self.left.setdefault(site.path, len(site.node.inputs)):
            self.left[site.path] -= 1
            site.rewritten("once more")


def test_a_site_is_visited_until_nothing_is_left_to_do():
    Countdown.left.clear()
    changed, remarks = run(Countdown)
    assert changed and [path for path, *_ in remarks] == ["y/r", "y/r", "y", "y", "z", "z"]


class Endless(Countdown):
    """Rewrite without end."""

    def visit(self, site):
        site.rewritten("again")


def test_rewrites_without_end_are_noted():
    changed, remarks = run(Endless)
    assert changed
    assert [path for path, action, _ in remarks if action == "noted"] == ["y/r", "y", "z"]


class Predicate(Named):
    """Raise what a scratch graph cannot hold."""

    predicate: ClassVar[Message] = Message("test-predicate", "this {cause}")

    def visit(self, site):
        raise Unbatchable("is too wide")


def test_a_site_predicate_sees_the_whole_graph():
    changed, remarks = run(Predicate)
    assert not changed and {reason for *_, reason in remarks} == {"this is too wide"}


def test_a_fault_of_a_pass_without_a_scratch_graph_is_no_obstacle():
    class Unplanned(Named):
        def visit(self, site):
            raise RewriteError("needs a Where")

    with pytest.raises(RewriteError):
        run(Unplanned)


class Twice(Named):
    """Visit all sites twice."""

    def visit(self, site):
        site.visits.revisits |= not site.visits.rewrites
        site.rewritten("visited") if site.path == "y" else site.kept("stays")


def test_all_sites_are_visited_again_where_there_are_new_ones():
    changed, remarks = run(Twice)
    assert changed and [path for path, *_ in remarks] == ["y", "y/r", "y", "z"]


def test_sites_for_later_are_visited_unless_they_are_gone():
    class Last(Named):
        def visit(self, site):
            if site in site.visits.later:
                site.noted("at last")
            else:
                site.visits.later.append(site)
                if site.path == "y":
                    site.graph.supersede(site.node.output(), site.graph.inputs[1])
                    site.graph.remove(site.node)

    model, context = ir.load(as_model(TEXT)), PassContext()
    assert not Visits(Last(), model, context).run()
    assert [remark.path for remark in context.remarks] == ["z"]


def test_a_new_site_is_visited():
    class Fresh(Named):
        def visit(self, site):
            body = read(site.node).body
            site.noted(body.name)
            if body.name == "b":
                site.visit_new(node for node in site.graph.nodes() if node is not site.node)

    assert [reason for *_, reason in run(Fresh)[1]] == ["h", "b", "k", "k"]


def test_a_site_holds_operators_in_a_body_of_its_own():
    class Holds(Named):
        def visit(self, site):
            if site.holds("ReduceMax", "Exp"):
                site.rewritten("holds")

    assert run(Holds)[1] == [("z", "rewritten", "holds")]
