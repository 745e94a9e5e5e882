"""Rows of loops: those of a function of rows are the function of all rows.

y in Loop (n, true, h) { s = Tanh (h + x[i]), y = s * c }     Mul (s in Loop (...) { ... }, c)
"""

# A Scan is a Loop first. A step moves one operator of a row out of the body, or all that needs no
# state. The sizes of an empty result are those that the body declares.

from __future__ import annotations

import numpy as np
import onnx

from .inference import Args, fact_of_output
from .iterations import MOST, has_one_reading, has_scalar, level_of, states_of, truth, values_in
from .meaning import head_of
from .movement import SINGLE, in_rows
from .polynomials import Dim
from .rows import apply
from .sizes import sizes_in
from .terms import ABSENT, UNKNOWN, Fact, Head, Node, Terms, parts

_OF_INPUTS = ("scan_input_axes", "scan_input_directions")
_ROWS = ("scan_output_axes", "scan_output_directions")
_INT64, _BOOL = onnx.TensorProto.INT64, onnx.TensorProto.BOOL
ALONG = {"ArgMax", "ArgMin", "LayerNormalization", "LogSoftmax", "RMSNormalization", "Softmax"}
"""Operators along an axis that an attribute names."""


def loop_of(terms: Terms, term: int, *, is_short: bool = False) -> object:
    """Parts of a loop that determine the variables of its body: no scan outputs."""
    # A loop of the original alone may stand for one of fewer states: the nodes of the rewrite then
    # read states of both. A state that both dropped could be another one in each.
    if not terms.variables(term):
        return terms.find(term)
    node = terms.nodes[_written(terms, term, terms.shorter if is_short else {})]
    states = parts(node)
    ends = (*states.operands, *states.variables, *states.outputs[: states_of(node)])
    roots = [n if n == ABSENT else terms.find(n) for n in ends]
    return node.head.name, node.head.attributes, *roots


def _written(terms: Terms, term: int, more: dict[int, int]) -> int:
    while (other := terms.written.get(term, more.get(term))) is not None:
        term = other
    return term


def rows_of_any_size(terms: Terms, term: int) -> list[int]:
    """Rows that may differ in size by iteration: a runtime may fail to stack them."""
    node = terms.nodes[term]
    rows = parts(node).outputs[states_of(node) :]
    shapes = [terms.outside(terms.fact(row), level_of(terms, node)).shape for row in rows]
    return [terms.find(r) for r, s in zip(rows, shapes, strict=True) if s is None or None in s]


