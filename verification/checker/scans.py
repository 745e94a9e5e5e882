"""Scan outputs by rows: those of a function of rows are the function of scan outputs.

    y in Scan (h, x) { s = Tanh (h + x), y = s * c }     Mul (s in Scan (h, x) { ... }, c)

A Loop that reads the row of each iteration is a Scan first. A step moves one operator out of the
body. An operand that the iteration does not change stays as it is, and the sizes of an empty result
are those that the body declares.
"""

from __future__ import annotations

import numpy as np

from .inference import fact_of_output
from .iterations import OF_INPUTS, OF_ROWS, level_of, parts, states_of, values_in
from .meaning import head_of
from .movement import SINGLE, in_rows
from .polynomials import Dim
from .rows import apply
from .sizes import sizes_in
from .terms import ABSENT, Fact, Head, Node, Terms

_AXES = (*OF_INPUTS, *OF_ROWS)
_ALONG = {"ArgMax", "ArgMin", "LogSoftmax", "Softmax"}
"""Operators along an axis that an attribute names."""


def loop_of(terms: Terms, term: int) -> object:
    """Parts of a loop that determine the variables of its body: no scan outputs."""
    node = terms.nodes[term]
    if node.head.name not in ("Loop", "Scan") or node.head.key is None:
        return terms.find(term)
    while term in terms.written:
        node = terms.nodes[term := terms.written[term]]
    states = parts(node)
    outputs = (*states.operands, *states.variables, *states.outputs[: states_of(node)])
    head = node.head.changed(**dict.fromkeys(_AXES)) if _is_plain(node.head) else node.head
    return head.name, head.attributes, tuple([n if n == ABSENT else terms.find(n) for n in outputs])


def rows_of_any_size(terms: Terms, term: int) -> list[int]:
    """Rows that may differ in size by iteration: a runtime may fail to stack them."""
    node = terms.nodes[term]
    rows = parts(node).outputs[states_of(node) :]
    shapes = [terms.outside(terms.fact(row), level_of(terms, node)).shape for row in rows]
    return [terms.find(r) for r, s in zip(rows, shapes, strict=True) if s is None or None in s]


def _is_plain(head: Head) -> bool:
    return head.version != 8 and not any(any(head.integers(name) or []) for name in _AXES)


