"""Einsum as products of matrices."""

import math
import string
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
    rounds = application.elem_type() not in LONG_INTEGERS and not application.over_reals
    if len(operands) > 2:
        return None if rounds else _one_after_the_other(operands, output)
    one, other = operands
    sides = [[n for n in term if n in output + rest] for term, rest in ((one, other), (other, one))]
    batch = [label for label in output if label in one and label in other]
    inner = [label for label in sides[0] if label in other and label not in output]
    sizes = [_size_of_both(application, operands, label) or 0 for label in inner]
    if rounds and math.prod(sizes or [0]) < 2:
        return None  # one product may be -0, a sum from 0 on is not
    if len(inner) > 1 and 0 in sizes:
        return None if rounds else _one_sum_after_the_other(operands, output, inner)
    rows, columns = ([n for n in side if n in output and n not in batch] for side in sides)
    last = inner[-1:] or [""]
    one_axes = [*batch, *rows[:-1], *[""] * len(columns[:-1]), *(rows[-1:] or [""]), *last]
    other_axes = [*batch, *[""] * len(rows[:-1]), *columns[:-1], *last, *(columns[-1:] or [""])]
    ordered = [*batch, *rows[:-1], *columns[:-1], *(rows[-1:] or [""]), *(columns[-1:] or [""])]
    return f"""(A, B) => (Y) {{
        {_sum("A", "R0", one, sides[0])} {_sum("B", "S0", other, sides[1])}
        {_spread(application, operands, sides, inner)}
        {_merge("R", sides[0], inner, math.prod(sizes))}
        {_merge("S", sides[1], inner, math.prod(sizes))}
        {_matrices("R", _without(sides[0], inner), one_axes)}
        {_matrices("S", _without(sides[1], inner), other_axes)}
        P = MatMul (RM, SM)
        {_without_units([place for place, label in enumerate(ordered) if not label])}
        Y = Transpose <perm : ints = {_order([n for n in ordered if n], output)}> (Q)
    }}"""


def _labels(application: Application) -> tuple[list[str], str] | None:
    """Labels of the operands and of the output; None unless each operand has different ones."""
    text, arrow, output = application.head.text("equation").replace(" ", "").partition("->")
    operands = text.split(",")
    if len(operands) != len(application.args) or not all(operands):
        return None
    if not arrow:
        # Without an arrow the output has the labels that occur once, in alphabetical
        # order (Einsum).
        single = sorted(n for n in set(text) - set(",.") if text.count(n) == 1)
        output = "..." * ("..." in text) + "".join(single)
    ranks = [application.rank(index) for index in range(len(operands))]
    around = _around(operands, ranks)
    if around is None:
        return None
    operands, output = [n.replace("...", around) for n in operands], output.replace("...", around)
    if any(len(set(term)) < len(term) for term in (*operands, output)) or "." in output:
        return None
    if not set(around) <= set(output) <= set("".join(operands)):
        return None
    fits = all(rank in (None, len(term)) for rank, term in zip(ranks, operands, strict=True))
    return (operands, output) if fits else None


def _around(operands: Sequence[str], ranks: Sequence[int | None]) -> str | None:
    """Labels for the axes of an ellipsis; None if their number is unknown, or not one."""
    counts = {
        -1 if rank is None else rank - len(term.replace("...", ""))
        for term, rank in zip(operands, ranks, strict=True)
        if "..." in term
    }
    free = [letter for letter in string.ascii_letters if letter not in "".join(operands)]
    count = max(counts, default=0)
    if len(counts) > 1 or not 0 <= count <= len(free):
        return None
    return "".join(free[:count])


