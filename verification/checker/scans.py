"""Rows of loops: those of a function of rows are the function of all rows."""

# y in Loop (n, true, h) { s = Tanh (h + x[i]), y = s * c }     Mul (s in Loop (...) { ... }, c)
# Loop (3, true, x) { s = Tanh (s) }                            Tanh (Tanh (Tanh (x)))

# A step moves one operator of a row out of the body, or all that needs no state. The sizes of an
# empty result are those that the body declares.
#
# A body is terms over variables. An iteration has values in their place, and what follows from
# constants is computed on the way, since the condition of a Loop and the branches of an If may.

from collections.abc import Collection, Iterator, Sequence
from itertools import product

import numpy as np
import onnx

from ...ir import Array
from .folding import MOST_ELEMENTS, fold, is_real, rounds
from .inference import common, fact_of_output
from .meaning import BRANCHES
from .movement import SINGLE, in_rows
from .polynomials import Dim, multiply
from .rows import apply, build, integers
from .sizes import sizes_in
from .terms import ABSENT, COMMUTATIVE, UNKNOWN, Args, Fact, Head, Node, Parts, Terms, names, parts

_LISTS = names("SequenceConstruct SequenceEmpty SequenceInsert")
# Operators on the rows of the first axis, each on its own.
BATCHED = names("AveragePool Conv ConvTranspose GlobalAveragePool GlobalMaxPool MaxPool")
# Operands that number axes.
_AXES = {"CumSum": 1, "Slice": 3}
_INT64, _BOOL, _FLOATS = onnx.TensorProto.INT64, onnx.TensorProto.BOOL, (1, 10, 11)
# Operators along an axis that an attribute names.
ALONG = names("ArgMax ArgMin LayerNormalization LogSoftmax RMSNormalization Softmax TopK")


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


def turned(terms: Terms, term: int, is_back: int) -> int:
    """Term with the rows of its first axis backwards, if they are."""
    ends = [integers(terms, [n]) for n in (-1, -(1 << 63), 0, -1)]
    return apply(terms, "Slice", term, *ends) if is_back else term


def moved_axis(terms: Terms, term: int, start: int, end: int) -> int:
    """Term with an axis in another place; the term itself where no axes are known."""
    order = [*range(len(terms.fact(term).shape or ()))]
    order[end:end] = [order.pop(start)] if 0 <= start < len(order) else []
    return apply(terms, "Transpose", term, perm=order) if order and start != end else term


