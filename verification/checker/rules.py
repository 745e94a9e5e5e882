"""Rules of the checker: each derives from one term another one that is equal to it."""

# A rule is "safe" if its conditions exclude that the node fails, a "spelling" if both nodes fail on
# the same operands, "weaker" if the derived node fails only where the other one does, and a "value"
# if it says nothing about failures: where a node fails, any value is as good as another.

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
import onnx

from ...ir import Array
from ...reference.rounding import Function, exact, function_of, rows_of
from . import movement, scans
from .execution import Execution
from .folding import MOVING, computed, rounds
from .inference import broadcast, fact_of_output
from .meaning import BRANCHES, FIRST
from .polynomials import Dim, add, divide, is_at_least, multiply, products_of
from .rows import ROWS, Kind, apply, derive_row, integers, is_filled, plain
from .sizes import SIZE_OPERATORS, elements_of, sizes_in
from .spelling import REDUCTIONS, SPELLED, spelled
from .terms import ABSENT, Fact, Head, Node, Shape, Terms, names

# Notions of equality, the strongest first.
NOTIONS = ("bits", "values", "reals")
Derivation = Callable[[Terms, Node, Fact], "int | None"]


class Rule(NamedTuple):
    """Rule of derivation, with the operators that it is about; none of them stands for all."""

    derive: Derivation
    operators: frozenset[str]
    kind: Kind
    notion: str = "bits"
    assumes: str = ""


LONGER = "gives the same bits as its definition"
FORMULA = "is its definition over the reals"
EQUATIONS = "computes the equations of its specification, and its sequences have an element"
OF_ROWS = "of some rows gives the same bits as of all rows"
# Assumptions about an operator that rounds in between.
FOLDED = "of constants gives the same bits in the runtime"
ROUNDED = (
    "a constant that the rewrite holds is rounded from a function of constants that the original"
    " computes, within the error of computing it in the constant's type"
)
SUMMED = "CumSum adds one row after another"
CELLS = "GRU", "LSTM", "RNN"
_CHANNELS, _FORMULAS = ("Conv", "Gemm"), names("BatchNormalization HardSwish LogSoftmax Softmax")
_FLOATS, _WHOLE = {1, 10, 11, 16}, {2, 3, 4, 5, 6, 7, 9, 12, 13}
# Rules by the name that certificates have for them.
RULES = {r.name: Rule(derive_row(r), frozenset(r.pattern[:1]), r.kind, r.notion) for r in ROWS}


def _rule(
    name: str, *operators: str, kind: Kind, assumes: str = "", notion: str = "bits"
) -> Callable[[Derivation], Derivation]:
    def register(derive: Derivation) -> Derivation:
        RULES[name] = Rule(derive, frozenset(operators), kind, notion, assumes)
        return derive

    return register


def assumption_of(terms: Terms, rule: str, term: int, derived: int) -> str:
    """Assumption of a step, or an empty text."""
    ending, node = RULES[rule].assumes, terms.nodes[term]
    if ending == ROUNDED or (ending == SUMMED and terms.fact(term).elem_type in _FLOATS):
        return ending
    while terms.nodes[derived].head.name == "Unsqueeze":
        derived = terms.nodes[derived].args[0]
    head = node.head if node.head.version and node.head.key is None else terms.nodes[derived].head
    whole = all(terms.fact(arg).elem_type in _WHOLE for arg in (term, *node.args) if arg != ABSENT)
    is_known = ending and head.version and head.key is None
    return f"{head.name} {ending}" if is_known and rounds(head, is_whole=whole) else ""


