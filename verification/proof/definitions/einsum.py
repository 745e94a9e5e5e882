"""Einsum of one or two tensors as a product of matrices."""

from __future__ import annotations

from collections.abc import Sequence

from .functions import DOUBLE, FLOAT, LONG_INTEGERS, Application, defined


@defined(
    "Einsum",
    types=LONG_INTEGERS | {FLOAT, DOUBLE},
    attributes=("equation",),
    opset=13,
    fails_alike=True,
    broadcasts=True,
)
def einsum(application: Application) -> str | None:
    """MatMul with the labels of both operands and the output as batch axes. Labels of one operand
    alone are summed before."""
    labels = _labels(application)
    if labels is None:
        return None
    operands, output = labels
    if len(operands) == 1:
        rest = [label for label in operands[0] if label in output]
        nodes = _sum("A", "R", operands[0], rest)
        return f"(A) => (Y) {{ {nodes} Y = Transpose <perm : ints = {_order(rest, output)}> (R) }}"
    one, other = operands
    sides = [[n for n in term if n in output + rest] for term, rest in ((one, other), (other, one))]
    batch = [label for label in output if label in one and label in other]
    inner = [label for label in sides[0] if label in other and label not in output]
    rows, columns = ([n for n in side if n in output and n not in batch] for side in sides)
    if max(len(inner), len(columns)) > 1 or (len(rows) > 1 and batch):
        return None
    rounds = application.elem_type() not in LONG_INTEGERS and not application.over_reals
    if rounds and not (inner and (_size_of_both(application, inner[0]) or 0) > 1):
        return None  # one product may be -0, a sum from 0 on is not
    return f"""(A, B) => (Y) {{
        {_sum("A", "R0", one, sides[0])} {_sum("B", "S0", other, sides[1])}
        {_spread(application, sides, inner)}
        {_matrices("R", sides[0], batch, rows, inner)}
        {_matrices("S", sides[1], batch, inner, columns)}
        P = MatMul (RM, SM)
        {_without_units(batch, rows, columns)}
        Y = Transpose <perm : ints = {_order([*batch, *rows, *columns], output)}> (Q)
    }}"""


def _labels(application: Application) -> tuple[list[str], str] | None:
    """Labels of the operands and of the output; None unless each operand has different ones."""
    equation = (application.head.text("equation")).replace(" ", "")
    text, arrow, output = equation.partition("->")
    operands = text.split(",")
    if "." in equation or len(operands) > 2 or len(operands) != len(application.args):
        return None
    if not arrow:
        output = "".join(sorted(label for label in set(text) - {","} if text.count(label) == 1))
    ranks = [application.rank(index) for index in range(len(operands))]
    if any(len(set(term)) < len(term) for term in (*operands, output)) or not operands[0]:
        return None
    if not set(output) <= set(text) or not all(operands):
        return None
    fits = all(rank in (None, len(term)) for rank, term in zip(ranks, operands, strict=True))
    return (operands, output) if fits else None


def _order(labels: Sequence[str], output: str) -> list[int]:
    return [labels.index(label) for label in output]


def _sum(operand: str, result: str, term: str, others: Sequence[str]) -> str:
    """Nodes of the sum over the labels that are not among others."""
    axes = [axis for axis, label in enumerate(term) if label not in others]
    if not axes:
        return f"{result} = Identity ({operand})"
    return f"""{result}Axes = Constant <value_ints = {axes}> ()
        {result} = ReduceSum <keepdims = 0> ({operand}, {result}Axes)"""


def _spread(application: Application, sides: Sequence[Sequence[str]], inner: Sequence[str]) -> str:
    """Nodes that broadcast both operands along the label that the product sums over."""
    equal = "R1 = Identity (R0) S1 = Identity (S0)"
    if not inner or _size_of_both(application, inner[0]) is not None:
        return equal
    nodes = ""
    names = ("S0", "R0", "R1"), ("R1", "S0", "S1")
    for (sizes, value, result), own, other in zip(names, sides, sides[::-1], strict=True):
        place, after = own.index(inner[0]), len(own) - 1 - own.index(inner[0])
        nodes += f"""
        {result}Shape = Shape ({sizes})
        {result}Place = Constant <value_ints = [{other.index(inner[0])}]> ()
        {result}Size = Gather <axis = 0> ({result}Shape, {result}Place)
        {result}Before = Constant <value_ints : ints = {[1] * place}> ()
        {result}After = Constant <value_ints : ints = {[1] * after}> ()
        {result}Sizes = Concat <axis = 0> ({result}Before, {result}Size, {result}After)
        {result} = Expand ({value}, {result}Sizes)"""
    return nodes


def _size_of_both(application: Application, label: str) -> int | None:
    """Size of a label that is the same in both operands; 0 if only that is known."""
    terms = application.head.text("equation").replace(" ", "").partition("->")[0].split(",")
    shapes = [None if arg is None else arg.fact.shape for arg in application.args]
    sizes = [
        None if shape is None else shape[term.index(label)]
        for shape, term in zip(shapes, terms, strict=True)
    ]
    if sizes[0] is None or sizes[0] != sizes[1]:
        return None
    return sizes[0].value or 0


def _matrices(
    name: str,
    term: Sequence[str],
    batch: Sequence[str],
    rows: Sequence[str],
    columns: Sequence[str],
) -> str:
    """Nodes that order the axes of an operand and add unit axes for absent sides."""
    labels = [*batch, *rows, *columns]
    places = _units(batch, rows, columns)
    nodes = f"{name}T = Transpose <perm : ints = {[term.index(n) for n in labels]}> ({name}1)"
    if not places:
        return f"{nodes} {name}M = Identity ({name}T)"
    return f"""{nodes} {name}Units = Constant <value_ints = {places}> ()
        {name}M = Unsqueeze ({name}T, {name}Units)"""


def _without_units(batch: Sequence[str], rows: Sequence[str], columns: Sequence[str]) -> str:
    places = _units(batch, rows, columns)
    if not places:
        return "Q = Identity (P)"
    return f"PUnits = Constant <value_ints = {places}> () Q = Squeeze (P, PUnits)"


def _units(batch: Sequence[str], rows: Sequence[str], columns: Sequence[str]) -> list[int]:
    """Axes of size 1 for sides without a label."""
    places = len(batch), len(batch) + max(len(rows), 1)
    return [place for place, side in zip(places, (rows, columns), strict=True) if not side]
