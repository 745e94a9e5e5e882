"""Base class of the rules of an operator, and their registry.

All that is known about one operator stands in one class, and the classes of a family in one file of
this folder. A class that `describes` an operator is found by shape inference, folding and the
proofs that a node cannot fail; nothing else names it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

from ..facts.bounds import Bounds, Known
from ..facts.fact import Content, Fact, Shape, Symbols
from ..facts.safety_context import Premises, Unproven
from ..ir import Node, Operator, Value
from .agreement import are_ordinary, are_usual
from .axes import AxisMap, RankAnswer, rank_of_first
from .batching import Batch, Unbatchable
from .cost_estimates import FEW, elements, times
from .departures import on_arrays
from .partial_axes import along_axis
from .traits import Traits, traits_of

OLDEST_OPSET = 9
"""First opset for whose operators an answer of `prove_safe` holds."""

Shapes = list[Shape | None] | None
"""Shape of each output, None for one that onnx infers; None if onnx infers all."""


class OperatorRules(Traits):
    """Rules of one operator, or of several that share all of them.

    Every method may be left out; here it says that nothing is known. What a method is given:

    - `node`: a node of an operator that the class describes, free of references to attributes of a
      function (but for `draws_random_numbers`). Its opset is that of `node.graph.root`.
    - `inputs`: what is known about its inputs, one by one; `UNKNOWN` for one that is left out.

    `shapes`, `content`, `axis_map` and `canonical` may raise IndexError, TypeError or ValueError
    where facts are not known, or where inputs do not fit each other: such a node fails when it
    runs, so nothing is to be known about what it gives.

    A node may be of any opset; where opsets differ, the docstring of the class says how.
    """

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        """Infer shapes of the outputs where onnx's inference is imprecise or slow.

        Where sizes certainly do not fit, it is left to onnx to say so.

        Args:
            inputs: their facts.
            symbols: makes symbols for sizes that are not known.
        """
        return None

    def refuses(self, op: Operator, ranks: Sequence[int | None]) -> bool:
        """Test for ranks of operands with which it fails, as specified and in onnxruntime.

        Args:
            op: the operator.
            ranks: the ranks; None for an operand that is absent, or of unknown rank.
        """
        allowed = self.required_ranks
        return any(n in allowed and k not in (None, *allowed[n]) for n, k in enumerate(ranks))

    def rank(self, node: Node, output: int) -> RankAnswer:
        """The rank of an output, from ranks that it asks for; None where it is open.

        Args:
            output: the position of the output.
        """
        yield from ()
        return None if output else self.fixed_rank

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        """The elements of the first output, a small tensor of integers or truth values; None where
        they are not followed. What the output's type cannot hold is dropped by the caller."""
        return None

    def count(self, node: Node, inputs: Sequence[Fact]) -> int | None:
        """The length of the output sequence; None where it is unknown."""
        return None

    def facts(self, node: Node, inputs: Sequence[Fact]) -> list[Fact] | None:
        """Infer all facts of the outputs without onnx; None where onnx must infer them."""
        return None

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        """Between which numbers the elements of its outputs lie if no integer overflows: one for
        each output, None where that is not known; none for the outputs after the last."""
        return ()

    def prove_safe(self, premises: Premises) -> None:
        """Prove that a node never fails, so that it may run speculatively.

        Infinities and NaN are results.

        Raises:
            Unproven: that is not certain.
        """
        raise Unproven("it is not among the operators that are known not to fail")

    def require_safe(self, premises: Premises) -> None:
        """Prove that a node gives a result: its operands have the ranks that they must have, and
        `prove_safe` holds.

        Raises:
            Unproven: that is not certain.
        """
        for index, ranks in self.operand_ranks.items():
            if premises.has(index):
                premises.require_rank(index, ranks)
        if premises.opset < self.accepts_more_from:
            self.require_older_form(premises)
        self.prove_safe(premises)

    def require_older_form(self, premises: Premises) -> None:
        """Require operands that versions before `accepts_more_from` accept.

        Raises:
            Unproven: that is not certain.
        """

    def fixed_roundings(self) -> int | None:
        """0 or 1 where every kernel gives the same bits (see `roundings`)."""
        return 0 if self.exact and self.roundings is None else self.roundings

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        """The greatest number of output elements; 0 where it is at most that of inputs.

        An absent input is None.

        Broadcasting and products make at most the product of the inputs' sizes.
        """
        large = [array.size for array in arrays if array is not None and array.size > 1024]
        return math.prod(large) if len(large) > 1 else 0

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        """The most steps of the reference for these arrays, of about a nanosecond."""
        return self.steps * (elements(arrays) + max(0.0, self.growth(node, arrays)))

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """Test that the specification decides the outputs for these arrays, in any kernel.

        What it leaves open is neither folded nor computed by a proof. Departures of onnxruntime
        from what it decides stand in the table of `departures`.

        Args:
            node: the node, which may stand in no graph.
            arrays: its operands, None for an input that is left out.
            results: what the reference makes of them.
        """
        return self.exact or (are_ordinary(arrays) and are_usual(results))

    def draws_random_numbers(self, node: Node) -> bool:
        """Test for a node whose outputs differ between runs."""
        return False

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        """The axes of inputs that an axis of the outputs follows.

        A part of the outputs along it is what the operator makes of the parts of these inputs.

        Args:
            inputs: their facts.
            axis: of the first output, counted from the front.

        Returns:
            None where elements meet along the axis or change places, and where nothing is known.
        """
        return None

    def canonical(self, node: Node, inputs: Sequence[Fact]) -> Mapping[str | int, Any]:
        """Attributes (by name) and inputs (by position) in the form in which nodes are compared."""
        return {}

    def batch(self, batch: Batch) -> Sequence[Value]:
        """Compute a node for all iterations of a loop at once: see `Batch`.

        Returns:
            One for each output, with the batch axis first.

        Raises:
            Unbatchable: it cannot be; the message ends a sentence that begins with the node.
        """
        raise Unbatchable(self.why_unbatchable)

    def batch_partial(self, batch: Batch) -> Sequence[Value]:
        """Emit the batched form of a node with partial operands.

        Along an axis that the operator computes position by position, elements without a meaning
        stay such.
        """

        def axis_map(axis: int) -> AxisMap | None:
            try:
                return self.axis_map(batch.node, batch.facts, axis)
            except (IndexError, TypeError, ValueError):
                return None  # the inputs do not fit each other: the node fails

        return along_axis(batch, axis_map, self.batch, self.risky_inputs)

    def defines(self, method: Callable[..., Any]) -> bool:
        """Test for an override of a method: `rules.defines(OperatorRules.content)`."""
        return getattr(type(self), method.__name__) is not method