@_rule("spelling", *SPELLED, kind="spelling")
def spelling(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Give an operator the spelling that sizes allow which are known by now."""
    head, args = spelled(terms, *node[:2])
    return None if (head, args) == node[:2] else terms.add(head, args, fact, node.output)


_rule("known-variables", "Loop", kind="spelling")(scans.known_variables)
_rule("row-alone", "Loop", kind="weaker")(scans.row_alone)
_rule("row-by-row", "Loop", kind="value", assumes=OF_ROWS)(scans.row_by_row)
_rule("states", "Loop", kind="value")(scans.states)
_rule("first-hit", "Loop", kind="weaker")(scans.first_hit)
_rule("scattered-rows", "Loop", kind="value")(scans.scattered_rows)
_rule("last-state", "Where", kind="value")(scans.last_state)
_rule("sums", "Loop", kind="value", assumes=SUMMED)(
    lambda terms, node, fact: scans.states(terms, node, fact, scans.SUMMED.get(fact.elem_type, ()))
)
_rule("folds", "Loop", kind="value", notion="reals")(partial(scans.states, joins=scans.FOLDS))
_rule("rows-that-run", "Loop", kind="value")(scans.rows_that_run)
_rule("iterations", "Loop", kind="weaker")(scans.iterations)
_rule("elements-of-list", "ConcatFromSequence", "SequenceAt", kind="weaker")(scans.elements_of_list)
_rule("movement", *movement.MOVING, kind="safe")(movement.movement)
_rule("selection-first", "moved", kind="value")(movement.selection_first)
_rule("movement-where-defined", "Reshape", kind="value")(movement.movement)
_rule("movement-of-part", "moved", kind="value")(movement.movement_of_part)
_OUT = "MatMul", *movement.SINGLE
_rule("operator-first", *_OUT, kind="value", assumes=OF_ROWS)(movement.operator_first)
_rule("movement-of-operands", "moved", kind="value", assumes=OF_ROWS)(movement.movement_of_operands)


@_rule("constant-folding", kind="safe", assumes=FOLDED)
def constant_folding(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Compute an operator on constants."""
    results = scans.folded(terms, node.head, node.args)
    return None if results is None else terms.constant(results[node.output])


@_rule("rounded-constant", kind="value", notion="reals", assumes=ROUNDED)
def rounded_constant(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Take a constant of the rewrite, or its rows, for a rounded function of constants."""
    # It is a symbol from then on, and nothing has used its value: two numbers that round to it are
    # never equal.
    own = terms.add(*node[:2], fact, node.output)
    places = [n for n in sorted(terms.free) if terms.fact(n).elem_type == fact.elem_type]
    if own not in terms.closed or not places or (function := _function(terms, own)) is None:
        return None
    for number in places:
        for axis, place, parts in rows_of(terms.constants[number].numpy(), function):
            rows = [terms.constant(part, is_free=True) for part in parts] if parts[1:] else [number]
            value = function.value.astype(parts[place].dtype).tobytes(), parts[place].tobytes()
            is_new = {rows[place], number} <= terms.free
            if not is_new or terms.rounded.setdefault(*value) != value[1]:
                continue  # different floats are different numbers
            for each in {rows[place], number}:
                terms.forget(each)
            if rows[1:]:
                terms.merge(number, apply(terms, "Concat", *rows, axis=axis))
            shape, same = integers(terms, function.value.shape), parts[place].shape == fact.shape
            return rows[place] if same else apply(terms, "Reshape", rows[place], shape)
    return None


def _function(terms: Terms, term: int) -> Function | None:
    """Operators on constants as a function, with bounds of its error."""
    tensor, (head, args, output, _) = terms.tensor(term), terms.nodes[term]
    if tensor is not None:
        return exact(tensor.numpy())
    operands, moves = [_function(terms, arg) for arg in args], head.name in MOVING
    return function_of(head.name, output, operands, lambda a: computed(head, a), moves=moves)


@_rule("dropout-in-inference", "Dropout", kind="safe")
def dropout(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Drop a Dropout that is not in training. A runtime may refuse a ratio that it ignores."""
    ratio, mode = (*terms.arrays(node.args[1:]), None, None)[:2]
    has_ratio, has_mode = [arg != ABSENT for arg in (*node.args[1:], ABSENT, ABSENT)[:2]]
    inside = ratio is not None and bool(((ratio >= 0) & (ratio < 1)).all())
    is_off = not has_mode or (mode is not None and not mode.any())
    is_plain = node.output == 0 and node.head.version >= FIRST and (inside or not has_ratio)
    return node.args[0] if is_plain and is_off else None


_RING = "Add", "Mul", "Neg", "Sub", "Sum"
# Largest number that all floats have, and the most terms of a sum.
_MOST_NUMBER, _MOST_READ = 1 << 8, 64


@_rule("sum-of-products", *_RING, kind="value", notion="reals")
def sum_of_products(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Write sums, differences and products of floats as a sum of products."""
    # (1 - z) * n + z * h     n + z * h - z * n, in the order of the terms
    atoms, kind = set[str](), onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type or 1)
    is_plain = fact.elem_type in _FLOATS and node.head.version >= FIRST
    own = terms.add(*node[:2], fact, node.output)
    total = products_of(_polynomial(terms, own, {}, atoms) if is_plain else None)
    # What is left out may have no value: y - y where y is 1 / 0.
    is_odd = not total or max(map(abs, total.values())) > _MOST_NUMBER
    if is_odd or {name for product in total for name in product} != atoms:
        return None
    scales, times = dict[tuple[str, ...], int](), partial(apply, terms, "Mul")
    for product, number in sorted(total.items()):
        constants = [int(name[1:]) for name in product if name[0] == "c"]
        one = [terms.constant(np.array(number, kind))] if number != 1 or not constants else []
        scale, key = reduce(times, constants + one), product[len(constants) :]
        scales[key] = apply(terms, "Add", scales[key], scale) if key in scales else scale
    parts = [(*[int(name[1:]) for name in key], scale) for key, scale in scales.items()]
    parts = [e[: len(e) - (len(e) > 1 and is_filled(terms, e[-1], 1.0))] for e in parts]
    derived = reduce(partial(apply, terms, "Add"), [reduce(times, each) for each in parts])
    return derived if terms.fact(derived).shape == fact.shape is not None else None


def _polynomial(terms: Terms, term: int, read: dict[int, Dim], atoms: set[str]) -> Dim:
    """Polynomial over terms; None for a long one, or with a number that is not real."""
    root, is_free = terms.find(term), not terms.free.isdisjoint(terms.members(term))
    (array,) = (None,) if is_free else terms.arrays((term,))
    if array is not None and array.size:
        first = float(array.flat[0])
        if first.is_integer() and abs(first) <= _MOST_NUMBER and (array == first).all():
            return int(first)
        if not np.isfinite(array).all():
            return None
        root = terms.find(terms.constant(_rows(array)))
    is_closed = not terms.closed.isdisjoint(terms.members(root))
    name = f"{'c' if is_closed else 'o'}{root}"
    if root not in read:
        is_short, read[root] = not is_closed and len(read) < _MOST_READ, name  # as below itself
        nodes = [each for each in terms.operators(term, *_RING) if each.head.version >= FIRST]
        for head, args, *_ in nodes[:is_short]:
            parts = [_polynomial(terms, arg, read, atoms) for arg in args]
            sign, is_sum = -1 if head.name in ("Neg", "Sub") else 1, head.name not in ("Mul", "Neg")
            add_all = partial(reduce, partial(add, factor=sign))
            read[root] = add_all(parts) if is_sum else multiply(sign, *parts)
    atoms |= {name} if read[root] == name else set()
    return read[root]


@_rule("operator-of-row", "Gather", kind="value", notion="reals")
def operator_of_row(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Apply an operator to the row that a Gather takes of its result."""
    # Gather (Add (MatMul (x, w), b), i)     Add (MatMul (Gather (x, i), w), b)
    (source, index), axis = node.args, node.head.integer("axis")
    shape = terms.fact(source).shape
    if terms.fact(index).shape != () or shape is None or not 0 <= axis < len(shape):
        return None
    if axis:
        return apply(terms, "Gather", scans.moved_axis(terms, source, axis, 0), index)
    for head, args, *_ in terms.operators(source, "MatMul", *movement.SINGLE):
        shapes = [terms.fact(arg).shape or () for arg in args]
        rows = [own[:1] == shape[:1] and len(own) == len(shape) for own in shapes]
        fits = all(row or len(own) < len(shape) for row, own in zip(rows, shapes, strict=True))
        if head.name == "MatMul":  # rows of one matrix
            rows, fits = [True, False], len(shapes[0]) == len(shape) > 1 and len(shapes[1]) == 2
        fits &= head.version >= FIRST and None not in [terms.fact(arg).shape for arg in args]
        pairs = zip(args, rows, strict=True)
        args = tuple([apply(terms, "Gather", arg, index) if row else arg for arg, row in pairs])
        inner = fact_of_output(terms, head, args, 0)
        if fits and inner.shape == fact.shape:
            return terms.add(head, args, inner)
    return None


@_rule("parts-of-product", "MatMul", kind="value", notion="reals")
def parts_of_product(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Add products of columns and rows in place of one of their Concat."""
    # MatMul (Concat <-1> (x, h), w)     MatMul (x, w [:n]) + MatMul (h, w [n:])
    (rows, matrix), zero = node.args, integers(terms, [0])
    ranks = [len(terms.fact(arg).shape or ()) for arg in node.args]
    for head, args, *_ in terms.operators(rows, "Concat"):
        sizes = [(terms.fact(arg).shape or (None,))[-1] for arg in args]
        numbers = [size for size in sizes if isinstance(size, int) and size > 0]
        if numbers == sizes and ranks == [head.integer("axis") + 1, 2]:
            ends = [integers(terms, [n]) for n in (0, *accumulate(numbers))]
            parts = [apply(terms, "Slice", matrix, *e, zero) for e in pairwise(ends)]
            products = [apply(terms, "MatMul", *e) for e in zip(args, parts, strict=True)]
            return reduce(partial(apply, terms, "Add"), products)
    return None


_rule("cast-to-own-type", "Cast", kind="safe")(
    lambda terms, node, fact: node.args[0] if terms.fact(node.args[0])[0] == fact[0] > 0 else None
)


@_rule("normalization", "LayerNormalization", "RMSNormalization", kind="weaker", assumes=LONGER)
@_rule("cell", *CELLS, kind="value", assumes=EQUATIONS, notion="reals")
@_rule("formula", *_FORMULAS, kind="value", assumes=FORMULA, notion="reals")
@_rule("definition", "Gelu", "Gemm", "Mish", "ReduceL2", kind="spelling", assumes=LONGER)
def definition(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Write an operator by the function that defines it, where both have one type."""
    execution = Execution(terms, onnx.ModelProto(), None, is_original=None)
    is_new = node.head.version == plain(node.head.name).version
    # Bodies of the function are inside of those around the operator.
    around = [terms.nodes[n].head for arg in node.args for n in terms.unbound(arg, 0)]
    execution.level = max([-1, *[h.key[0] for h in around if h.name == "variable"]]) + 1
    is_new &= all(head.name == "variable" for head in around)
    results = execution.opened(*_call(node.head, node.output), node.args) if is_new else None
    own = (results or ())[node.output :][:1]
    return own[0] if own and terms.fact(own[0]) == fact else None


def _call(head: Head, output: int) -> tuple[onnx.NodeProto, list[onnx.AttributeProto]]:
    """Node of an operator with its attributes, and with the outputs up to one."""
    call = onnx.NodeProto(op_type=head.name, output=[f"y{k}" for k in range(output + 1)])
    return call, [onnx.AttributeProto.FromString(content) for _, content in head.attributes]


def _some_rows(terms: Terms, term: int) -> int | None:
    """Rows of a Concat that has one more if there is none."""
    # Concat <0> (x [n], Slice (z [1], [0], Cast (Equal (n, [0])), [0]))
    at, numbers = terms.operators, terms.numbers
    for head, (rows, *more), *_ in at(term, "Concat"):
        (size,) = (terms.fact(rows).shape or ())[:1] or (None,)
        is_plain = size is not None and not head.integer("axis") and len(more) == 1
        lists = [each.args for each in at(more[0], "Slice")] if is_plain else []
        for one, start, end, axis in [args for args in lists if len(args) == 4]:
            is_one = (terms.fact(one).shape or ())[:1] == (1,)
            is_one &= [*map(numbers, (start, axis))] == [[0], [0]]
            flags = [equal.args for cast in at(end, "Cast") for equal in at(cast.args[0], "Equal")]
            for count, zero in flags if is_one else ():
                if numbers(zero) == [0] and sizes_in(terms, count) == (size,):
                    return rows
    return None


def _like(terms: Terms, node: Node, *args: int) -> int:
    """Operator of a term on other arguments."""
    fact = fact_of_output(terms, node.head, args, node.output)
    return terms.add(node.head, args, fact, node.output)


@_rule("missing-row", "Slice", "Where", kind="value", notion="reals")
def missing_row(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Leave out the row that a recurrent operator has in place of none."""
    # Slice (Squeeze (GRU (Concat (x [n], a row if n is 0))), 0, n)     Squeeze (GRU (x))
    # Where (n, Squeeze (GRU (...)), h)     Where (n, Squeeze (GRU (x)), h)
    is_slice, (one, *rest) = node.head.name == "Slice", node.args
    casts = [each.args[0] for each in terms.operators(one, "Cast") if each.head.integer("to") == 9]
    is_prefix = len(rest) == 3 and [*map(terms.numbers, rest[::2])] == [[0], [0]]
    sizes = [sizes_in(terms, n) for n in (rest[1:2] * is_prefix if is_slice else casts)]
    for squeeze in terms.operators(one if is_slice else rest[0], "Squeeze"):
        fits = terms.numbers((*squeeze.args, ABSENT)[1]) == [int(is_slice)]
        for cell in map(terms.nodes.__getitem__, terms.members(squeeze.args[0])):
            is_cell = fits and cell.head.name in CELLS and bool(cell.output) != is_slice
            rows = _some_rows(terms, cell.args[0]) if is_cell else None
            if rows is not None and (terms.fact(rows).shape or ())[:1] in sizes:
                inner = _like(terms, cell, rows, *cell.args[1:])
                derived = _like(terms, squeeze, inner, *squeeze.args[1:])
                return derived if is_slice else _like(terms, node, one, derived, *rest[1:])
    return None


@_rule("bias-of-channels", *_CHANNELS, kind="value", notion="reals")
def bias_of_channels(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Add the bias of a Conv after it."""
    (head, args, *_), shape, bias = node, fact.shape or (), (*node.args, ABSENT)[2]
    fits = shape[2 - (head.name == "Gemm") :] and head.attribute("beta", 1.0) == 1
    if not fits or bias == ABSENT or terms.fact(bias).shape != shape[1:2]:
        return None
    bias = apply(terms, "Unsqueeze", bias, integers(terms, [*range(1, len(shape) - 1)]))
    return apply(terms, "Add", terms.add(head, args[:2], fact), bias)


@_rule("scaled-channels", "Mul", kind="value", notion="reals")
def scaled_channels(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Scale rows of weights in place of the channels of a Conv."""
    shape = fact.shape or ()
    line, sizes = (*shape[1:2], *[1] * len(shape[2:])), [-1, *[1] * (len(shape) - 1)]
    for arg, factor in (node.args, node.args[::-1]):
        for head, (source, weights, *bias), *_ in terms.operators(arg, *_CHANNELS):
            fits = not bias and shape[1:2] == (terms.fact(weights).shape or ())[:1]
            fits = fits and head.integer("transB", 1) == 1 and factor in terms.closed
            if fits and terms.fact(factor).shape in (line, (1, *line)):
                scale = apply(terms, "Reshape", factor, integers(terms, sizes))
                return terms.add(head, (source, apply(terms, "Mul", weights, scale)), fact)
    return None


@_rule("all-of-operand", "Concat", "Gather", "Slice", kind="value")
def all_of_operand(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Drop empty operands of a Concat, and operators that keep all of one."""
    args, axis = node.args, node.head.integer("axis")
    shapes = [terms.fact(arg).shape for arg in args]
    if node.head.name == "Gather":
        return args[0] if _takes_all(terms, node, shapes[0] or ()) else None
    if node.head.name == "Concat":
        full = [a for a, s in zip(args, shapes, strict=True) if (s or ())[axis:][:1] != (0,)]
        full = full if full and axis >= 0 else [*args]
        derived = apply(terms, "Concat", *full, axis=axis) if full[1:] else full[0]
        return derived if len(full) < len(args) or len(args) == 1 else None
    lists = [terms.numbers(arg) for arg in args[1::3] if arg != ABSENT]
    is_all = None not in (fact.shape or (None,)) and shapes[0] == fact.shape and len(args) > 2
    is_all &= all(e is not None and not any(n != k for n in e) for k, e in enumerate(lists))
    return args[0] if is_all else None


def _takes_all(terms: Terms, node: Node, shape: Shape) -> bool:
    """Test for a Gather of all positions of an axis, in order."""
    axis, own = node.head.integer("axis"), terms.operators(node.args[1], "Range")
    (size,) = (shape[axis:] if axis >= 0 else ())[:1] or (None,)
    ends = [args[1] for _, args, *_ in own if [*map(terms.numbers, args[::2])] == [[0], [1]]]
    return size is not None and (size,) in [sizes_in(terms, end) for end in ends]


@_rule("equal-parts", "Split", kind="weaker")
def equal_parts(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Name the number of equal parts."""
    # From opset 18 on the last one may be smaller.
    newer = node.head.changed(num_outputs=node.head.outputs)._replace(version=18)
    is_plain = len(node.args) == 1 and node.head.version == 13
    return terms.add(newer, node.args, fact, node.output) if is_plain else None


@_rule("known-elements", *SIZE_OPERATORS, kind="safe")
def known_elements(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Compute small integers that depend on known sizes, or on the signs of sizes."""
    is_whole = fact.elem_type in (onnx.TensorProto.INT64, onnx.TensorProto.BOOL)
    elements = elements_of(terms, node) if is_whole else None
    if elements is None or None in elements.flat:
        return None
    if not all(isinstance(element, int) for element in elements.flat):
        # A tuple, since a text of "a+b" may be the name of a size.
        return terms.add(Head("elements", key=(elements.shape, tuple(elements.flat))), (), fact)
    return terms.constant(elements.astype(onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type)))


@_rule("equal-elements", *movement.SINGLE, "Gemm", kind="weaker")
def equal_elements(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Write equal rows as one, where the rest or an Expand has the shape."""
    head, args = node.head, [*node.args]
    for place, arg in enumerate(args):
        # A Gemm broadcasts its bias only.
        if head.version < FIRST or (head.name == "Gemm" and place < 2):
            continue
        shapes = [terms.fact(each).shape for k, each in enumerate(args) if k != place]
        shapes = [fact.shape] if head.name == "Gemm" else shapes
        shape, cut = terms.fact(arg).shape, -2 if head.name == "MatMul" else None
        for other in (*[n.args[0] for n in terms.operators(arg, "Expand")], *_one_row(terms, arg)):
            own = terms.fact(other).shape
            full, one, *rest, end = [s and s[:cut] for s in (shape, own, *shapes, fact.shape)]
            fits = not shapes or broadcast([*rest, full]) == broadcast([*rest, one]) == end
            # The matrices of a MatMul stay as they are.
            if fits and own is not None and shape and (cut is None or own[cut:] == shape[cut:]):
                args[place] = other
    if tuple(args) == node.args or args[1:]:
        return None if tuple(args) == node.args else terms.add(head, tuple(args), fact)
    derived = terms.add(head, tuple(args), fact_of_output(terms, head, tuple(args), 0))
    return apply(terms, "Expand", derived, apply(terms, "Shape", *node.args))


_rule("equal-matrices", "MatMul", kind="weaker", assumes=OF_ROWS)(equal_elements)


def _one_row(terms: Terms, term: int) -> list[int]:
    """Constant, or elements that are moved, with equal rows as one."""
    (array,) = terms.arrays((term,))
    if array is not None and array.size:
        return [terms.constant(_rows(array))]
    moves = [(node.args[0], node.head.key) for node in terms.operators(term, "moved")]
    plain = [(source, m.array()) for source, m in moves if not movement.is_open(sum(m.axes, ()))]
    return [movement.line_of(terms, source, _rows(places)) for source, places in plain]


def _rows(array: Array) -> Array:
    """Equal rows of an array as one."""
    for axis, count in enumerate(array.shape):
        row = array.take([0], axis)
        array = row if array.tobytes() == row.repeat(count, axis).tobytes() else array
    first = next((k for k, count in enumerate(array.shape) if count != 1), array.ndim)
    return array.reshape(array.shape[first:]).copy()


@_rule("zero-states", "GRU", "LSTM", "RNN", kind="weaker")
def zero_states(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Leave out initial states of zeros."""
    states = [ABSENT if is_filled(terms, arg, 0.0) else arg for arg in node.args[5:7]]
    args = (*node.args[:5], *states, *node.args[7:])
    return terms.add(node.head, args, fact, node.output) if args != node.args else None


def _places(rank: int, axes: list[int] | None) -> list[int] | None:
    """Axes from the front, of which each is in range and another one."""
    places = {axis % rank for axis in axes or () if -rank <= axis < rank}
    return sorted(places) if axes is not None and len(places) == len(axes) else None


def _axes(terms: Terms, node: Node) -> list[int] | None:
    return terms.numbers((*node.args, ABSENT)[1])


def _reduces(terms: Terms, node: Node, shapes: list[Shape]) -> bool:
    places, least = _places(len(shapes[0]), _axes(terms, node)), node.head.name != "ReduceSum"
    return bool(places) and all(is_at_least(least, shapes[0][place]) for place in places or ())


def _slices(terms: Terms, node: Node, shapes: list[Shape]) -> bool:
    axes, steps = [terms.numbers(arg) or [] for arg in (*node.args, *[ABSENT] * 4)[3:5]]
    fits = {*shapes[1:]} == {(len(axes),)} and _places(len(shapes[0]), axes) is not None
    return fits and 0 not in steps and (len(steps) == len(axes) or len(node.args) < 5)


def _gathers(terms: Terms, node: Node, shapes: list[Shape]) -> bool:
    (size,) = (shapes[0][max(node.head.integer("axis"), 0) :] or (None,))[:1]
    indices = sizes_in(terms, node.args[1]) or (None,)
    rest = [add(size, n, -1) if terms.is_size(n) else None for n in indices]
    fits = all(is_at_least(1, n) for n in rest) or _takes_all(terms, node, shapes[0])
    return node.head.integer("axis") >= 0 and fits


def _selects(terms: Terms, node: Node, shapes: list[Shape]) -> bool:
    (count, *_), axis = _axes(terms, node) or [-1], node.head.integer("axis")
    (size,) = (shapes[0][axis:] if axis >= 0 else ())[:1] or (None,)
    return count > 0 and is_at_least(count, size)


def _whole(sizes: Sequence[Dim]) -> bool:
    return all(isinstance(size, int) and size > 0 for size in sizes)


def _convolves(terms: Terms, node: Node, shapes: list[Shape]) -> bool:
    """Test for a Conv whose channels fit, and that has windows."""
    (shape, kernel, *bias), head = shapes, node.head
    sizes = fact_of_output(terms, head, node.args, 0).shape or (0, 0)
    group, wide = head.integer("group", 1), head.integers("kernel_shape")
    fits = min([0, *(head.integers("pads") or [])]) == 0 < min(head.integers("dilations") or [1])
    fits &= _whole((*shape[1:], *kernel, *sizes[1:], group)) and wide in (None, [*kernel[2:]])
    fits = fits and shape[1] == multiply(kernel[1], group) and bias in ([], [kernel[:1]])
    return fits and divide(kernel[0], group) is not None


def _concatenates(terms: Terms, node: Node, shapes: list[Shape]) -> bool:
    axis = node.head.integer("axis")
    return 0 <= axis < len(shapes[0]) and len({(s[:axis], s[axis + 1 :]) for s in shapes}) == 1


def _reshapes(terms: Terms, node: Node, shapes: list[Shape]) -> bool:
    """Test for a Reshape that does not fail. One that computes a size fails on others of 0."""
    (shape, *_), sizes = shapes, fact_of_output(terms, node.head, node.args, 0).shape
    target = sizes_in(terms, (*node.args, ABSENT)[1])
    if sizes is None or target is None or None in (*target, count := multiply(*sizes)):
        return False
    others = [size for size, n in zip(sizes, target, strict=True) if n != -1]
    beyond = [n for n in target[len(shape) :] if not isinstance(n, int) or not n]
    whole = -1 not in target or all(isinstance(size, int) and size > 0 for size in others)
    return whole and not beyond and multiply(*shape) == count


def _fits(shapes: Sequence[Shape]) -> bool:
    """Test for shapes that broadcast, whatever their sizes are."""
    result = broadcast(shapes) or ()
    ends = [(shape, result[len(result) - len(shape) :]) for shape in shapes]
    return all(dim in (1, size) for pair in ends for dim, size in zip(*pair, strict=True))


def _iterates(terms: Terms, node: Node, shapes: list[Shape]) -> bool:
    """Test for a recurrent operator on sequences with an element, whose sizes fit."""
    (head, args, *_), hidden = node, node.head.integer("hidden_size")
    count = 2 if head.attribute("direction") == b"bidirectional" else 1
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[head.name] * hidden
    length, batch, width = shapes[0] if len(shapes[0]) == 3 else (0, 0, 0)
    full: list[object] = [(count, gates, width), (count, gates, hidden), (count, 2 * gates), None]
    full += [(count, batch, hidden), (count, batch, hidden), (count, 3 * hidden)]
    own = [None if arg == ABSENT else terms.fact(arg).shape for arg in args[1:]]
    fits = all(a in (None, b) for a, b in zip(own, full, strict=False))
    fits &= _whole((batch, width, hidden))
    fits &= is_at_least(1, length) or _some_rows(terms, args[0]) is not None
    # Its equations are those of activations that exist.
    return fits and terms.define(terms, *_call(head, 0), {}, args) is not None


# Tests by operator, of operands of known types and shapes.
_TESTS: dict[str, Callable[[Terms, Node, list[Shape]], bool]] = {
    **dict.fromkeys(REDUCTIONS, _reduces),
    "Concat": _concatenates,
    "Conv": _convolves,
    "GlobalAveragePool": lambda t, n, s: len(s[0]) > 2 and _whole(s[0][2:]),
    **dict.fromkeys(CELLS, _iterates),
    "CumSum": lambda t, n, s: s[1] == () and bool(_places(len(s[0]), _axes(t, n))),
    "Gather": _gathers,
    "MatMul": lambda t, n, s: s[0][-1:] == s[1][-2:][:1] != () and _fits([e[:-2] for e in s]),
    "Range": lambda t, n, s: s == [()] * 3 and bool((t.numbers(n.args[2]) or [0])[0]),
    "Reshape": _reshapes,
    "Slice": _slices,
    "TopK": _selects,
    "Unsqueeze": lambda t, n, s: bool(_places(len(s[0]) + len(_axes(t, n) or ()), _axes(t, n))),
}


_TOTAL = "Identity", "If", "PRelu", "Shape", "Size"


@_rule("total", *movement.SINGLE, *_TESTS, *_TOTAL, *scans.ALONG, kind="safe")
def total(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Note that an operator fails on no values, since the shapes of its operands fit."""
    name, facts = node.head.name, [terms.fact(arg) for arg in node.args if arg != ABSENT]
    shapes = [each.shape for each in facts if each.shape is not None]
    kinds, numbers = {each.elem_type for each in facts}, _axes(terms, node)
    if name in ("Identity", "If", "Shape", "Size") or (name == "Unsqueeze" and numbers == [0]):
        fits = name != "If" or facts[0] == Fact(onnx.TensorProto.BOOL, ())
    # Type 0 is unknown, and 8 are texts, on which arithmetic fails.
    elif len(shapes) < len(facts) or kinds & {0, 8} or (node.head.version < FIRST and facts[1:]):
        fits = False
    elif name in _TESTS:
        fits = _TESTS[name](terms, node, shapes)
    elif name in scans.ALONG:
        axis, rank = node.head.integer("axis"), len(shapes[0])
        part = shapes[0][axis:][: 0 if "Softmax" in name else 1 if "Arg" in name else None]
        fits = -rank <= axis < rank and {*shapes[1:]} <= {part}
        fits &= all(is_at_least(2 - ("Arg" in name), size) for size in part)  # as runtimes demand
    else:
        fits = _fits(shapes) and (name not in ("Div", "Pow") or kinds <= _FLOATS) and name != "Mod"
        fits &= name != "PRelu" or broadcast(shapes) == shapes[0]
    return terms.add(*node[:2], fact, node.output) if fits else None


_rule("if-on-constant", "If", kind="safe")(
    lambda terms, node, fact: scans.chosen_by(terms, node.head, node.args, node.output)
)


@_rule("both-branches", "If", kind="value")
def both_branches(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Choose between the results of both branches, which have one shape."""
    marks = sorted(node.head.key, key=lambda mark: BRANCHES[mark[0]], reverse=True)
    ends = [end for mark in marks for end in node.args[mark[2] :][: mark[3]][node.output :][:1]]
    same = [*map(terms.fact, ends)] == [fact, fact] and None not in (fact.shape or (None,))
    is_scalar = terms.fact(node.args[0]).shape == ()
    return apply(terms, "Where", node.args[0], *ends) if same and is_scalar else None