def scan_as_loop(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Take a Scan as the Loop that reads the rows of its inputs."""
    loop, head, count, level = parts(node), node.head, states_of(node), level_of(terms, node)
    inputs, place, width = loop.operands[count:], node.output - count, len(loop.outputs)
    axes, flags = (head.integers(name) or [0] * len(inputs) for name in _OF_INPUTS)
    axis, is_back = ((head.integers(n) or [0] * width)[place] if place >= 0 else 0 for n in _ROWS)
    inputs = tuple([_moved_axis(terms, x, k, 0) for x, k in zip(inputs, axes, strict=True)])
    sizes = [(terms.fact(each).shape or ())[:1] for each in inputs]
    row = terms.fact((loop.outputs[node.output :] or (ABSENT,))[0])
    # Scan 8 has another batch of rows; scan inputs of different lengths fail at run time.
    is_odd = head.version < 9 or len({*sizes}) != 1 or not sizes[0] or min(axis, *axes) < 0
    if is_odd or node.output >= width or axis > len(row.shape or ()):
        return None
    size = apply(terms, "Gather", apply(terms, "Shape", inputs[0]), _numbers(terms, 0))
    size = _numbers(terms, sizes[0][0]) if isinstance(sizes[0][0], int) else size
    keys = (0, Fact(_INT64, ()), ""), (1, Fact(_BOOL, ()), "")
    keys += tuple([(k + 2, *terms.nodes[v].head.key[2:]) for k, v in enumerate(loop.variables)])
    variables = [terms.add(Head("variable", key=(level, *k)), fact=k[1]) for k in keys[: 2 + count]]
    ends = [_numbers(terms, n, 1) for n in (-1, -(1 << 63), 0, -1)]
    rows = zip(inputs, flags, strict=True)
    turned = [apply(terms, "Slice", x, *ends) if is_turned else x for x, is_turned in rows]
    values = [*variables[2:], *[apply(terms, "Gather", x, variables[0], axis=0) for x in turned]]
    ran = terms.ran.get((*loop.variables, *loop.outputs), [])
    every = (*loop.outputs, *[n for term, around in ran for n in (term, *[k for k, _ in around])])
    built = values_in(terms, loop, every, dict(zip(loop.variables, values, strict=True)))
    if built is None:
        return None
    new, true = dict(zip(every, built, strict=True)), terms.constant(np.array(True))
    outputs, find = (true, *built[: len(loop.outputs)]), terms.find
    ran = [(find(new[n]), tuple([(find(new[k]), name) for k, name in rest])) for n, rest in ran]
    others = terms.ran.setdefault((*variables, *outputs), ran)
    if [(find(n), tuple([(find(k), name) for k, name in rest])) for n, rest in others] != ran:
        return None  # another loop with these outputs has other dead nodes
    mark = "Loop body", len(variables), len(variables), len(outputs), *head.key[-1][4:]
    head = head_of("Loop", "", 11, (), head.outputs)._replace(key=(mark,))
    own, args = terms.add(*node[:2], fact, node.output), (size, true, *loop.operands[:count])
    inner = fact if not axis else row._replace(shape=(sizes[0][0], *(row.shape or ())))
    derived = terms.add(
        head, (*args, *variables, *outputs), terms.outside(inner, level), node.output
    )
    terms.implied += [(own, derived), (derived, own)]
    derived = apply(terms, "Slice", derived, *ends) if is_back else derived
    return _moved_axis(terms, derived, 0, axis)


def _moved_axis(terms: Terms, term: int, start: int, end: int) -> int:
    """Term with an axis in another place."""
    order = [*range(len(terms.fact(term).shape or ()))]
    order[end:end] = [order.pop(start)] if 0 <= start < len(order) else []
    return apply(terms, "Transpose", term, perm=order) if start != end else term


def _numbers(terms: Terms, number: int, *shape: int) -> int:
    return terms.constant(np.full(shape, number, np.int64))


def row_alone(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Drop the scan outputs of other rows, and the last states that nothing else needs."""
    number, place = node.output + 1, node.output + 1 - states_of(node)
    sizes = tuple(node.head.key[-1][4:][place:][: place >= 0])
    derived = _with(terms, node, parts(node).outputs[number:][: place >= 0], sizes, fact)
    if derived != (own := terms.add(*node[:2], fact, node.output)):
        terms.shorter[own] = derived  # in both, the same iterations run
    return derived


def _with(terms: Terms, node: Node, rows: Args, sizes: tuple[object, ...], fact: Fact) -> int:
    """Loop with some scan outputs, and the first states that it needs."""
    loop, count, level = parts(node), 1 if rows else node.output + 2, level_of(terms, node)
    # Later states need no earlier ones to keep their places.
    while count < states_of(node) and not all(
        terms.is_closed(each, level, *loop.variables[: 1 + count])
        for each in (*loop.outputs[:count], *rows)
    ):
        count += 1
    outputs, first = (*loop.outputs[:count], *rows), (*loop.operands, ABSENT)[: 1 + count]
    mark = node.head.key[-1][0], 1 + count, 1 + count, len(outputs), *sizes
    head = node.head._replace(outputs=len(outputs) - 1, key=(mark,))
    args = (*first, *loop.variables[: 1 + count], *outputs)
    return terms.add(head, args, fact, len(outputs) - 2 if rows else node.output)


def _rows(terms: Terms, node: Node, row: int, count: Dim) -> int | None:
    """Rows of a Loop, of sizes that no iteration changes."""
    elem_type, shape = terms.outside(terms.fact(row), level_of(terms, node))
    if shape is None or None in shape:
        return None
    sizes = () if isinstance(count, int) and count > 0 else (shape,)
    return _with(terms, node, (row,), sizes, Fact(elem_type, (count, *shape)))


def _appended(terms: Terms, node: Node) -> tuple[int, int] | None:
    """First value of a list that a Loop returns, and the rows of its iterations."""
    loop, place = parts(node), node.output + 1
    count = _count(terms, node) if place < states_of(node) else None
    for each in terms.operators(loop.outputs[place], "SequenceInsert") if count is not None else ():
        own, start = loop.variables[place + 1], loop.operands[place + 1]
        if len(each.args) == 2 and terms.find(each.args[0]) == terms.find(own):
            rows = _rows(terms, node, each.args[1], count)
            return None if rows is None else (start, rows)
    return None


def _joined(terms: Terms, term: int, axis: int) -> int | None:
    """Term with one axis in the place of two; None where sizes are unknown."""
    shape = terms.fact(term).shape or ()
    sizes = [n for n in (*shape[:axis], -1, *shape[axis + 2 :]) if isinstance(n, int) and n]
    target = terms.constant(np.array(sizes, np.int64))
    return apply(terms, "Reshape", term, target) if len(sizes) == len(shape) - 1 > 0 else None


_SEQUENCES = ("SequenceConstruct", "SequenceEmpty", "SequenceInsert")


def elements_of_list(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Take what reads a list as what reads elements, and rows of loops."""
    head, at, every, lines = node.head, node.args[0], terms.nodes, list[int | None]()
    axis, is_new = head.integer("axis"), bool(head.integer("new_axis"))
    while at != ABSENT and len(lines) <= MOST:
        loops = [every[n] for n in terms.members(at) if every[n].head.name == "Loop"]
        (own,) = [*filter(None, [_appended(terms, n) for n in loops]), None][:1]
        (each,) = [*terms.operators(at, *_SEQUENCES), None][:1]
        if own is not None and head.name != "SequenceAt":
            at, moved = own[0], _moved_axis(terms, own[1], 0, axis)
            lines.append(moved if is_new else _joined(terms, moved, axis))
            continue
        is_whole = own is not None and not lines and any(terms.operators(own[0], "SequenceEmpty"))
        if own is not None and is_whole and terms.fact(node.args[1]).shape == ():
            return apply(terms, "Gather", own[1], node.args[1])
        is_insert = each is not None and each.head.name == "SequenceInsert"
        if each is None or (is_insert and len(each.args) > 2):
            return None
        elements, at = (each.args[1:], each.args[0]) if is_insert else (each.args[::-1], ABSENT)
        place = _numbers(terms, axis, 1)
        lines += [apply(terms, "Unsqueeze", e, place) if is_new else e for e in elements]
    whole = [line for line in lines[::-1] if line is not None]
    if at != ABSENT or axis < 0 or not 0 < len(lines) == len(whole):
        return None
    if head.name == "SequenceAt":
        places = terms.numbers(node.args[1])
        return whole[places[0]] if places and -len(whole) <= places[0] < len(whole) else None
    return apply(terms, "Concat", *whole, axis=axis) if whole[1:] else whole[0]


def source_of(terms: Terms, node: Node, term: int) -> tuple[int, int] | None:
    """Tensor and axis of a Gather that reads an iteration of a Loop, in range."""
    (head, args, *_), loop = terms.nodes[term], parts(node)
    count, axis = _size(terms, loop.operands[0]), head.integer("axis")
    shape = terms.fact(args[0]).shape if head.name == "Gather" and axis >= 0 else None
    is_row = (shape or ())[axis:][:1] == (count,) != (None,)
    is_row = is_row and terms.find(args[1]) == terms.find(loop.variables[0])
    return (args[0], axis) if is_row and terms.is_closed(args[0], level_of(terms, node)) else None


def _range(terms: Terms, limit: int) -> int:
    """Numbers of the iterations below a limit."""
    last = limit if sizes_in(terms, limit) else apply(terms, "Max", limit, _numbers(terms, 0))
    return apply(terms, "Range", _numbers(terms, 0), last, _numbers(terms, 1))


def _size(terms: Terms, limit: int) -> Dim:
    """Size of what all iterations below a limit compute; None if it is unknown."""
    sizes = sizes_in(terms, limit)
    if not sizes and terms.fact(limit) == (_INT64, ()):
        sizes = terms.fact(_range(terms, limit)).shape
    (size,) = (sizes or (None,))[:1]
    return size if not isinstance(size, int) or size >= 0 else None


def _count(terms: Terms, node: Node) -> Dim:
    """Number of the iterations of a Loop whose condition always holds; None if it is unknown."""
    loop, (limit, condition) = parts(node), (*parts(node).operands, ABSENT, ABSENT)[:2]
    count = _size(terms, limit)
    # A condition of the body that is its variable is a constant by `known-variables`.
    ends = [loop.outputs[0], *([condition] if condition != ABSENT else [])]
    is_plain = len(loop.variables) > 1 and terms.fact(loop.variables[0]).shape == ()
    return count if is_plain and all(truth(terms, each) for each in ends) else None


def known_variables(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Write what is known in each iteration in its place."""
    # An iteration of a Loop runs where its condition holds. What keeps its value has the first one.
    # What depends on the number of the iteration alone is the row of what all iterations compute.
    loop, level, count = parts(node), level_of(terms, node), _count(terms, node)
    own, values = terms.add(*node[:2], fact, node.output), {v: v for v in loop.variables}
    if has_scalar(terms, loop) and has_one_reading(terms, loop):
        values[loop.variables[1]] = terms.constant(np.array(True))
    states = zip(loop.operands[2:], loop.variables[2:], loop.outputs[1:], strict=False)
    values |= {v: operand for operand, v, end in states if terms.find(v) == terms.find(end)}
    stack = [(n, True) for n in loop.outputs[1:] if count is not None]
    visited = {ABSENT, *loop.variables[:1]}
    while stack:
        at, is_sure = stack.pop()
        if at in visited or terms.is_closed(at, level):
            continue
        visited.add(at)
        if not terms.is_closed(at, level, loop.variables[0]):
            is_sure &= terms.nodes[at].head.key is None  # no part of a branch, or of a loop inside
            stack += [(arg, is_sure) for arg in terms.nodes[at].args]
        elif (source_of(terms, node, at) or (at, 1))[1] and (rows := _rows(terms, node, at, count)):
            values |= {at: apply(terms, "Gather", rows, loop.variables[0])} if rows != own else {}
            terms.implied += [(own, rows)] if is_sure else []
    outputs = values_in(terms, loop, loop.outputs, values)
    if outputs is None:
        return None
    args = (*loop.operands, *loop.variables, *outputs)
    derived = terms.add(node.head, args, fact, node.output)
    if args != node.args and own != (end := _written(terms, derived, {})):
        terms.written[own] = end
    return None if derived == own else derived


def row_by_row(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Move the last operator of a row out of a Loop."""
    loop, count, size = parts(node), states_of(node), _count(terms, node)
    row = (loop.outputs[max(node.output + 1, count) :] or (ABSENT,))[0]
    elem_type, shape = terms.outside(terms.fact(row), level_of(terms, node))
    sizes = node.head.key[-1][4:][node.output + 1 - count :][:1]
    is_odd = node.output + 1 < count or sizes not in ((), (shape,))
    if shape is None or None in (size, *shape) or is_odd:
        return None
    if terms.find(row) == terms.find(loop.variables[0]):
        return _range(terms, loop.operands[0])
    for member in terms.members(row):
        source, whole = source_of(terms, node, member), Fact(elem_type, (size, *shape))
        if source is not None:
            return _moved_axis(terms, *source, 0)
        derived = _moved_out(terms, node, terms.nodes[member], whole)
        if derived is not None:
            return derived
    return None


def _moved_out(terms: Terms, node: Node, each: Node, whole: Fact) -> int | None:
    """Operator on scan outputs whose rows are its operands."""
    shape, level = whole.shape or (), level_of(terms, node)
    rank, dim, args, stacks = len(shape) - 1, shape[0], list[int](), list[int]()
    head, is_product = _head(terms, each, dim, level), each.head.name == "MatMul"
    ranks = [len(terms.fact(a).shape or ()) for a in each.args] if is_product else []
    # A row times one matrix; several matrices would give rows and matrices in the other order.
    is_row = ranks == [1, 2] and terms.is_closed(each.args[1], level)
    if head is None or (is_product and min(ranks) < 2 and not is_row):
        return None
    for place, arg in enumerate(each.args):
        own = terms.fact(arg).shape or ()
        if terms.is_closed(arg, level):
            numbers = terms.numbers(arg) if each.head.name.startswith("Reduce") else None
            if numbers is not None and place:
                arg = terms.constant(np.array([n + (n >= 0) for n in numbers], np.int64))
            args.append(arg)
            continue
        rows = _rows(terms, node, arg, dim)
        if rows is None or (place and head.name not in (*SINGLE, "Gather", "MatMul")):
            return None
        args.append(rows)
        stacks.append(rows)
        more = rank - len(own) if head.name in SINGLE or is_product else 0
        if more:
            axes = terms.constant(np.arange(1, more + 1, dtype=np.int64))
            args[-1] = apply(terms, "Unsqueeze", args[-1], axes)
    same = fact_of_output(terms, head, tuple(args), each.output).shape == shape
    if not stacks or not (same or head.name == "moved"):
        return None
    derived = terms.add(head, tuple(args), whole, each.output)
    # Where the loop has a value, so have operators of its row, and a Gather fails by its rows only.
    is_run = head.name == "Gather" or (isinstance(dim, int) and dim > 0)
    if head.version and each == terms.nodes[parts(node).outputs[node.output + 1]]:
        loop = terms.add(*node[:2], UNKNOWN, node.output)
        terms.implied += [(loop, n) for n in (derived, *stacks)[not is_run :]]
    return derived


def _head(terms: Terms, each: Node, dim: Dim, level: int) -> Head | None:
    """Head of an operator that has one more axis before those of its operands."""
    head, axis = each.head, each.head.attribute("axis")
    if head.name == "moved":
        move = in_rows(head.key, terms.fact(each.args[0]).shape, dim)
        return None if move is None else head._replace(key=move)
    if head.name in ALONG and head.version >= 13:
        return head.changed(axis=axis + (axis >= 0))
    is_same = head.name.startswith("Reduce") and head.version >= 13
    is_same |= head.name == "Gather" and not axis and terms.is_closed(each.args[0], level)
    return head if head.name in (*SINGLE, "MatMul") or is_same else None