class Total(OperatorRules):
    """Rules of an operator that never fails."""

    steps: ClassVar[int] = 20 * FEW

    def prove_safe(self, premises: Premises) -> None:
        """Require nothing."""


class RankOfFirst(OperatorRules):
    """Rules of an operator whose first output has the rank of the first input."""

    def rank(self, node: Node, output: int) -> RankAnswer:
        return super().rank(node, output) if output else rank_of_first(node)


class Growing(OperatorRules):
    """Rules of an operator that makes axes grow by factors, or to sizes."""

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        return times(arrays[0], arrays[1])


class NoLarger(OperatorRules):
    """Rules of an operator with at most as many output elements as input elements."""

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        return 0


class KeepsShape(NoLarger, RankOfFirst):
    """Rules of an operator whose first output has the shape of the first input."""

    sized_like: ClassVar[tuple[int, ...] | None] = (0,)

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        """The shape of the first input."""
        return [inputs[0].shape]


class Moving(OperatorRules):
    """Rules of an operator that only moves elements of the first input."""

    steps: ClassVar[int] = FEW

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        """The bounds of the first input."""
        return [inputs[0].bounds] * len(node.outputs)


_Rules = TypeVar("_Rules", bound=OperatorRules)

_DESCRIBED: dict[str, OperatorRules] = {}


class _Unknown(OperatorRules):
    """Rules of an unknown operator, whose cost has no limit."""

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        return math.inf


_NOTHING = _Unknown()


def describes(*names: str, **fields: Any) -> Callable[[type[_Rules]], type[_Rules]]:
    """Register a class as the rules of operators.

    Args:
        *names: as `Operator.qualname` writes them: "Add", "com.microsoft::Sampling".
        **fields: attributes of the class that are others for these operators.

    Raises:
        ValueError: from the decorator, where another class describes one of them.
    """

    def register(rules: type[_Rules]) -> type[_Rules]:
        for name in names:
            if name in _DESCRIBED:
                other = type(_DESCRIBED[name]).__name__
                raise ValueError(f"{name} is described by {other} and by {rules.__name__}")
            _DESCRIBED[name] = described = rules()
            # The class may describe several operators, each by an instance with its own fields.
            vars(described).update({**traits_of(name), **fields})
        return rules

    return register


describes("Constant")(Total)
describes("Unique")(OperatorRules)  # of traits alone


def rules_of(op: Operator) -> OperatorRules:
    """The rules of an operator of any domain; the default one is "" or "ai.onnx"."""
    return _DESCRIBED.get(op.qualname, _NOTHING)


def described() -> Mapping[str, OperatorRules]:
    """All operators with rules, by `Operator.qualname`."""
    return MappingProxyType(_DESCRIBED)


def agrees(node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
    """Test that the specification decides the outputs of a node, and onnxruntime follows it.

    Args:
        node: the node, which may stand in no graph.
        arrays: its operands, None for an absent one.
        results: those of the reference.
    """
    if on_arrays(node, arrays) is not None:
        return False
    return rules_of(node.op).is_settled(node, arrays, results)
