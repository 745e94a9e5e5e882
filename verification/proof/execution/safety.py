"""Proofs that an operator cannot fail on operands of known types, sizes and bounds.

The rules of operators (`OperatorRules.prove_safe`) state what must hold of the operands. What holds
of them is derived here from terms.
"""

from collections.abc import Collection, Sequence

from ....facts.bounds import Bounds, Known, greatest, join, known, least
from ....facts.fact import UNKNOWN, element
from ....facts.polynomial import Dimension
from ....facts.safety_context import Premises, Unproven
from ....facts.types import INTEGER_BITS
from ....ir import Node
from ....ops import OperatorRules, rules_of
from ....ops.elementwise import Elementwise
from ....ops.rules import OLDEST_OPSET, Total
from ..arithmetic.exact_integers import is_one_integer, linear_sum, without_counts
from ..arithmetic.inequalities import is_never_negative
from ..arithmetic.trip_counts import known_number, not_negative
from ..terms.constants import present
from ..terms.facts import largest
from ..terms.term import Args, Head, Term, bottom_up
from ..terms.term_manager import Terms
from .demands import demands_of, is_followed

_ELEMENTS = 1024
"""Elements of a constant that are read in one step."""
_NESTED = 4
"""Limit of substitutions for trip counts that depend on other loops."""
_SAME_ELEMENTS = ("view", "narrow", "reversed")
_DRAWS_FROM_ANYTHING = (
    *("Bernoulli", "RandomNormal", "RandomNormalLike", "RandomUniform"),
    "RandomUniformLike",
)
"""Operators that draw random numbers and never fail."""

_OF_NOTHING = Bounds(Dimension.constant(0), Dimension.constant(-1))
"""Bounds of no element."""


