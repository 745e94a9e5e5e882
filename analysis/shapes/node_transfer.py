"""Transfer functions of single nodes.

The rules in `ops/` infer shapes and small integers of most operators in a few microseconds; onnx
infers element types and everything else.
"""

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
    f"needs more terms than size_terms={MOST_TERMS} (or factors than size_factors={MOST_FACTORS})"
    " allows; set sizes as numbers with --shape or --dim"
)

_MOST_SHARED = 16
"""The most elements of facts that are compared: those of a shape."""


class NodeFacts:
    """Inference of single nodes, cached for equal nodes with equal facts.

    Args:
        onnx_facts: onnx's own inference.
    """

    def __init__(
        self, symbols: Symbols, onnx_facts: OnnxFacts, memory: Memory | None = None
    ) -> None:
        self._symbols = symbols
        self._onnx_facts = onnx_facts
        memory = Memory() if memory is None else memory
        self._facts = memory.facts
        self._by_rule = memory.by_rule
        self._by_onnx: dict[Hashable, list[Fact]] = {}

    def of(self, node: Node, inputs: Sequence[Fact], op: Operator) -> list[Fact]:
        """Infer the outputs of a node that is no If, Loop, Scan or call.

        Args:
            op: its operator, with attributes of the analysed call.
        """
        kind = self._onnx_facts.kind(node, op)
        if node.bodies or normal_domain(op.domain) or op is not node.op:
            return self._infer(node, inputs, op, kind)
        key = kind, *inputs
        cached = self._by_rule.get(key)
        if cached is None and not _reads_constants(node):
            cached = self._by_onnx.get(key)
        if cached is not None:
            return cached
        symbols, queries = self._symbols.made, self._onnx_facts.times
        facts = [self.shared(fact) for fact in self._noted(node, inputs, op, kind)]
        if self._symbols.made != symbols:
            return facts  # a new size differs in each node
        # Without an answer of onnx it follows from the inputs alone, in every inference.
        if self._onnx_facts.times == queries:
            self._by_rule[key] = facts
        elif not _reads_constants(node):  # which onnx may have read
            self._by_onnx[key] = facts
        return facts

    def kind(self, node: Node) -> Kind:
        """The key of nodes with equal outputs for equal inputs."""
        return self._onnx_facts.kind(node, node.op)

    def infer(self, node: Node, inputs: Sequence[Fact], op: Operator) -> list[Fact]:
        """Infer what `of` returns, for callers that keep the answers themselves."""
        return self._noted(node, inputs, op, self._onnx_facts.kind(node, op))

    def _noted(self, node: Node, inputs: Sequence[Fact], op: Operator, kind: Kind) -> list[Fact]:
        shortened = times_shortened()
        facts = self._infer(node, inputs, op, kind)
        if times_shortened() != shortened:
            current().refuse_sizes(node, _SHORTENED)
        return facts

    def shared(self, fact: Fact) -> Fact:
        """Intern a fact, so that equal facts are one object."""
        content, elements = fact.content, None
        # A type message cannot be part of a key.
        if fact.other is not None or fact.count is not None:
            return fact
        if content is not None:
            if content.size > _MOST_SHARED:
                return fact
            elements = content.shape, tuple(content.flat)
        return self._facts.setdefault((fact.elem_type, fact.shape, elements), fact)

    def _infer(self, node: Node, inputs: Sequence[Fact], op: Operator, kind: Kind) -> list[Fact]:
        typed = _are_typed(node, inputs)
        if normal_domain(op.domain) or node.op.references:
            by_rule = None if node.op.references else rules_of(op).facts(node, inputs)
            if by_rule is not None:
                return by_rule
            if typed and not node.bodies and not op.references:
                return self._onnx_facts.of(node, inputs, op)
            return [UNKNOWN] * len(node.outputs)
        facts = self._by_rules(node, inputs, typed, kind)
        # A query of onnx takes tens of microseconds, a rule a few.
        if typed and not node.bodies and not all(map(_is_complete, facts, node.outputs)):
            by_onnx = self._onnx_facts.of(node, inputs, op)
            facts = [
                self._join(node, inputs, index, pair)
                for index, pair in enumerate(zip(facts, by_onnx, strict=True))
            ]
        return with_counts(node, inputs, facts)

    def _by_rules(self, node: Node, inputs: Sequence[Fact], typed: bool, kind: Kind) -> list[Fact]:
        """Infer an operator of ONNX's own by rules, with element types."""
        shapes = [self._bound(shape) for shape in shapes_of(node, inputs, self._symbols) or []]
        shapes += [None] * (len(node.outputs) - len(shapes))
        for fact in inputs:
            if fact.other is not None:
                typed = False
        if not typed or node.bodies:
            return [Fact(0, shape) for _, shape in zip(node.outputs, shapes, strict=False)]
        types = self._onnx_facts.elem_types(node, inputs, kind)
        facts = [Fact(*pair) for pair in zip(types, shapes, strict=False)]
        if facts:
            facts[0] = _with_content(
                facts[0], content_of(node, inputs, types[0], self._symbols.magnitudes)
            )
        return facts

    def _bound(self, shape: Shape | None) -> Shape | None:
        """Replace sizes that no message can hold by new symbols."""
        for dim in shape or ():
            if dim.value is not None and dim.value > _LARGEST:
                break
        else:
            return shape
        assert shape is not None
        return tuple([d if (d.value or 0) <= _LARGEST else self._symbols.fresh() for d in shape])

    def _join(
        self, node: Node, inputs: Sequence[Fact], index: int, facts: tuple[Fact, Fact]
    ) -> Fact:
        """Join the facts of a rule and of onnx about one output."""
        ours, theirs = facts
        shape = theirs.shape if ours.shape is None else ours.shape
        content = ours.content
        if index == 0 and not ours.elem_type:
            content = content_of(node, inputs, theirs.elem_type, self._symbols.magnitudes)
        return Fact(theirs.elem_type or ours.elem_type, shape, content, theirs.other)


def _reads_constants(node: Node) -> bool:
    return any(value is not None and value.constant is not None for value in node.inputs)


def _are_typed(node: Node, inputs: Sequence[Fact]) -> bool:
    """Test for a type of each operand that is there."""
    for fact, value in zip(inputs, node.inputs, strict=True):
        if not fact.elem_type and fact.other is None and value is not None:
            return False
    return True


def _with_content(fact: Fact, content: Content | None) -> Fact:
    """Add elements to a fact, and the shape that follows from them."""
    if content is None:
        return fact
    shape = fact.shape
    if shape is None:
        shape = tuple([Dimension.constant(size) for size in content.shape])
    return Fact(fact.elem_type, shape, content)


def _is_complete(fact: Fact, value: Value | None) -> bool:
    return value is None or (fact.elem_type != 0 and fact.shape is not None)
