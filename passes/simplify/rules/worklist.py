"""Driver of rules: it visits the nodes of a model until no rule applies.

Matchers are indexed by the operator of the root and by one that produces an operand of it, so that
the number of rules hardly counts. Each replacement costs less than what it replaces, so the driver
ends.
"""

import functools
from collections import deque
from collections.abc import Callable, Sequence
from itertools import chain

from ....analysis.constants.folding import Folder
from ....analysis.shapes.inference import ShapeInference
from ....facts.types import FLOATS
from ....ir import Graph, Model, Node, Value
from ....ops.builder import Builder
from ....ops.operand_view import ValueOperand, may_hold_negative_zero
from ....ops.schema_queries import ElementTypes
from ...utils.zero_signs import divides_by, ignored_signs
from .integer_steps import rounds
from .matcher import Matcher, Scope
from .normal_form import NormalForms
from .reader_search import ReaderSearch
from .replacement import PatternReplacement
from .rule import Rule

ByOperand = dict[str, list[Matcher]]
"""Matchers of one root by an operator that produces an operand of it."""

Observer = Callable[[Rule, Node, str], None]

_MOST_USERS = 64
"""The most users of a value that are visited again after a change nearby."""


class Index:
    """Index of rules in an opset by the operator of the root; matchers are made on demand.

    Args:
        opset: the opset; rules that it does not allow are left out.
    """

    def __init__(self, rules: Sequence[Rule], opset: int) -> None:
        self._opset = opset
        self._rules = [
            rule
            for rule in rules
            if opset >= rule.since and (rule.until is None or opset < rule.until)
        ]
        self._matchers: dict[str, ByOperand | None] = {}

    def of(self, root: str) -> ByOperand | None:
        """The matchers of an operator by one that produces an operand; None without any."""
        try:
            return self._matchers[root]
        except KeyError:
            by_operand = self._matchers[root] = self._matchers_of(root)
            return by_operand

    def _matchers_of(self, root: str) -> ByOperand | None:
        """Read the rules whose texts name an operator, and make the matchers with this root."""
        patterns = [
            (rule, pattern)
            for rule in self._rules
            if any(root in text for text in rule.texts)
            for pattern in rule.patterns
            if pattern.root.op_type == root
        ]
        by_operand: ByOperand = {}
        for rule, pattern in patterns:
            matcher = Matcher(rule, pattern, self._opset)
            if matcher.is_usable:
                by_operand.setdefault(matcher.needs, []).append(matcher)
        return by_operand if patterns else None


@functools.lru_cache(64)
def index_of(rules: tuple[Rule, ...], opset: int) -> Index:
    """Index the rules that an opset allows."""
    return Index(rules, opset)


