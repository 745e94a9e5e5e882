"""Opened definitions: the terms that an operator stands for, on the same arguments."""

import onnx

from ....ir import Operator
from ..terms.exact_operators import is_exact
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms
from .functions import DEFINITIONS, Application, function_of

Demand = tuple[Head, Args]
"""Operator and its operands."""

MOVEMENTS = ("view", "narrow", "Transpose", "Cast")
"""Heads below which a definition is opened: their terms simplify with what they move."""


_NODE = 16
"""Steps for each node of an opened definition, which is read from its message."""


class Definitions:
    """Definitions of the terms of a proof, opened on demand.

    Args:
        over_reals: whether floats that are equal over the reals are equal.

    Attributes:
        over_reals: whether floats that are equal over the reals are equal.
        assumed: operators whose kernels are assumed to give the bits of their definition.
    """

    def __init__(self, terms: Terms, over_reals: bool = False) -> None:
        self._terms = terms
        self.over_reals = over_reals
        self._opened = terms.opened[over_reals]
        self.assumed: set[str] = set()

    def opened(self, term: Term) -> Term | None:
        """Definition of a term, or of what a term moves; None if there is none."""
        chain = []
        below: Term | None = term
        while below is not None and below.head.name in MOVEMENTS:
            chain.append(below)
            below = below.args[0]
        result = None if below is None else self.of(below)
        if below is None or result is None:
            return None
        if not (
            DEFINITIONS[below.head.name].is_exact or is_exact(below.head.name, (*below.args, below))
        ):
            self.assumed.add(below.head.name)
        for mover in reversed(chain):
            result = self._terms.rebuild(mover, (result, *mover.args[1:]))
        return result

    def name_of(self, term: Term) -> str:
        """Operator of a term, or of what a term moves."""
        while term.head.name in MOVEMENTS and term.args[0] is not None:
            term = term.args[0]
        return term.head.name

    def demands(self, head: Head, args: Args) -> list[Demand]:
        """Nodes of the definition of an operator that fail only where the operator does."""
        nodes: list[Demand] = []
        waiting: list[Demand] = [(head, args)]
        visited: set[Demand] = set()
        while waiting:
            outer, operands = waiting.pop()
            if (outer, operands) in visited:
                continue
            visited.add((outer, operands))
            definition = DEFINITIONS.get(outer.name)
            if definition is None or not definition.fails_alike:
                continue
            function = function_of(Application(outer, operands, 0, True, self._terms.tensor))
            if function is not None and not any(map(holds_graphs, function.node)):
                inside: list[Demand] = []
                instantiated(self._terms, function, operands, inside)
                nodes += inside
                waiting += inside
        return nodes

    def of(self, term: Term) -> Term | None:
        """Definition of a term; None if there is none for its types and ranks."""
        if term.head.name not in DEFINITIONS:
            return None
        if term not in self._opened:
            self._opened[term] = self._open(term)
        return self._opened[term]

    def _open(self, term: Term) -> Term | None:
        application = Application(
            term.head, term.args, term.index, self.over_reals, self._terms.tensor
        )
        function = function_of(application)
        if function is None or any(map(holds_graphs, function.node)):
            return None
        self._terms.budget.step(_NODE * len(function.node))
        result = instantiated(self._terms, function, term.args)[term.index]
        if result is None or result is term or result.fact.elem_type != term.fact.elem_type:
            return None
        return result if _keeps_shape(term, result) else None


def _keeps_shape(term: Term, result: Term) -> bool:
    """Test whether a definition has the shape of the operator, wherever that has one.

    A definition might broadcast an operand where the operator fails, and a constant of one element
    in a function of onnx, a scalar.
    """
    one, other = term.fact.shape, result.fact.shape
    if one is not None and one == other:
        return True
    kinds = [arg.fact.elem_type for arg in term.args if arg is not None]
    definition = DEFINITIONS[term.head.name]
    alike = len(kinds) > 1 and any(kind in (0, kinds[0]) for kind in kinds[1:])
    if alike and not definition.broadcasts:
        return False
    if one is None or other is None:
        return definition.is_exact or definition.formula is not None
    return len(one) == len(other)


def holds_graphs(node: onnx.NodeProto) -> bool:
    """Test whether a node has bodies."""
    return any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute)


def instantiated(
    terms: Terms, function: onnx.FunctionProto, args: Args, nodes: list[Demand] | None = None
) -> list[Term | None]:
    """Outputs of a function without control flow on arguments; None where one is absent.

    Args:
        nodes: list to which its nodes are added.
    """
    values: dict[str, Term | None] = dict.fromkeys(function.input)
    values.update(zip(function.input, args, strict=False))
    # The empty name stands for an absent operand.
    values[""] = None
    imports = {entry.domain: entry.version for entry in function.opset_import}
    for node in function.node:
        width = len(node.output)
        op = Operator(node.op_type, {a.name: a for a in node.attribute}, node.domain)
        head = terms.heads.of(op, imports, width)
        operands = tuple([values[name] for name in node.input])
        results = terms.apply(head, operands, width)
        if nodes is not None:
            nodes.append((head, operands))
        values.update(zip(node.output, results, strict=False))
    return [values.get(name) for name in function.output]
