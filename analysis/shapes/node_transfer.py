"""What single nodes give out, from what is known about their inputs.

The rules in `ops/` say what most operators do with shapes and with small integers, in a few
microseconds; onnx says the element types, and all that the rules leave open.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ...facts.fact import UNKNOWN, Content, Fact, Shape, Symbols
from ...facts.polynomial import Dimension
from ...facts.polynomial_size_limit import MOST_FACTORS, MOST_TERMS, times_shortened
from ...ir import Node, Operator, Value, normal_domain
from ...limits import current
from ...ops import rules_of
from ...ops.outputs import content_of, shapes_of, with_counts
from .onnx_inference_cache import Kind, Memory, OnnxFacts

_LARGEST = (1 << 63) - 1

_SHORTENED = (
    f"takes more terms than size_terms={MOST_TERMS} (or factors than size_factors={MOST_FACTORS})"
    " allows; give sizes as numbers with --shape or --dim"
)

_MOST_SHARED = 16
"""Elements that are compared to find out whether two facts are the same: those of a shape."""


class NodeFacts:
    """Infers nodes one by one; those that are alike and are given the same facts, once.

    Args:
        symbols: the symbols of the facts.
        asked: asks onnx.
        memory: what is known of nodes.
    """

    def __init__(self, symbols: Symbols, asked: OnnxFacts, memory: Memory | None = None) -> None:
        self._symbols = symbols
        self._asked = asked
        memory = Memory() if memory is None else memory
        self._facts = memory.facts
        self._by_rule = memory.by_rule
        self._by_onnx: dict[Hashable, list[Fact]] = {}

    def of(self, node: Node, inputs: Sequence[Fact], op: Operator) -> list[Fact]:
        """What a node gives out that is not If, Loop or Scan and calls no function of the model.

        Args:
            op: its operator, with the values of attributes that the call of its function gives.
        """
        kind = self._asked.kind(node, op)
        if node.bodies or normal_domain(op.domain) or op is not node.op:
            return self._infer(node, inputs, op, kind)
        key = kind, *inputs
        known = self._by_rule.get(key)
        if known is None and not _reads_constants(node):
            known = self._by_onnx.get(key)
        if known is not None:
            return known
        made, asked, shortened = self._symbols.made, self._asked.times, times_shortened()
        facts = [self.shared(fact) for fact in self._infer(node, inputs, op, kind)]
        if times_shortened() != shortened:
            current().refuse_sizes(node, _SHORTENED)
        if self._symbols.made != made:
            return facts  # a size is another one in each node
        if self._asked.times == asked:
            self._by_rule[key] = facts
        elif not _reads_constants(node):  # which onnx may have read
            self._by_onnx[key] = facts
        return facts

    def shared(self, fact: Fact) -> Fact:
        """The one fact that stands for all that say the same, so that nodes that are given the
        same are known by that."""
        content, elements = fact.content, None
        if fact.other is not None or fact.count is not None:
            return fact
        if content is not None:
            if content.size > _MOST_SHARED:
                return fact
            elements = content.shape, tuple(content.flat)
        return self._facts.setdefault((fact.elem_type, fact.shape, elements), fact)

    def _infer(self, node: Node, inputs: Sequence[Fact], op: Operator, kind: Kind) -> list[Fact]:
        typed = all(
            f.elem_type or f.other or not v for f, v in zip(inputs, node.inputs, strict=True)
        )
        if normal_domain(op.domain) or node.op.references:
            told = None if node.op.references else rules_of(op).facts(node, inputs)
            if told is not None:
                return told
            if typed and not node.bodies and not op.references:
                return self._asked.of(node, inputs, op)
            return [UNKNOWN] * len(node.outputs)
        facts = self._by_rules(node, inputs, typed, kind)
        if typed and not node.bodies and not all(map(_is_complete, facts, node.outputs)):
            asked = self._asked.of(node, inputs, op)
            facts = [
                self._joined(node, inputs, index, pair)
                for index, pair in enumerate(zip(facts, asked, strict=True))
            ]
        return with_counts(node, inputs, facts)

    def _by_rules(self, node: Node, inputs: Sequence[Fact], typed: bool, kind: Kind) -> list[Fact]:
        """What the rules tell of an operator of ONNX's own, with the element types."""
        shapes = [self._held(shape) for shape in shapes_of(node, inputs, self._symbols) or []]
        shapes += [None] * (len(node.outputs) - len(shapes))
        if not typed or node.bodies or any(fact.other is not None for fact in inputs):
            return [Fact(0, shape) for _, shape in zip(node.outputs, shapes, strict=False)]
        types = self._asked.elem_types(node, inputs, kind)
        facts = [Fact(*known) for known in zip(types, shapes, strict=False)]
        if facts:
            facts[0] = _with_content(
                facts[0], content_of(node, inputs, types[0], self._symbols.magnitudes)
            )
        return facts

    def _held(self, shape: Shape | None) -> Shape | None:
        """A shape as messages hold it: no tensor has larger sizes, so those are not known."""
        if shape is None or all((dim.value or 0) <= _LARGEST for dim in shape):
            return shape
        return tuple([d if (d.value or 0) <= _LARGEST else self._symbols.fresh() for d in shape])

    def _joined(
        self, node: Node, inputs: Sequence[Fact], index: int, facts: tuple[Fact, Fact]
    ) -> Fact:
        """What a rule and onnx tell of one output."""
        ours, theirs = facts
        shape = theirs.shape if ours.shape is None else ours.shape
        content = ours.content
        if index == 0 and not ours.elem_type:
            content = content_of(node, inputs, theirs.elem_type, self._symbols.magnitudes)
        return Fact(theirs.elem_type or ours.elem_type, shape, content, theirs.other)


def _reads_constants(node: Node) -> bool:
    return any(value is not None and value.constant is not None for value in node.inputs)


def _with_content(fact: Fact, content: Content | None) -> Fact:
    """A fact with the elements, which tell the shape too."""
    if content is None:
        return fact
    shape = fact.shape
    if shape is None:
        shape = tuple([Dimension.constant(size) for size in content.shape])
    return Fact(fact.elem_type, shape, content)


def _is_complete(fact: Fact, value: Value | None) -> bool:
    return value is None or (fact.elem_type != 0 and fact.shape is not None)