def row_alone(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Drop the scan outputs of other rows, and the last states that nothing else needs."""
    number, place = node.output + 1, node.output + 1 - states_of(node)
    sizes = tuple(node.head.key[-1][4:][place:][: place >= 0])
    derived = _with(terms, node, parts(node).outputs[number:][: place >= 0], sizes, fact)
    if derived is not None and derived != (own := terms.add(*node[:2], fact, node.output)):
        new, count = parts(terms.nodes[derived]), states_of(terms.nodes[derived])
        ends = new.operands, new.variables, new.outputs[:count]
        # In both the same iterations run, and the same variable is the same state.
        if all(end == old[: len(end)] for end, old in zip(ends, parts(node), strict=True)):
            terms.shorter[own] = derived
    return derived


def _with(terms: Terms, node: Node, rows: Args, sizes: Sequence[object], fact: Fact) -> int | None:
    """Loop with some scan outputs, and the states that it needs, numbered anew."""
    loop, level, needs = parts(node), level_of(terms, node), {0} if rows else {0, node.output + 1}
    for _ in loop.variables:  # a state that another one needs may need further ones
        ends = [*rows, *[loop.outputs[k] for k in needs]]
        free = {each for end in ends for each in terms.unbound(end, level)}
        is_odd = not free <= {*loop.variables}  # a draw, or a size of unknown origin
        needs |= {k for k, v in enumerate(loop.variables[1:]) if is_odd or v in free}
    order = sorted(needs)
    old = [loop.variables[0], *[loop.variables[k + 1] for k in order]]
    new = [_variable(terms, v, k) for k, v in enumerate(old)]
    ends = [*[loop.outputs[k] for k in order], *rows]
    if new != old:
        ends = values_in(terms, loop, (*ends,), dict(zip(old, new, strict=True))) or []
    if not ends:
        return None
    mark = node.head.key[-1][0], len(old), len(old), len(ends), *sizes
    head = node.head._replace(outputs=len(ends) - 1, key=(mark,))
    operands = [loop.operands[0], *[(*loop.operands, ABSENT)[k + 1] for k in order]]
    number = len(ends) - 2 if rows else order.index(node.output + 1) - 1
    return terms.add(head, (*operands, *new, *ends), fact, number)


def _variable(terms: Terms, variable: int, number: int) -> int:
    """Variable of another number."""
    level, _, *rest = terms.nodes[variable].head.key
    return terms.add(Head("variable", key=(level, number, *rest)), fact=rest[0])


def _rows(terms: Terms, node: Node, row: int, count: Dim) -> int | None:
    """Rows of a Loop, of sizes that no iteration changes."""
    elem_type, shape = terms.outside(terms.fact(row), level_of(terms, node))
    if shape is None or None in shape:
        return None
    sizes = () if isinstance(count, int) and count > 0 else (shape,)
    return _with(terms, node, (row,), sizes, Fact(elem_type, (count, *shape)))


def _changes(terms: Terms, node: Node, state: int, *joins: str) -> Iterator[tuple[str, int, int]]:
    """Joins of a state with rows: the operator, the first state, rows of all iterations."""
    # The join without a name takes the row in place of the state.
    loop, size, level = parts(node), _count(terms, node), level_of(terms, node)
    if size is None or state + 2 >= len(loop.operands):
        return
    start, own, end = loop.operands[state + 2], loop.variables[state + 2], loop.outputs[state + 1]
    pairs = [("", end)] if "" in joins else []
    for head, args, *_ in terms.operators(end, *joins):
        is_plain = head.version > 6 and not head.integer("axis")
        is_plain &= len(args) == 2 and ABSENT not in args
        sides = [args, args[::-1]][: is_plain * (1 + (head.name in {*COMMUTATIVE, *FOLDS}))]
        pairs += [(head.name, row) for arg, row in sides if terms.find(arg) == terms.find(own)]
    for name, row in pairs:
        is_row = name == "SequenceInsert" or terms.is_closed(row, level, loop.variables[0])
        rows = _rows(terms, node, row, size) if is_row else None
        yield from [] if rows is None else [(name, start, rows)]


def _joined(terms: Terms, term: int, axis: int) -> int | None:
    """Term with one axis in the place of two; None where sizes are unknown."""
    shape = terms.fact(term).shape or ()
    whole = n if isinstance(n := multiply(*shape[axis : axis + 2]), int) else -1
    sizes = [n for n in (*[0] * axis, whole, *shape[axis + 2 :]) if isinstance(n, int)]
    others = *shape[: axis * (whole < 0)], *sizes[axis:]
    fits = len(sizes) == len(shape) - 1 > axis and all(isinstance(n, int) and n for n in others)
    return apply(terms, "Reshape", term, integers(terms, sizes)) if fits else None


def elements_of_list(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Take what reads a list as what reads elements, and rows of loops."""
    head, at, lines = node.head, node.args[0], list[int | None]()
    axis, is_new = head.integer("axis"), bool(head.integer("new_axis"))
    while at != ABSENT and len(lines) <= MOST:
        own = rows_of_list(terms, at)
        (each,) = [*terms.operators(at, *_LISTS), None][:1]
        if own is not None and head.name != "SequenceAt":
            at, moved = own[0], moved_axis(terms, own[1], 0, axis)
            lines.append(moved if is_new else _joined(terms, moved, axis))
            continue
        is_whole = own is not None and not lines and any(terms.operators(own[0], "SequenceEmpty"))
        if own is not None and is_whole and terms.fact(node.args[1]).shape == ():
            return apply(terms, "Gather", own[1], node.args[1])
        is_insert = each is not None and each.head.name == "SequenceInsert"
        if each is None or (is_insert and len(each.args) > 2):
            return None
        elements, at = (each.args[1:], each.args[0]) if is_insert else (each.args[::-1], ABSENT)
        place = integers(terms, [axis])
        lines += [apply(terms, "Unsqueeze", e, place) if is_new else e for e in elements]
    whole = [line for line in lines[::-1] if line is not None]
    if at != ABSENT or axis < 0 or not 0 < len(lines) == len(whole):
        return None
    if head.name == "SequenceAt":
        places = terms.numbers(node.args[1])
        return whole[places[0]] if places and -len(whole) <= places[0] < len(whole) else None
    return apply(terms, "Concat", *whole, axis=axis) if whole[1:] else whole[0]


def rows_of_list(terms: Terms, term: int) -> tuple[int, int] | None:
    """List, empty but in a loop, and the rows that are added to it."""
    for node in [terms.nodes[member] for member in terms.members(term)]:
        rows, axis, name = None, node.head.integer("axis"), node.head.name
        if name == "SplitToSequence" and 0 <= axis < len(terms.fact(node.args[0]).shape or ()):
            rows, place = moved_axis(terms, node.args[0], axis, 0), integers(terms, [axis + 1])
            rows = apply(terms, "Unsqueeze", rows, place) if node.head.integer("keepdims") else rows
            rows = None if node.args[1:] else rows
        if rows is not None:
            return apply(terms, "SequenceEmpty"), rows
        lists = _changes(terms, node, node.output, "SequenceInsert") if name == "Loop" else ()
        for _, start, more in lists:
            return start, more
    return None


def source_of(terms: Terms, node: Node, term: int) -> tuple[int, int] | None:
    """Tensor and axis of a Gather that reads an iteration of a Loop, in range."""
    (head, args, *_), loop = terms.nodes[term], parts(node)
    count, axis = _size(terms, loop.operands[0]), head.integer("axis")
    shape = terms.fact(args[0]).shape if head.name == "Gather" and axis >= 0 else None
    is_row = (shape or ())[axis:][:1] == (count,) != (None,)
    is_row = is_row and terms.find(args[1]) == terms.find(loop.variables[0])
    return (args[0], axis) if is_row and terms.is_closed(args[0], level_of(terms, node)) else None


def _last(terms: Terms, limit: int) -> int:
    """Number of the iterations below a limit."""
    return limit if sizes_in(terms, limit) else apply(terms, "Max", limit, integers(terms, 0))


def _range(terms: Terms, limit: int) -> int:
    """Numbers of the iterations below a limit."""
    return apply(terms, "Range", integers(terms, 0), _last(terms, limit), integers(terms, 1))


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


def _counter(terms: Terms, node: Node, place: int) -> dict[int, int]:
    """Value of a constant state or a counter in each iteration, by its variable."""
    loop, level = parts(node), level_of(terms, node)
    start, own, end = loop.operands[place], loop.variables[place], loop.outputs[place - 1]
    if terms.find(own) == terms.find(end):
        return {own: start}
    same = terms.fact(end) == (_INT64, terms.fact(start).shape) != (_INT64, None)
    for each in terms.operators(end, "Add") if same else ():
        for arg, step in (each.args, each.args[::-1]):
            if terms.find(arg) == terms.find(own) and terms.is_closed(step, level):
                steps = apply(terms, "Mul", loop.variables[0], step)
                return {own: apply(terms, "Add", start, steps)}
    return {}


def known_variables(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Write what is known in each iteration in its place."""
    # An iteration of a Loop runs where its condition holds. What keeps its value has the first one.
    # What depends on the number of the iteration alone is the row of what all iterations compute.
    loop, level, count = parts(node), level_of(terms, node), _count(terms, node)
    own, values = terms.add(*node[:2], fact, node.output), {v: v for v in loop.variables}
    # By ONNX the body's condition is ignored where the Loop has none; onnxruntime 1.32 obeys it.
    again, condition = loop.outputs[0], (*loop.operands, ABSENT, ABSENT)[1]
    goes_on = condition != ABSENT or bool(truth(terms, again))
    for each in loop.variables[1:2]:
        if terms.fact(each).shape == () and (goes_on or terms.find(each) == terms.find(again)):
            values[each] = terms.constant(np.array(True))
    for place in range(2, len(loop.operands)):
        values |= _counter(terms, node, place)
    values |= _blocks(terms, node, count)
    stack = [(n, True) for n in loop.outputs[1:] if count is not None]
    visited = {ABSENT, *loop.variables[:1], *values.keys() - {*loop.variables}}
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
            terms.implied += [(own, rows, ABSENT)] if is_sure else []
    outputs = values_in(terms, loop, loop.outputs, values)
    if outputs is None:
        return None
    args = (*loop.operands, *loop.variables, *outputs)
    derived = terms.add(node.head, args, fact, node.output)
    terms.implied += [(at, new, own) for at, new in values.items() if at != new]
    if args != node.args and own != (end := _written(terms, derived, {})):
        terms.written[own] = end
    return None if derived == own else derived


def _blocks(terms: Terms, node: Node, count: Dim) -> dict[int, int]:
    """Slices in a fixed number of iterations, as rows of all their parts."""
    # Slice (x, 2 i, 2 i + 2)     Gather (Gather (x, [[0, 1], [2, 3]]), i)
    (variable, *_), level, blocks = parts(node).variables, level_of(terms, node), dict[int, int]()
    numbers = range(count if isinstance(count, int) and count <= MOST else 0)
    inner = [_Values(terms, {variable: integers(terms, k)}) for k in numbers]
    for at, (head, args, *_) in enumerate([*terms.nodes] if inner else ()):
        axes = terms.numbers(args[3]) if head.name == "Slice" and len(args) == 4 else None
        is_row = axes is not None and len(axes) == 1 and terms.is_closed(args[0], level)
        is_row = is_row and all(terms.is_closed(arg, level, variable) for arg in args[1:])
        if not axes or min(axes) < 0 or not is_row or terms.is_closed(at, level):
            continue
        (size,) = (*(terms.fact(args[0]).shape or ())[axes[0] :], None)[:1]
        ends = [[n for a in args[1:3] for n in terms.numbers(x.into(a)) or ()] for x in inner]
        fits = isinstance(size, int) and all([0, *e, size] == sorted([0, *e, size]) for e in ends)
        places = np.array([range(*each) for each in ends if fits and len(each) == 2], object)
        if places.ndim == 2 and places.size and len(places) == len(ends):
            index = terms.constant(places.astype(np.int64))
            every = apply(terms, "Gather", args[0], index, axis=axes[0])
            blocks[at] = apply(terms, "Gather", every, variable, axis=axes[0])
    return blocks


# Joins that a CumSum makes, by element types for which runtimes have one; of bool by the counts.
SUMMED = dict.fromkeys((1, 6, 7, 11), ("Add",)) | {_BOOL: ("Or",)}
_REDUCED = {"And": "ReduceMin", "Or": "ReduceMax"}
_JOINS = ("", "Concat", *_REDUCED)
# Joins of floats over the reals, in any order, with their reductions.
FOLDS = {"Add": "ReduceSum", "Max": "ReduceMax", "Min": "ReduceMin", "Mul": "ReduceProd"}


def states(terms: Terms, node: Node, fact: Fact, joins: Collection[str] = _JOINS) -> int | None:
    """Take a state that rows alone change from the states of all iterations."""
    # s in Loop (n, true, a) { s = x[i] }     Concat ([a], x) [n]
    loop, count, number, find = parts(node), states_of(node) - 1, node.output, terms.find
    row, zero, is_last = find(loop.outputs[number + 1]), integers(terms, [0]), number < count
    lines = zip(loop.variables[2:], loop.outputs[1 : 1 + count], strict=True)
    if is_last and row in (find(loop.variables[number + 2]), find(loop.operands[number + 2])):
        return loop.operands[number + 2]
    places = [number] if is_last else [k for k, e in enumerate(lines) if row in map(find, e)]
    limit = apply(terms, "Unsqueeze", _last(terms, loop.operands[0]), zero)
    place, forms = (*places, count)[0], [(node, limit)]
    forms += _thawed(terms, node, place + 1) if is_last and joins is not FOLDS else []
    ways = ((*way, last) for free, last in forms for way in _changes(terms, free, place, *joins))
    for name, start, rows, last in ways:
        own, shape = terms.fact(start).shape or (), (terms.fact(rows).shape or ())[1:]
        variable = loop.variables[place + 2]
        if name == "Concat" and last == limit and is_last and own[1:] == shape[1:]:
            whole = _joined(terms, rows, 0)
            return None if whole is None else apply(terms, name, start, whole, axis=0)
        is_sized = is_last or node.head.key[-1][4:][number - count :][:1] in ((), (shape,))
        if name == "Concat" or not is_sized or not own == shape == terms.fact(variable).shape:
            continue
        if joins is FOLDS:
            fits = is_last or (name == "Add" and row != find(variable))
            return _fold(terms, name, start, rows, is_last) if fits and fact[0] in _FLOATS else None
        every = apply(terms, "Concat", apply(terms, "Unsqueeze", start, zero), rows, axis=0)
        if name in _REDUCED and joins is _JOINS:
            every = apply(terms, "Cast", every, to=6)
            every = apply(terms, _REDUCED[name], every, zero, keepdims=0)
            return apply(terms, "Cast", every, to=9) if is_last and last == limit else None
        every = _any(terms, every) if name == "Or" else every
        every = apply(terms, "CumSum", every, integers(terms, 0)) if name == "Add" else every
        if is_last:
            every = apply(terms, "Gather", every, last, axis=0)  # of as many iterations
            terms.implied.append((terms.add(*node[:2], fact, number), every, ABSENT))
            return apply(terms, "Squeeze", every, zero)
        ends = (0, -1) if row == find(variable) else (1, (1 << 63) - 1)
        return apply(terms, "Slice", every, *[integers(terms, [n]) for n in ends], zero)
    return None


def _fold(terms: Terms, name: str, start: int, rows: int, is_last: bool) -> int:
    """Join of a first state and rows, in any order; for Add also those of the first rows."""
    zero = integers(terms, [0])
    if not is_last:
        return apply(terms, "Add", apply(terms, "CumSum", rows, integers(terms, 0)), start)
    if name == "Add":
        return apply(terms, "Add", apply(terms, "ReduceSum", rows, zero, keepdims=0), start)
    every = apply(terms, "Concat", apply(terms, "Unsqueeze", start, zero), rows, axis=0)
    joined = apply(terms, FOLDS[name], every, zero, keepdims=0)
    # Runtimes lose a NaN in a reduction, and keep it in a Max.
    flags = apply(terms, "Cast", apply(terms, "IsNaN", every), to=1)
    is_nan = apply(terms, "Cast", apply(terms, "ReduceSum", flags, zero, keepdims=0), to=_BOOL)
    nan = np.array(np.nan, onnx.helper.tensor_dtype_to_np_dtype(terms.fact(start).elem_type))
    return joined if name == "Mul" else apply(terms, "Where", is_nan, terms.constant(nan), joined)


def _any(terms: Terms, flags: int) -> int:
    """Flags that are true from the first true one on."""
    counts = apply(terms, "CumSum", apply(terms, "Cast", flags, to=7), integers(terms, 0))
    return apply(terms, "Cast", counts, to=9)


def _thawed(terms: Terms, node: Node, place: int) -> Iterator[tuple[Node, int]]:
    """Loop without frozen states, and its number of iterations before a hit."""
    # s in Loop (n, true, a) { s = Where (c, s, f (s)) }     Loop (k, true, a) { s = f (s) }
    # A hit lasts: it is a flag that an Or raises, before or after the iteration, or reads no more
    # than the states that it freezes.
    loop, find, fact, at = parts(node), terms.find, terms.fact, terms.operators
    pairs = zip(loop.variables[1:], loop.outputs[: states_of(node)], strict=False)
    lines = [*enumerate(pairs)][1:]
    ors = [(line, each.args) for _, line in lines for each in at(line[1], "Or")]
    flags = {find(n) for line, args in ors if find(line[0]) in map(find, args) for n in line}
    ends = [(k, v, each.args) for k, (v, end) in lines for each in at(end, "Where")]
    chosen = [row for row in ends if fact(row[2][0]) == (_BOOL, ())]
    for (_, _, (test, *_)), side in product(chosen, (1, 2)):
        same = [row for row in chosen if find(row[2][0]) == find(test)]
        own = {k: (v, args[3 - side]) for k, v, args in same if find(v) == find(args[side])}
        frozen = {k: n for k, (v, n) in own.items() if fact(n) == fact(v) and find(v) not in flags}
        hit = find(test if side == 1 else apply(terms, "Not", test))
        variables = [loop.variables[k + 1] for k in frozen]
        lasts = hit in flags or terms.is_closed(hit, level_of(terms, node), *variables)
        outputs = [frozen.get(k, end) for k, end in enumerate(loop.outputs)]
        free = node._replace(args=(*loop.operands, *loop.variables, *outputs))
        hits = _rows(terms, free, hit, _count(terms, free)) if lasts and place in frozen else None
        if hits is not None:
            live = apply(terms, "Not", hits if hit in flags else _any(terms, hits))
            ones = apply(terms, "Cast", live, to=7)
            yield free, apply(terms, "ReduceSum", ones, integers(terms, [0]))


def first_hit(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Count the iterations of a Loop up to the first after which its condition fails."""
    # Loop (n, true) { again }     Loop (Min (n, k + 1), true) { true }, where Not (again) holds
    # in iteration k of Loop (n, true) { true } for the first time
    loop, again = parts(node), parts(node).outputs[0]
    limit, start = (*loop.operands, ABSENT, ABSENT)[:2]
    free = node._replace(args=(*loop.operands, *loop.variables, start, *loop.outputs[1:]))
    is_kept = terms.find(again) in map(terms.find, loop.variables)
    facts = [terms.fact(limit), terms.fact(again), truth(terms, again)]
    is_open = facts == [(_INT64, ()), (_BOOL, ()), None] and not is_kept
    size = _count(terms, free) if is_open else None
    hits = _rows(terms, free, apply(terms, "Not", again), size) if size is not None else None
    if hits is None:
        return None
    every = apply(terms, "Cast", hits, to=6), terms.constant(np.ones(1, np.int32))
    first = apply(terms, "ArgMax", apply(terms, "Concat", *every, axis=0), axis=0, keepdims=0)
    end = "Where", ("Less", "f", ("Size", "h")), ("Add", "f", 1), (1 << 63) - 1
    binding = {"n": limit, "f": first, "h": hits}
    count = build(terms, ("Min", "n", end), binding, terms.fact(limit))
    return terms.add(node.head, (count, *free.args[1:]), fact, node.output)


def scattered_rows(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Write rows into a state at once that iterations write, each in another place."""
    loop, number, size = parts(node), node.output, _count(terms, node)
    ends = loop.outputs[number + 1 : states_of(node)] if size is not None else ()
    for head, args, *_ in terms.operators((*ends, ABSENT)[0], "ScatterElements", "ScatterND"):
        axis, is_line = head.integer("axis"), head.name == "ScatterElements"
        rows, start = _rows(terms, node, args[2], size) or ABSENT, loop.operands[number + 2]
        every = _joined(terms, moved_axis(terms, rows, 0, max(axis, 0)), axis) or ABSENT
        is_plain = head.attribute("reduction", b"none") == b"none" and axis >= 0
        is_plain &= terms.find(args[0]) == terms.find(loop.variables[number + 2])
        forms = terms.operators(args[1], "Reshape", "Unsqueeze", "Expand")
        is_all = terms.find(loop.variables[0]) in [terms.find(each.args[0]) for each in forms]
        is_all &= not is_line and terms.fact(args[1]).shape == (1, 1)
        for member in terms.members(args[1]) if is_plain and every != ABSENT else ():
            if is_all and terms.fact(every) == terms.fact(start):
                return every
            source, at = source_of(terms, node, member) or (ABSENT, 0)
            (array,) = terms.arrays((source,))
            if at or array is None or not array.size or array.min() < 0:
                continue
            array = np.concatenate([*array], axis) if is_line else array
            # Places are other ones along the axis, or as rows of indices.
            turned = np.moveaxis(array, axis if is_line else -1, -1)
            lines = turned.reshape(-1, turned.shape[-1]).tolist()
            lines = lines if is_line else [[*map(tuple, lines)]]
            if all(len({*line}) == len(line) for line in lines):
                index = terms.constant(np.ascontiguousarray(array))
                derived = terms.add(head, (start, index, every if is_line else rows), fact)
                terms.implied.append((terms.add(*node[:2], fact, number), derived, ABSENT))
                return derived
    return None


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
    if terms.is_closed(row, level_of(terms, node)):  # all rows are one
        one = apply(terms, "Unsqueeze", _last(terms, loop.operands[0]), integers(terms, [0]))
        sizes = apply(terms, "Concat", one, integers(terms, [1] * len(shape)), axis=0)
        return apply(terms, "Expand", row, sizes)
    whole, derived = Fact(elem_type, (size, *shape)), None
    own = terms.find(terms.add(*node[:2], fact, node.output))
    for member in terms.members(row):
        source = source_of(terms, node, member)
        if source is not None:
            return moved_axis(terms, *source, 0)
        other = _moved_out(terms, node, terms.nodes[member], whole)
        derived = derived if other is None else other
        if derived is not None and terms.find(derived) != own:
            break
    return derived


def rows_that_run(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Cut rows that runtimes infer to be of size 0 without an iteration."""
    # For what is no number they take 0, and no number is a size that inputs have.
    loop, place, count = parts(node), node.output + 1 - states_of(node), _count(terms, node)
    mark, row = [*node.head.key[-1][4:][max(place, 0) :], ""][0], loop.outputs[node.output + 1]
    rows = _rows(terms, node, row, count) if place >= 0 and mark[:1] == ("inferred",) else None
    if rows is None or count is None or not sizes_in(terms, loop.operands[0]):
        return None
    shape = terms.outside(terms.fact(row)).shape or ()
    pairs = [*zip(mark[1], shape, strict=False)] if len(mark[1]) == len(shape) else []
    axes = [k + 1 for k, (a, b) in enumerate(pairs) if not isinstance(a, int) and type(b) is str]
    if not axes or any(a != b for k, (a, b) in enumerate(pairs) if k + 1 not in axes):
        return None
    terms.cut, zero = [*terms.cut, row], integers(terms, [0])
    places, limit = integers(terms, axes), apply(terms, "Unsqueeze", loop.operands[0], zero)
    runs = apply(terms, "Cast", apply(terms, "Cast", limit, to=_BOOL), to=_INT64)
    ends = apply(terms, "Mul", apply(terms, "Gather", apply(terms, "Shape", rows), places), runs)
    return apply(terms, "Slice", rows, integers(terms, [0] * len(axes)), ends, places)


def last_state(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Take the last state of a Loop, which is the first one without an iteration."""
    # Where (n, s in Loop (n, true, a) {...}, a)     s in Loop (n, true, a) {...}
    (condition, last, first), sizes = node.args, list[object]()
    for each in terms.operators(condition, "Cast"):
        sizes += [sizes_in(terms, each.args[0])] if each.head.integer("to") == _BOOL else []
    # A condition with more axes than the state would broadcast it.
    is_whole = fact.shape is not None and terms.fact(last) == fact
    for each in map(terms.nodes.__getitem__, terms.members(last)):
        is_state = is_whole and each.head.name == "Loop" and each.output + 1 < states_of(each)
        start = parts(each).operands[each.output + 2] if is_state else ABSENT
        same = start != ABSENT and terms.find(start) == terms.find(first)
        if (count := _count(terms, each) if same else None) is not None and (count,) in sizes:
            return last
    return None


def _moved_out(terms: Terms, node: Node, each: Node, whole: Fact) -> int | None:
    """Operator on scan outputs whose rows are its operands."""
    shape, level, one = whole.shape or (), level_of(terms, node), integers(terms, [1])
    rank, dim, args, stacks = len(shape) - 1, shape[0], list[int](), list[int]()
    name, head = each.head.name, _head(terms, each, dim, level)
    ranks = [len(terms.fact(a).shape or ()) for a in each.args] if name == "MatMul" else [2]
    # A row times one matrix; several matrices would give rows and matrices in the other order.
    is_row = ranks == [1, 2] and terms.is_closed(each.args[1], level)
    # Batches of one: their rows are one batch of all iterations.
    is_batch = name in BATCHED and shape[1:2] == (1,) and not each.output
    at = _AXES.get(name, int(name.startswith("Reduce")))
    is_odd = is_batch != (name in BATCHED) or 0 < len(each.args) <= at
    if head is None or (min(ranks) < 2 and not is_row) or is_odd:
        return None
    for place, arg in enumerate(each.args):
        own = terms.fact(arg).shape or ()
        if terms.is_closed(arg, level):
            (array,) = terms.arrays((arg,)) if place == at > 0 else (np.zeros(0),)
            if array is None:
                return None
            arg = terms.constant(array + (array >= 0)) if place == at > 0 else arg
            if name == "Concat" and isinstance(dim, int):
                arg = apply(terms, "Expand", arg, integers(terms, [dim, *[1] * rank]))
            args.append(arg)
            continue
        rows = _rows(terms, node, arg, dim)
        if rows is None or (place and name not in (*SINGLE, "Concat", "Gather", "MatMul")):
            return None
        stacks.append(rows)
        more = rank - len(own) if name in SINGLE or name == "MatMul" else 0
        axes = integers(terms, range(1, more + 1))
        rows = apply(terms, "Unsqueeze", rows, axes) if more else rows
        args.append(apply(terms, "Squeeze", rows, one) if is_batch else rows)
    inner = Fact(whole.elem_type, (dim, *shape[1 + is_batch :]))
    same = fact_of_output(terms, head, tuple(args), each.output).shape == inner.shape
    if not stacks or not (same or name == "moved"):
        return None
    derived = terms.add(head, tuple(args), inner, each.output)
    # Where the loop has a value, so have operators of its row, and a Gather fails by its rows only.
    is_run = name == "Gather" or (isinstance(dim, int) and dim > 0)
    if head.version and each == terms.nodes[parts(node).outputs[node.output + 1]]:
        loop = terms.add(*node[:2], UNKNOWN, node.output)
        terms.implied += [(loop, n, ABSENT) for n in (derived, *stacks)[not is_run :]]
    return apply(terms, "Unsqueeze", derived, one) if is_batch else derived


def _head(terms: Terms, each: Node, dim: Dim, level: int) -> Head | None:
    """Head of an operator that has one more axis before those of its operands."""
    head, axis = each.head, each.head.attribute("axis")
    if head.name == "moved":
        move = in_rows(head.key, terms.fact(each.args[0]).shape, dim)
        return None if move is None else head._replace(key=move)
    if (head.name in ALONG and head.version >= 11) or head.name == "Concat":
        return head.changed(axis=axis + (axis >= 0))
    # Axes that are an attribute count those of a row.
    is_same = head.name.startswith("Reduce") and head.version >= 13 and not head.integers("axes")
    is_same |= head.name == "Gather" and not axis and terms.is_closed(each.args[0], level)
    return head if head.name in (*SINGLE, *_AXES, *BATCHED, "MatMul") or is_same else None


MOST = 1 << 8


class _Open(Exception):
    """A term cannot be followed through an iteration."""


def iterations(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Take a Loop that certainly ends as the iterations that it makes."""
    loop, count, own = parts(node), states_of(node) - 1, terms.add(*node[:2], fact, node.output)
    limit, condition = (*loop.operands, ABSENT, ABSENT)[:2]
    limits = terms.numbers(limit) if limit != ABSENT else [MOST + 1]
    # onnxruntime passes vectors of one element where the body declares them, and results follow.
    scalars = [terms.fact(each).shape for each in loop.variables[:2]] == [(), ()]
    if not scalars or limits is None or len(limits) != 1 or len(loop.variables) != 2 + count:
        return None
    ran, rows, states = set[int](), list[int](), loop.operands[2:]
    going = condition == ABSENT or truth(terms, condition)
    for number in range(limits[0]):
        # By ONNX a Loop without a condition goes on, in onnxruntime 1.32 it ends.
        if going is None or number >= MOST or (not going and condition == ABSENT):
            return None
        if not going:
            break
        values = integers(terms, number), terms.constant(np.array(True)), *states
        if (loop, values) not in terms.iterated:  # each output of a loop is another term
            inner = _Values(terms, dict(zip(loop.variables, values, strict=True)))
            try:
                results = [inner.into(output) for output in loop.outputs]
                terms.iterated[loop, values] = inner.ran(loop.outputs), results
            except _Open:
                return None
        computed, (again, *results) = terms.iterated[loop, values]
        ran |= computed
        going, states = truth(terms, again), tuple(results[:count])
        rows += results[node.output :][:1]
    if node.output >= count and not rows:
        return None  # rows of no iteration have sizes that nothing here computes
    # Where the loop has a value, all its iterations ran: their nodes did not fail.
    terms.implied += [(own, term, ABSENT) for term in sorted(ran)]
    if node.output < count:
        return states[node.output]
    lines = [apply(terms, "Unsqueeze", row, integers(terms, [0])) for row in rows]
    return apply(terms, "Concat", *lines, axis=0) if len(lines) > 1 else lines[0]


def truth(terms: Terms, condition: int) -> bool | None:
    """Value of a condition without axes; None if it is unknown."""
    tensor = terms.tensor(condition)
    return None if tensor is None or tensor.dims else bool(tensor.numpy())


class _Values:
    """Values of the variables of a body."""

    def __init__(self, terms: Terms, values: dict[int, int], *, ends: bool = True) -> None:
        self._terms, self._values, self._ends = terms, values, ends
        self.terms_of = {**values, ABSENT: ABSENT}
        self._level = min(terms.nodes[each].head.key[0] for each in values)

    def into(self, term: int) -> int:
        stack, terms = [term], self.terms_of
        while stack:
            at = stack[-1]
            if self._terms.variables(at) and self._terms.is_closed(at, self._level):
                terms[at] = at
            if at in terms:
                stack.pop()
                continue
            node = self._terms.nodes[at]
            waiting = [arg for arg in node.args if arg not in terms]
            stack += waiting
            if not waiting:
                terms[at] = self._built(at, node)
        return terms[term]

    def _built(self, term: int, node: Node) -> int:
        terms, head = self._terms, node.head
        args, fact = tuple([self.terms_of[arg] for arg in node.args]), terms.outside(node.fact)
        if head.name == "variable" and head.key[0] >= self._level:
            # A variable of this body that has no value here, such as the number of the iteration by
            # which draws are told apart.
            if head.key[1] == "iteration" or head.key[0] == self._level:
                raise _Open
            # One loop around it is gone, so bodies inside are one level less deep.
            moved = head._replace(key=(head.key[0] - self._ends, *head.key[1:]))
            return terms.add(moved, fact=fact)
        if not self._values.keys().isdisjoint(terms.variables(term)):
            raise _Open  # its body has variables of the same names
        if args == node.args:
            if head.name == "elements":
                raise _Open
            return term
        if not head.version:
            raise _Open
        if head.name == "If":
            if (chosen := chosen_by(terms, head, args, node.output)) is not None:
                return chosen
            fact = common([terms.fact(args[first + node.output]) for _, _, first, _ in head.key])
        elif head.key is None:
            kinds = {terms.fact(arg).elem_type for arg in args if arg != ABSENT}
            is_whole = kinds.isdisjoint((0, 1, 10, 11, 16))
            results = None if rounds(head, is_whole=is_whole) else folded(terms, head, args)
            if results is not None:
                return terms.constant(results[node.output])
            fact = fact_of_output(terms, head, args, node.output)
        return terms.add(head, args, fact, node.output)

    def ran(self, outputs: Args) -> set[int]:
        """Terms that an iteration computes, since its outputs need them, or chosen branches."""
        # Not all nodes of a body: loops with other nodes that nothing reads may have these outputs.
        terms, visited, stack = self._terms, set[int](), [*outputs]
        while stack:
            at = stack.pop()
            if at in visited or self.into(at) == at:
                continue
            visited.add(at)
            head, args, number, _ = terms.nodes[at]
            if head.key is None:
                stack += args
            elif head.name == "If":
                chosen = chosen_by(terms, head, (self.into(args[0]), *args[1:]), number)
                stack += [args[0], *([] if chosen is None else [chosen])]
            elif terms.variables(at):
                stack += parts(terms.nodes[at]).operands
        return {self.into(at) for at in visited}


def chosen_by(terms: Terms, head: Head, args: tuple[int, ...], output: int) -> int | None:
    """Output of the branch of an If that a constant chooses."""
    tensor = terms.tensor(args[0])
    if tensor is None or tensor.size != 1:
        return None
    holds = bool(tensor.numpy().all())
    ((_, _, first, count),) = [mark for mark in head.key if BRANCHES[mark[0]] is holds]
    return args[first + output] if output < count else None


def folded(terms: Terms, head: Head, args: tuple[int, ...]) -> list[Array] | None:
    """Outputs of an operator on constants; over the reals only those that are not rounded."""
    arrays = terms.arrays(args)
    if [array is None for array in arrays] != [arg == ABSENT for arg in args]:
        return None
    facts = [fact_of_output(terms, head, args, place) for place in range(head.outputs)]
    counts = [multiply(*(shape or ())) for _, shape in facts]
    # A few numbers may name the size of a tensor that no memory holds.
    is_large = any(isinstance(count, int) and count > MOST_ELEMENTS for count in counts)
    results = None if is_large else fold(head, arrays)
    is_exact = not terms.is_real or (results is not None and is_real(head, arrays, results))
    return results if is_exact else None


def values_in(terms: Terms, loop: Parts, ends: Args, new: dict[int, int]) -> list[int] | None:
    """Outputs of a body with other terms in place of known ones; None where a variable has none."""
    # All terms that are built come to those in place of known ones.
    inner = _Values(terms, dict.fromkeys(loop.variables, ABSENT), ends=False)
    inner.terms_of = new
    new[ABSENT] = ABSENT
    try:
        return [inner.into(output) for output in ends]
    except _Open:
        return None


def states_of(node: Node) -> int:
    """Number of outputs of a body that are states, or the condition of a Loop."""
    return len(parts(node).operands if node.head.name == "Loop" else parts(node).outputs) - 1


def level_of(terms: Terms, node: Node) -> int:
    """Level of the variables of a loop."""
    return min([terms.nodes[each].head.key[0] for each in parts(node).variables], default=0)