def _one_after_the_other(operands: Sequence[str], output: str) -> str:
    """Einsum of the first two operands, then of the result and the others."""
    needed = set("".join([output, *operands[2:]]))
    first = "".join(n for n in dict.fromkeys(operands[0] + operands[1]) if n in needed)
    names = [f"X{index}" for index in range(len(operands))]
    rest = ",".join([first, *operands[2:]])
    return f"""({", ".join(names)}) => (Y) {{
        P = Einsum <equation = "{operands[0]},{operands[1]}->{first}"> (X0, X1)
        Y = Einsum <equation = "{rest}->{output}"> ({", ".join(["P", *names[2:]])})
    }}"""


def _one_sum_after_the_other(operands: Sequence[str], output: str, inner: Sequence[str]) -> str:
    """Einsum that sums over the last label, then over the others."""
    needed = output + "".join(inner[:-1])
    return f"""(A, B) => (Y) {{
        P = Einsum <equation = "{",".join(operands)}->{needed}"> (A, B)
        Y = Einsum <equation = "{needed}->{output}"> (P)
    }}"""


def _without(term: Sequence[str], inner: Sequence[str]) -> list[str]:
    """Labels of an operand after its inner ones are merged to the last."""
    if len(inner) < 2:
        return list(term)
    return [*(label for label in term if label not in inner), inner[-1]]


def _merge(name: str, term: Sequence[str], inner: Sequence[str], size: int) -> str:
    """Nodes that merge the inner axes of an operand to its last one."""
    if len(inner) < 2:
        return f"{name}2 = Identity ({name}1)"
    others = [label for label in term if label not in inner]
    return f"""{name}L = Transpose <perm = {_order(term, [*others, *inner])}> ({name}1)
        {name}Sizes2 = Constant <value_ints = {[0] * len(others) + [size]}> ()
        {name}2 = Reshape ({name}L, {name}Sizes2)"""


def _order(labels: Sequence[str], output: Sequence[str]) -> list[int]:
    return [labels.index(label) for label in output]


def _sum(operand: str, result: str, term: str, others: Sequence[str]) -> str:
    """Nodes of the sum over the labels that are not among others."""
    axes = [axis for axis, label in enumerate(term) if label not in others]
    if not axes:
        return f"{result} = Identity ({operand})"
    return f"""{result}Axes = Constant <value_ints = {axes}> ()
        {result} = ReduceSum <keepdims = 0> ({operand}, {result}Axes)"""


def _spread(
    application: Application,
    operands: Sequence[str],
    sides: Sequence[Sequence[str]],
    inner: Sequence[str],
) -> str:
    """Nodes that broadcast both operands along the label that the product sums over."""
    equal = "R1 = Identity (R0) S1 = Identity (S0)"
    if len(inner) != 1 or _size_of_both(application, operands, inner[0]) is not None:
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


def _size_of_both(application: Application, operands: Sequence[str], label: str) -> int | None:
    """Size of a label that is the same in both operands; 0 if only that is known."""
    shapes = [None if arg is None else arg.fact.shape for arg in application.args]
    sizes = [
        None if shape is None else shape[term.index(label)]
        for shape, term in zip(shapes, operands, strict=True)
    ]
    if sizes[0] is None or sizes[0] != sizes[1]:
        return None
    return sizes[0].value or 0


def _matrices(name: str, term: Sequence[str], labels: Sequence[str]) -> str:
    """Nodes that order the axes of an operand and add unit axes."""
    # MatMul broadcasts leading axes by itself.
    while len(labels) > 2 and not labels[0]:
        labels = labels[1:]
    perm = [term.index(label) for label in labels if label]
    places = [place for place, label in enumerate(labels) if not label]
    nodes = f"{name}T = Transpose <perm : ints = {perm}> ({name}2)"
    if not places:
        return f"{nodes} {name}M = Identity ({name}T)"
    return f"""{nodes} {name}Units = Constant <value_ints = {places}> ()
        {name}M = Unsqueeze ({name}T, {name}Units)"""


def _without_units(places: Sequence[int]) -> str:
    if not places:
        return "Q = Identity (P)"
    return f"PUnits = Constant <value_ints = {list(places)}> () Q = Squeeze (P, PUnits)"