def row_alone(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Drop the scan outputs of other rows."""
    loop, count = parts(node), states_of(node)
    number = node.output + (node.head.name == "Loop")
    if not _is_plain(node.head) or number >= len(loop.outputs):
        return None
    _, _, _, _, *sizes = node.head.key[-1]
    if number < count:
        return _with(terms, node, (), (), fact)
    return _with(
        terms, node, loop.outputs[number : number + 1], tuple(sizes[number - count :][:1]), fact
    )


def _with(
    terms: Terms, node: Node, rows: tuple[int, ...], sizes: tuple[object, ...], fact: Fact
) -> int:
    """Loop with the same states and some scan outputs."""
    loop, (name, count, first, *_) = parts(node), node.head.key[-1]
    outputs = (*loop.outputs[: states_of(node)], *rows)
    width = len(outputs) - (node.head.name == "Loop")
    head = node.head.changed(**dict.fromkeys(_AXES))
    head = head._replace(outputs=width, key=((name, count, first, len(outputs), *sizes),))
    args = (*loop.operands, *loop.variables, *outputs)
    return terms.add(head, args, fact, width - 1 if rows else node.output)


def loop_as_scan(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Take a Loop that reads rows of tensors as a Scan of them.

    It has no states, its condition always holds, each tensor has as many rows as there are
    iterations, and nothing else reads the number of the iteration.
    """
    loop, level = parts(node), level_of(terms, node)
    limit, condition = (*loop.operands, ABSENT, ABSENT)[:2]
    (count,) = (sizes_in(terms, limit) or (None,))[:1]
    # A condition of the body that is its variable is a constant by `known-variables`.
    ends = [loop.outputs[0], *([condition] if condition != ABSENT else [])]
    tensors = [terms.tensor(each) for each in ends]
    holds = all(each is not None and each.size == 1 and each.numpy().all() for each in tensors)
    is_plain = len(loop.variables) == 2 and terms.fact(loop.variables[0]).shape == ()
    if count is None or not (holds and is_plain) or len(loop.operands) > 2:
        return None
    read = _rows_of(terms, node, count)
    rows = {}
    for place, operand in enumerate(sorted({*read.values()})):
        elem_type, shape = terms.fact(operand)
        row = Fact(elem_type, (shape or ())[1:])
        rows[operand] = terms.add(Head("variable", key=(level, place, row, "")), fact=row)
    replaced = {term: rows[operand] for term, operand in read.items()}
    outputs = values_in(terms, loop, loop.outputs[1:], replaced) if rows else None
    if outputs is None:
        return None
    head = head_of("Scan", "", 11, (), len(outputs)).changed(num_scan_inputs=len(rows))
    mark = "Scan body", len(rows), len(rows), len(outputs), *node.head.key[-1][4:]
    args = *rows, *rows.values(), *outputs
    return terms.add(head._replace(key=(mark,)), args, fact, node.output)


def _rows_of(terms: Terms, node: Node, count: Dim) -> dict[int, int]:
    """Rows of an iteration in the body of a Loop, with their tensors."""
    loop, level, read = parts(node), level_of(terms, node), dict[int, int]()
    visited, stack = {ABSENT}, list(loop.outputs[1:])
    while stack:
        at = stack.pop()
        head, args, *_ = terms.nodes[at] if at not in visited else (Head(""), ())
        visited.add(at)
        is_row = head.name == "Gather" and head.version and not head.integer("axis")
        if is_row and terms.find(args[1]) == terms.find(loop.variables[0]):
            shape = terms.fact(args[0]).shape
            if shape and shape[0] == count and terms.is_closed(args[0], level):
                read[at] = args[0]
        stack += () if at in read else args
    return read


def row_by_row(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Move the last operator of a row out of a Scan."""
    loop, count = parts(node), states_of(node)
    if node.head.name != "Scan" or not _is_plain(node.head) or node.output < count:
        return None
    row, inputs = loop.outputs[node.output], loop.operands[count:]
    dims = [dim for each in inputs for dim in (terms.fact(each).shape or (None,))[:1]]
    shape = terms.outside(terms.fact(row), level_of(terms, node)).shape
    _, _, _, _, *sizes = node.head.key[-1]
    is_odd = bool(sizes) and sizes[node.output - count] != shape
    if is_odd or not dims or dims[0] is None or shape is None:
        return None
    whole = Fact(terms.fact(row).elem_type, (dims[0], *shape))
    for variable, operand in zip(loop.variables[count:], inputs, strict=True):
        if terms.find(variable) == terms.find(row) and terms.fact(operand).shape == whole.shape:
            return operand
    for member in terms.members(row):
        each = terms.nodes[member]
        derived = _moved_out(terms, node, each, whole)
        if derived is not None:
            return derived
    return None


def _moved_out(terms: Terms, node: Node, each: Node, whole: Fact) -> int | None:
    """Operator on scan outputs whose rows are its operands."""
    shape, level = whole.shape or (), level_of(terms, node)
    rank, dim, args = len(shape) - 1, shape[0], list[int]()
    head = _head(terms, each, dim)
    is_product = each.head.name == "MatMul"
    ranks = [len(terms.fact(a).shape or ()) for a in each.args] if is_product else []
    # A row times one matrix; several matrices would give rows and matrices in the other order.
    is_row = ranks == [1, 2] and terms.is_closed(each.args[1], level)
    if head is None or (is_product and min(ranks) < 2 and not is_row):
        return None
    for place, arg in enumerate(each.args):
        own = terms.outside(terms.fact(arg), level).shape
        if own is None:
            return None
        if terms.is_closed(arg, level):
            numbers = terms.numbers(arg) if each.head.name.startswith("Reduce") else None
            if numbers is not None and place:
                arg = terms.constant(np.array([n + (n >= 0) for n in numbers], np.int64))
            args.append(arg)
            continue
        if place and head.name not in (*SINGLE, "MatMul"):
            return None
        is_known = all(isinstance(size, int) for size in own)
        is_sized = isinstance(dim, int) and dim > 0
        if not is_known and not is_sized:
            return None
        part = Fact(terms.fact(arg).elem_type, (dim, *own))
        args.append(_with(terms, node, (arg,), () if is_sized else (own,), part))
        more = rank - len(own) if head.name in SINGLE or is_product else 0
        if more:
            axes = terms.constant(np.arange(1, more + 1, dtype=np.int64))
            args[-1] = apply(terms, "Unsqueeze", args[-1], axes)
    same = (
        head.name == "moved" or fact_of_output(terms, head, tuple(args), each.output).shape == shape
    )
    return terms.add(head, tuple(args), whole, each.output) if same else None


def _head(terms: Terms, each: Node, dim: Dim) -> Head | None:
    """Head of an operator that has one more axis before those of its operands."""
    head, axis = each.head, each.head.attribute("axis")
    if head.name == "moved":
        move = in_rows(head.key, terms.fact(each.args[0]).shape, dim)
        return None if move is None else head._replace(key=move)
    if head.name in _ALONG and head.version >= 13:
        return head.changed(axis=axis + (axis >= 0))
    is_reduction = head.name.startswith("Reduce") and head.version >= 13
    return head if head.name in (*SINGLE, "MatMul") or is_reduction else None