class Driver:
    """Driver of rules on one model.

    Args:
        model: the model, changed in place.
        rules: the rules, in the order in which they are tried.
        inference: the facts of values; kept up with replacements.
        observe: called with the rule, the root and its path before each replacement.
        assumed: inputs that count as constants, in the model of a proof.
        rounds: accept other roundings, and other signs of zeros where nothing divides by them.
        keeps_bits: accept no other signs of zeros.
    """

    def __init__(
        self,
        model: Model,
        rules: Sequence[Rule],
        inference: ShapeInference,
        observe: Observer,
        assumed: frozenset[Value] = frozenset(),
        rounds: bool = False,
        keeps_bits: bool = False,
    ) -> None:
        self.model = model
        self.rules = tuple(rules)
        self.inference = inference
        self.observe = observe
        self.assumed = assumed
        self.rounds = rounds
        self.keeps_bits = keeps_bits
        self._types = ElementTypes()
        self._ignored: set[Value] | None = None
        self._divisors: ReaderSearch | None = None
        self._rounded: ReaderSearch | None = None
        self._fold = Folder(model).fold
        self._forms: dict[int, NormalForms] = {}

    def run(self, repeats: bool = True) -> bool:
        """Apply the rules in every graph, and return whether the model changed.

        Args:
            repeats: visit all nodes again after a change, until none follows.
        """
        changed = False
        while sum(map(self._visit_graph, self.model.graphs())):
            changed = True
            if not repeats:
                break
        return changed

    def _visit_graph(self, graph: Graph) -> bool:
        opset = graph.root.opset()
        forms = self._forms.setdefault(opset, NormalForms(opset))
        index = index_of(self.rules, opset)
        if all(index.of(operator) is None for operator in graph.kinds()):
            return False
        self._ignored = None
        self._divisors = ReaderSearch(graph, divides_by)
        self._rounded = ReaderSearch(graph, lambda user, _: rounds(user, self.inference))
        scope = Scope(graph, self.inference, forms, self.assumed)
        emit = Builder(graph, self._fold)
        pending = deque(graph.nodes())
        queued, changed = set(pending), False
        while pending:
            node = pending.popleft()
            queued.discard(node)
            by_operand = index.of(node.op.qualname)
            # A replacement may have removed the node since it was queued.
            if not by_operand or node.graph is not graph:
                continue
            news = self._apply_first(scope, node, by_operand, emit)
            if news is not None:
                changed = True
                again = [one for one in _around(graph, news) if one not in queued]
                queued.update(again)
                pending.extend(again)
        return changed

    def _apply_first(
        self, scope: Scope, node: Node, by_operand: ByOperand, emit: Builder
    ) -> list[Node] | None:
        """Apply the first rule that matches and pays; return the nodes to visit again."""
        for matcher in _candidates(node, by_operand):
            for match in matcher.matches(scope, node):
                plan = PatternReplacement(matcher, match, scope)
                if plan.pays() and plan.is_possible() and self._keeps_values(plan):
                    # Before the replacement: the node still has a path, and
                    # the old values have readers.
                    self.observe(matcher.rule, node, node.path)
                    users = [
                        user
                        for old, _ in plan.outputs
                        for user in scope.graph.users(old)[:_MOST_USERS]
                        if isinstance(user, Node)
                    ]
                    return [*plan.apply(emit), *users]
        return None

    def _keeps_values(self, plan: PatternReplacement) -> bool:
        """Test that no reader tells the values of a rule from those before.

        It tells signs of zeros apart, or makes a step of another rounding.
        """
        exactness, graph = plan.matcher.rule.exactness, plan.scope.graph
        if exactness == "bits":
            if not self._may_lose_signs(plan):
                return True
            if self.keeps_bits:
                return False
        values = [old for old, _ in plan.outputs]
        assert self._divisors is not None and self._rounded is not None
        if exactness == "reals" and any(map(self._rounded.finds, values)):
            return False
        # 1 / 0.0 and 1 / -0.0 are different infinities, which no rounding excuses.
        if self.rounds or exactness == "reals":
            return not any(map(self._divisors.finds, values))
        if self._ignored is None:
            self._ignored = ignored_signs(graph)
        return self._ignored.issuperset(values)

    def _may_lose_signs(self, plan: PatternReplacement) -> bool:
        """Test for a choice of a value that may hold -0: onnxruntime's Where may lose its sign.

        It departs from the specification by order and shapes of the values (`ops.departures`).
        """
        rule = plan.matcher.rule
        if not any("Where" in text for text in (*rule.texts, rule.after)):
            return False
        values = [v for v in plan.match.values.values() if isinstance(v, Value)]
        if not any(self.inference.fact(v).elem_type in FLOATS for v in values):
            return False
        types = self._types
        return any(may_hold_negative_zero(ValueOperand(v, types)) for v in values)


def _candidates(node: Node, by_operand: ByOperand) -> Sequence[Matcher]:
    """The matchers for a node, by its operands."""
    matchers = by_operand.get("", [])
    if len(by_operand) == 1 and matchers:
        return matchers
    kinds: dict[str, None] = {}
    for value in node.inputs:
        if value is not None:
            if value.producer is not None and value.producer.op.qualname in by_operand:
                kinds[value.producer.op.qualname] = None
            if value.constant is not None and "constant" in by_operand:
                kinds["constant"] = None
    if not kinds:
        return matchers
    return [*matchers, *chain.from_iterable([by_operand[kind] for kind in kinds])]


def _around(graph: Graph, nodes: Sequence[Node]) -> list[Node]:
    """Some nodes of a graph, and their users in it."""
    around = dict.fromkeys(node for node in nodes if node.graph is graph)
    for node in list(around):
        for value in node.outputs:
            users = [] if value is None else graph.users(value)[:_MOST_USERS]
            around.update(dict.fromkeys(user for user in users if isinstance(user, Node)))
    return list(around)