class Safety:
    """Proofs that operators cannot fail.

    Args:
        terms: the terms of the operands.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._by_facts = terms.safe
        self._bounds = terms.bounds

    def is_total(self, head: Head) -> bool:
        """Test whether an operator cannot fail on any operands."""
        return head.op is not None and isinstance(rules_of(head.op), Total)

    def holds_by_facts(self, head: Head, args: Args, count: int) -> bool:
        """Test whether an operator cannot fail on operands with these facts.

        Args:
            count: number of outputs of its node.
        """
        key = head, count, *[arg and arg.fact for arg in args]
        answer = self._by_facts.get(key)
        # Shapes alone decide for an elementwise operator, without premises about its operands.
        if answer is None and self._fits(head, args):
            answer = self._by_facts[key] = True
        elif answer is None:
            operands = [known(UNKNOWN if arg is None else arg.fact) for arg in args]
            answer = self._by_facts[key] = not self._fault(head, args, count, operands)
        return answer

    def fits(self, head: Head, args: Args, count: int) -> bool:
        """Test whether operands certainly fit, for an operator that fails for their sizes only."""
        key = head, count, *[arg and arg.fact for arg in args]
        if key not in self._by_facts and self._fits(head, args):
            self._by_facts[key] = True
        return self._by_facts.get(key, False)

    def _fits(self, head: Head, args: Args) -> bool:
        """Test for an elementwise operator that fails for its sizes only, which fit."""
        rules = None if head.op is None else rules_of(head.op)
        if not isinstance(rules, Elementwise) or head.opset < rules.accepts_more_from:
            return False
        if type(rules).prove_safe is not Elementwise.prove_safe:
            return False
        return largest([arg.fact.shape for arg in args if arg is not None]) is not None

    def fault(self, head: Head, args: Args, count: int, facts: Collection[Dimension] = ()) -> str:
        """Reason why an operator may fail; empty if it cannot.

        Args:
            count: number of outputs of its node.
            facts: numbers that are known to be at least 0.
        """
        # Many terms share their facts, and one answer; bounds are those of each term.
        if self.holds_by_facts(head, args, count):
            return ""
        operands = [Known(UNKNOWN) if arg is None else self.known(arg) for arg in args]
        fault = self._fault(head, args, count, operands, facts)
        return "" if self._reads_before_length(head, args) else fault

    def accepts(self, head: Head, args: Args, count: int, version: int) -> bool:
        """Test whether an older version of an operator certainly accepts operands.

        Args:
            count: number of outputs of its node.
            version: the opset of its node.
        """
        assert head.op is not None
        operands = [known(UNKNOWN if arg is None else arg.fact) for arg in args]
        node = self._terms.facts.node(head, args, {}, count)
        try:
            rules_of(head.op).require_older_form(Premises(node, operands, version))
        except Unproven:
            return False
        return True

    def demands(self, head: Head, args: Args, count: int) -> Sequence[Dimension]:
        """Numbers that are at least 0 wherever an operator runs.

        Args:
            count: number of outputs of its node.
        """
        if head.op is None or head.opset < OLDEST_OPSET:
            return ()
        if head.name == "SequenceAt" and args[0] is not None and args[1] is not None:
            return self._in_sequence(head, args[0], args[1])
        operands = [Known(UNKNOWN) if arg is None else self.known(arg) for arg in args]
        constants = present([self._terms.tensor(arg) for arg in args])
        return demands_of(
            self._terms.facts.node(head, args, constants, count), operands, head.opset
        )

    def _in_sequence(self, head: Head, sequence: Term, index: Term) -> Sequence[Dimension]:
        """Numbers that are at least 0 where a sequence has a known position."""
        place = element(index.fact)
        length = element(self._terms.op("SequenceLength", head, sequence).fact)
        if not isinstance(place, Dimension) or not isinstance(length, Dimension):
            return ()
        return place + length, length - place - 1

    def holds_within(self, head: Head, args: Args, place: int, size: Dimension) -> bool:
        """Test whether an operator cannot fail if an operand holds positions below a size."""
        operands = [Known(UNKNOWN) if arg is None else self.known(arg) for arg in args]
        bounds = Bounds(Dimension.constant(0), size - 1)
        operands[place] = Known(operands[place].fact, bounds)
        return not self._fault(head, args, 1, operands)

    def is_size(self, term: Term) -> bool:
        """Test whether a number is certainly not negative."""
        bounds = self.known(term).bounds
        return bounds is not None and bounds.low.less(0) is False

    def _reads_before_length(self, head: Head, args: Args) -> bool:
        """Test whether SequenceAt reads before the length of a sequence. Only run time determines
        that length."""
        if head.name != "SequenceAt" or len(args) < 2 or args[0] is None or args[1] is None:
            return False
        bounds = self.known(args[1]).bounds
        if bounds is None or not self.is_size(args[1]):
            return False
        length = self._terms.op("SequenceLength", head, args[0])
        return bounds.high.less(not_negative(self._terms, length)) is True

    def _fault(
        self,
        head: Head,
        args: Args,
        count: int,
        operands: Sequence[Known],
        facts: Collection[Dimension] = (),
    ) -> str:
        assert head.op is not None
        rules = rules_of(head.op)
        if isinstance(rules, Total) or head.name in _DRAWS_FROM_ANYTHING:
            return ""
        if head.name == "Range" and self._moves_on(args):
            return ""
        if not rules.defines(OperatorRules.prove_safe):
            return "the operator's failures are unknown"
        if head.opset < OLDEST_OPSET:
            return f"the operator's failures are unknown at opset {head.opset}"
        constants = present([self._terms.tensor(arg) for arg in args])
        node = self._terms.facts.node(head, args, constants, count)
        try:
            rules.require_safe(_Premises(node, operands, head.opset, self._terms, facts))
        except Unproven as unproven:
            return str(unproven)
        return ""

    def _moves_on(self, args: Args) -> bool:
        """Test whether the numbers of a Range approach its end. It then exists, however large it
        is, which is why a pass requires more."""
        step = self._terms.tensor(args[2])
        scalars = all(arg is not None and arg.fact.shape == () for arg in args)
        return scalars and step is not None and bool(step.numpy().all())

    def known(self, root: Term) -> Known:
        """Fact of a term with the bounds of its elements; without recursion."""
        return bottom_up(root, self._bounds, self._operands, self._fact_of)

    def _operands(self, term: Term) -> Sequence[Term]:
        """Terms whose bounds those of a term follow from."""
        name, fact = term.head.name, term.fact
        if is_followed(fact) or fact.elem_type not in INTEGER_BITS:
            return ()
        if id(fact) in self._terms.facts.empty:
            return ()
        if name == "stacked":
            return term.head.parts[:1]
        args = term.args
        if name in _SAME_ELEMENTS:
            args = args[:1]
        elif name == "choose":
            args = args[1:]
        elif term.head.op is None or not rules_of(term.head.op).defines(OperatorRules.bounds):
            return ()
        return [arg for arg in args if arg is not None]

    def _fact_of(self, term: Term, operands: Sequence[Known]) -> Known:
        """Fact of a term, by those of the operands that its bounds follow from."""
        self._terms.budget.step()
        if id(term.fact) in self._terms.facts.empty:
            return Known(term.fact, _OF_NOTHING)
        if is_followed(term.fact):
            bounds = self._of_content(term)
            return known(term.fact) if bounds is None else Known(term.fact, bounds)
        exact = known_number(self._terms, term)
        if exact is not None:
            return known(term.fact, Bounds(exact, exact))
        bounds = self._of_head(term, operands) if operands else self._of_constant(term)
        return known(term.fact, self._of_count(term) if bounds is None else bounds)

    def _of_count(self, term: Term) -> Bounds | None:
        """Bounds of a single integer: a sum, a quotient, a number of truth values."""
        if not is_one_integer(term):
            return None
        number = linear_sum(self._terms, term)
        return Bounds(Dimension.constant(number.low), Dimension.constant(number.high))

    def _of_constant(self, term: Term) -> Bounds | None:
        """Bounds of an integer constant."""
        tensor = self._terms.tensor(term)
        is_integer = term.fact.elem_type in INTEGER_BITS
        if tensor is None or not is_integer or not tensor.is_readable or not tensor.size:
            return None
        numbers = tensor.numpy()
        self._terms.budget.step(tensor.size // _ELEMENTS)
        return Bounds(*[Dimension.constant(int(end)) for end in (numbers.min(), numbers.max())])

    def _of_head(self, term: Term, operands: Sequence[Known]) -> Bounds | None:
        """Bounds of the outputs of a head, from those of its operands."""
        if term.head.name == "choose":
            return join(operands[0].bounds, operands[1].bounds)
        if term.head.op is None:
            return operands[0].bounds
        facts = [Known(UNKNOWN) if arg is None else self._bounds[arg] for arg in term.args]
        node = self._terms.facts.node(term.head, term.args, {}, term.index + 1)
        bounds = rules_of(term.head.op).bounds(node, facts)
        return bounds[term.index] if term.index < len(bounds) else None

    def _of_content(self, term: Term) -> Bounds | None:
        """Bounds of sizes and of trip counts."""
        assert term.fact.content is not None
        elements = list(term.fact.content.reshape(-1))
        low = least([self._extreme(each, below=True) for each in elements])
        high = greatest([self._extreme(each, below=False) for each in elements])
        return None if low is None or high is None else Bounds(low, high)

    def _extreme(self, size: Dimension, *, below: bool) -> Dimension:
        """Smallest or largest value of a size, over the iterations of the loops around it."""
        limits = self._terms.limits
        for _ in range(_NESTED):
            size = without_counts(self._terms, size)
            if size.symbols.isdisjoint(limits):
                break
            total = Dimension.constant(0)
            for product, factor in size.terms.items():
                part = Dimension({product: factor})
                iterations = [name for name in product if name in limits]
                # A part that falls with the iterations is smallest on the last one.
                least_of_all = (factor > 0) is below
                ends = {
                    name: Dimension.constant(0) if least_of_all else limits[name] - 1
                    for name in iterations
                }
                total = total + part.replaced(ends)
            size = total
        return size


class _Premises(Premises):
    """Premises that compare sizes by all that a proof knows of them."""

    def __init__(
        self,
        node: Node,
        inputs: Sequence[Known],
        opset: int,
        terms: Terms,
        facts: Collection[Dimension],
    ) -> None:
        super().__init__(node, inputs, opset)
        self._terms = terms
        self._facts = facts

    def is_at_least(self, number: Dimension, least: Dimension | int) -> bool:
        return is_never_negative(self._terms, number - least, self._facts)
