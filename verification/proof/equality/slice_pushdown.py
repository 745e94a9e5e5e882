"""Slices pushed down: a slice of an operator's output as the operator on slices.

Each element of such an output comes from the same operations on the same numbers, so that a slice
has the same bits; for operators that round in between that holds up to the choice of a runtime's
kernel.
"""

import contextlib
import itertools
from collections.abc import Callable, Generator, Iterator, Mapping, Set

from ....facts.fact import PRIVATE, Fact, Shape, element
from ....facts.polynomial import Dimension, product
from ....ops import described
from ....ops.axes import ONE
from ..simplify.padding import padded_rows
from ..simplify.slices import backward, is_part, slice_of_its_length
from ..terms.axis_maps import ELEMENTWISE, axis_map
from ..terms.exact_operators import is_exact
from ..terms.free_variables import Bound, binding
from ..terms.term import Term, bare, below_view, speaks_of_no_axis
from ..terms.term_manager import LATE_RULES, ZERO, Terms
from .maps import over_all
from .substitution import Substitution, instantiate_scan_output, unrolled

Slice = tuple[Term, int, Dimension, Dimension]
"""Term, axis, start and size."""

Steps = Generator[Slice, Term, Term]
"""Rule: it requests slices of operands and returns a term."""

_SLICE = 8
"""Steps of a slice that is pushed down: it is built, and its rules are asked."""


class SlicePushdown:
    """Pushes slices through operators to their operands.

    Args:
        open_term: function that replaces an operator by its definition, or returns None.

    Attributes:
        chosen: operators applied to some rows instead of all, or in another shape, whose bits
            depend on the kernel.
        whole: terms whose slices are not pushed down.
    """

    def __init__(
        self, terms: Terms, open_term: Callable[[Term], Term | None] = lambda term: None
    ) -> None:
        self.terms = self._terms = terms
        self._open = open_term
        self._known: dict[Slice, Term] = {}
        self._settled: dict[Term, Term] = {}
        self._maps: dict[Term, Term] = {}
        self.chosen: set[str] = set()
        self.whole: Set[Term] = frozenset()
        self._by_index = False

    @contextlib.contextmanager
    def keeping(self, whole: Set[Term]) -> Iterator[None]:
        """Leave slices of some terms as they are."""
        # The caches rest on `whole`: they hold slices pushed through terms that stay
        # whole from now on.
        before = self.whole, self._known, self._settled, self._by_index
        self.whole, self._known, self._settled, self._by_index = whole, {}, {}, True
        try:
            yield
        finally:
            self.whole, self._known, self._settled, self._by_index = before

    def of(self, term: Term, axis: int, start: Dimension, size: Dimension) -> Term:
        """Slice of a term, pushed down as far as rules apply."""
        key = term, axis, start, size
        return self._known.get(key) or self._run(_request(key))

    def settled(self, term: Term) -> Term:
        """Normal form for the comparison. The outermost slice is pushed down, and leading unit axes
        become a view."""
        return self._settled.get(term) or self._run(self._form(term))

    def _run(self, steps: Steps) -> Term:
        """Result of a generator that requests slices; without recursion."""
        memo, answer = self._known, None
        running: list[tuple[Slice | None, Steps]] = [(None, steps)]
        while running:
            key, top = running[-1]
            request = next_of(top, answer)
            if not isinstance(request, Term):
                answer = memo.get(request)
                if answer is None:
                    self._terms.budget.step(_SLICE)
                    running.append((request, self._steps(*request)))
                continue
            running.pop()
            answer = request
            if key is not None:
                memo[key] = answer
                if self._terms.trace is not None:
                    self._terms.trace.came(answer, key[0])
        assert answer is not None
        return answer

    def _form(self, term: Term) -> Steps:
        """Generator of a normal form, cached."""
        form = self._settled.get(term)
        if form is None:
            form = self._settled[term] = yield from self._settle(term)
        return form

    def _settle(self, term: Term) -> Steps:
        """Generator of a normal form."""
        opened = self._open(term)
        if opened is not None:
            return opened
        if term.head.name == "state":
            return unrolled(self._terms, term)
        if self._by_index and term.is_op("Gather"):
            part = self._at_index(term)
            if part is not None:
                return part
        plain = yield from self._with_plain_places(term)
        if plain is not term:
            return plain
        late = LATE_RULES.get(term.head.name)
        if late is not None:
            results = late(self._terms, term.head, term.args) or ()
            result = results[term.index] if term.index < len(results) else None
            return term if result is None else result
        below = term.args[0] if term.head.name in ("narrow", "view", "Transpose") else None
        if below is None:
            return term
        if term.head.name == "Transpose":
            inner = below_view(below)
            if inner.head.name != "narrow":
                return term
            moved = yield inner.operands[0], inner.head.key, *_place(inner)
            return self._terms.rebuild(term, (self._terms.view(moved, below.shape),))
        if term.head.name == "narrow":
            cut = slice_of_its_length(self._terms, term)
            if cut is not None:
                shorter = yield from self._with_plain_places(cut)
                if shorter is not cut:
                    return shorter
            return (yield below, term.head.key, *_place(term))
        inner = yield from self._form(below)  # which is no view
        return term if inner is below else self._terms.view(inner, term.shape)

    def _with_plain_places(self, term: Term) -> Steps:
        """Generator of an operator that reads normal forms of its sizes, axes and positions."""
        rules = None if term.head.op is None else described().get(term.head.op.qualname)
        positions = () if rules is None else rules.steered_by or rules.sized_by
        args = list(term.args)
        for index in positions:
            arg = args[index] if index < len(args) else None
            if arg is not None and arg.args:
                args[index] = yield from self._form(arg)
        return term if tuple(args) == term.args else self._terms.rebuild(term, tuple(args))

    def _at_index(self, term: Term) -> Term | None:
        """Gather at one index as a slice at an unknown position; None for more indices."""
        x, index = term.operands
        shape = index.fact.shape
        if x.fact.shape is None or shape is None or any(dim.value != 1 for dim in shape):
            return None
        if speaks_of_no_axis(term.head, term.args):
            return None
        axis = term.head.attribute("axis") % len(x.fact.shape)
        place = self._position(self.settled(self._terms.view(index, ())), x.fact.shape[axis])
        return self._terms.view(self.of(x, axis, place, ONE), term.shape)

    def _position(self, index: Term, size: Dimension) -> Dimension:
        """Position that an index means in an axis of a size, counted from the front."""
        content = element(index.fact)
        if isinstance(content, Dimension) and content.less(0) is not None:
            return content + size if content.less(0) else content
        if size.value == 1:
            # Such an axis has the indices 0 and -1 only, and both mean its one element.
            return ZERO
        name = f"{PRIVATE}at{index.number}:{size}"
        self._terms.limits[name] = size
        return self._terms.symbols.iteration(name)

    def reshaped(self, term: Term) -> set[str]:
        """Operator that `settled` applies in another shape, if that may be another kernel. An
        elementwise operator has as many elements as before."""
        term = bare(term)
        moves = term.head.name in LATE_RULES and term.head.name not in ELEMENTWISE
        if not moves or is_exact(term.head.name, (*term.args, term)) or self.settled(term) is term:
            return set()
        return {term.head.name}

    def _steps(self, x: Term, axis: int, start: Dimension, size: Dimension) -> Steps:
        """Generator of a slice."""
        part = self._terms.narrow(x, axis, start, size)
        if part.head.name != "narrow" or x in self.whole:
            return part
        yield from ()
        below = part.args[0]
        assert below is not None
        if below is not x:  # a slice of a slice, or a slice along an earlier axis
            moved = yield from self._form(below)
            return (yield moved, part.head.key, *_place(part))
        if x.head.name == "narrow":  # along an earlier axis, which may be pushed down
            moved = yield from self._form(x)
            return part if moved is x else (yield moved, axis, start, size)
        return (yield from self._of_head(x, axis, start, size, part))

    def _of_head(self, x: Term, axis: int, start: Dimension, size: Dimension, part: Term) -> Steps:
        """Slice of an operator's output, by its head."""
        terms, name, shape = self._terms, x.head.name, x.shape
        new = (*shape[:axis], size, *shape[axis + 1 :])
        opened = padded_rows(terms, x, axis) if name == "Pad" else self._open(x)
        if opened is not None and opened.head is not x.head:
            return (yield opened, axis, start, size)
        if name == "view":
            return (yield from self._of_view(x, axis, start, size, part))
        if name == "Transpose":
            (inner,), perm = x.args, x.head.attribute("perm")
            assert inner is not None
            moved = yield inner, perm[axis], start, size
            return terms.op("Transpose", x.head, moved, perm=perm)
        if name == "choose":
            one = yield x.args[1], axis, start, size  # type: ignore[misc]
            other = yield x.args[2], axis, start, size  # type: ignore[misc]
            return terms.rebuild(x, (x.args[0], one, other))
        if name == "stacked" and axis == 0:
            return (yield from self._of_scan_output(x, start, size, part))
        if name == "Concat" and axis == x.head.attribute("axis") and len(x.args) == 2:
            return (yield from self._of_pieces(x, axis, start, size, part))
        if name == "final" or (name == "stacked" and axis > 0):
            return (yield from self._of_recurrence(x, axis, start, size, part))
        if name == "reversed" and axis == x.head.key:
            inner = x.args[0]
            assert inner is not None
            moved = yield inner, axis, shape[axis] - start - size, size
            return backward(terms, moved, axis)
        if name == "Expand":
            return (yield from self._of_expand(x, axis, start, size, new))
        if name == "Range":
            return self._of_range(x, start, size) or part
        return (yield from self._of_operator(x, axis, start, size, part))

    def _of_scan_output(self, x: Term, start: Dimension, size: Dimension, part: Term) -> Steps:
        """Row of a scan output, or rows of all iterations at once."""
        if size.value == 1:
            return self._terms.view(instantiate_scan_output(self._terms, x, start), part.shape)
        rows = yield from self._over_all(x)
        return part if rows is x else (yield rows, 0, start, size)

    def _of_pieces(
        self, x: Term, axis: int, start: Dimension, size: Dimension, part: Term
    ) -> Steps:
        """Slice of two pieces: a state, or the end of the one and the beginning of the other."""
        terms, (one, other) = self._terms, x.operands
        if axis == 0 and size.value == 1:
            rest = yield from self._form(other)
            state = _state_at(terms, one, rest, start)
            if state is not None:
                return state
        length, late = one.shape[axis], other.shape[axis]
        ahead, behind = length - start, start + size - length
        # Both parts must exist: a start behind the first piece would make `ahead` negative.
        if not is_part(terms, start, ahead, length) or not is_part(terms, ZERO, behind, late):
            return part
        pieces = (yield one, axis, start, ahead), (yield other, axis, ZERO, behind)
        return terms.rebuild(x, pieces)

    def over_all(self, term: Term) -> Term:
        """Scan output as operators over all iterations; any other term itself."""
        return self._run(self._over_all(term)) if term.head.name == "stacked" else term

    def _over_all(self, stacked: Term) -> Steps:
        """Generator of a scan output as operators over all iterations."""
        if stacked not in self._maps:
            self._maps[stacked] = stacked
            rows, bound = over_all(self._terms, stacked), binding(stacked)
            if rows is not None and bound is not None:
                (part,) = stacked.head.parts
                own = yield rows, 0, Dimension.symbol(bound.index), ONE
                forms = (
                    (yield from self._form(self._terms.view(own, part.shape))),
                    (yield from self._form(part)),
                )
                self._maps[stacked] = rows if forms[0] is forms[1] else stacked
        return self._maps[stacked]

    def _of_recurrence(
        self, x: Term, axis: int, start: Dimension, size: Dimension, part: Term
    ) -> Steps:
        """Row of a state or a scan output, as the state of a row."""
        recurrence, is_final = x.operands[0], x.head.name == "final"
        bound = binding(recurrence)
        # The recurrence of a row has no condition of its own, and that of the loop may
        # read all rows.
        if size.value != 1 or bound is None or bound.conditional or recurrence.args[1] is not None:
            return part
        if not bound.states or _may_capture(self._terms, bound, start):
            return part
        moved, axes = dict[int, Term](), dict[int, int | None]()
        output = None
        if is_final:
            axes[x.head.key] = axis
        else:
            output = yield x.head.parts[0], axis - 1, start, ONE
            if not _reads_rows(self._terms, output, bound, start, axes):
                return part
        while len(moved) < len(axes):
            number = next(each for each in axes if each not in moved)
            own, after = axes[number], recurrence.head.parts[number]
            moved[number] = after if own is None else (yield after, own, start, ONE)
            if not _reads_rows(self._terms, moved[number], bound, start, axes):
                return part
        inits = {}
        for number, own in axes.items():
            init, variable = recurrence.args[2 + number], bound.states[number]
            if init is None or init.fact.shape is None or init.shape != variable.fact.shape:
                return part
            inits[number] = init if own is None else (yield init, own, start, ONE)
        return _sliced(self._terms, x, (axis, start), axes, moved, inits, output) or part

    def _of_operator(
        self, x: Term, axis: int, start: Dimension, size: Dimension, part: Term
    ) -> Steps:
        shape = x.shape
        if x.head.op is None:
            return part
        axes = axis_map(self._terms, x.head, x.args, axis)
        if axes is None or (x.index and not axes.all_outputs):
            return part
        args = list(x.args)
        for index, own in enumerate(axes.inputs):
            arg = args[index]
            if own is None or arg is None:
                continue
            dims = arg.fact.shape
            if dims is None or own >= len(dims):
                return part  # a node that fails may have operands of any rank
            if axes.stretches and dims[own].value == 1:
                continue
            if dims[own] != shape[axis]:
                return part
            args[index] = yield arg, own, start, size
        if not is_exact(x.head.name, (*x.args, x)):
            # onnxruntime's kernels compute one row with other last bits than many
            # rows (MatMul, Softplus).
            self.chosen.add(x.head.name)
        return self._terms.rebuild(x, tuple(args))

    def _of_view(self, x: Term, axis: int, start: Dimension, size: Dimension, part: Term) -> Steps:
        """Slice of a view, if it is a slice of its operand."""
        inner, shape = x.args[0], x.shape
        assert inner is not None
        below = inner.fact.shape or ()
        new = (*shape[:axis], size, *shape[axis + 1 :])
        place = axis_below(shape, below, axis, start, size)
        if place is not None:
            return self._terms.view((yield inner, *place), new)
        own = _merged_axes(shape, below, axis)
        row = None if own is None else self._place_in_row(below, own, start, size)
        if own is None or row is None:
            return part
        moved = yield inner, own, row[0], ONE
        return self._terms.view((yield moved, own + 1, row[1], size), new)

    def _place_in_row(
        self, below: Shape, own: int, start: Dimension, size: Dimension
    ) -> tuple[Dimension, Dimension] | None:
        """Row of merged axes that holds a slice, and the start in it; None if that is not certain.

        The row of one element at an unknown position is a symbol, the quotient of its position.
        """
        rows, row = below[own : own + 2]
        if start.value is not None and size.value is not None and row.value:
            number, place = divmod(start.value, row.value)
            if place + size.value <= row.value:
                return Dimension.constant(number), Dimension.constant(place)
        if start.value is not None or size.value != 1:
            return None
        name = f"{PRIVATE}row{start}:{rows}:{row}"
        self._terms.limits[name] = rows
        quotient = self._terms.symbols.iteration(name)
        self._terms.symbols.magnitudes.exists((quotient, row))  # no more than the merged axis
        return quotient, start - quotient * row

    def _of_expand(
        self, x: Term, axis: int, start: Dimension, size: Dimension, new: Shape
    ) -> Steps:
        inner = x.args[0]
        assert inner is not None
        below = inner.fact.shape
        if below is None:
            return self._terms.narrow(x, axis, start, size)
        own = axis - len(x.shape) + len(below)
        if own >= 0 and below[own].value != 1:
            if below[own] != x.shape[axis]:
                return self._terms.narrow(x, axis, start, size)  # it may broadcast, too
            inner = yield inner, own, start, size
        return self._terms.rebuild(x, (inner, self._terms.sizes(new)))

    def _of_range(self, x: Term, start: Dimension, size: Dimension) -> Term | None:
        """Slice of an integer Range: its numbers."""
        first, _, step = (None if a is None else element(a.fact) for a in x.args)
        if first is None or step is None or size.value is None or size.value > 1024:
            return None
        numbers = [first + (start + n) * step for n in range(size.value)]
        return self._terms.sizes(numbers, x.fact.elem_type)


def _state_at(terms: Terms, first: Term, rest: Term, index: Dimension) -> Term | None:
    """Row of an initial state and the states after each iteration: the state before the iteration
    of its index."""
    recurrence = rest.operands[0] if rest.head.name == "stacked" else rest
    bound = binding(recurrence)
    if rest is recurrence or bound is None or bound.conditional or index.value is not None:
        return None
    for k, init in enumerate(recurrence.args[2:]):
        variable, update = bound.states[k], recurrence.head.parts[k]
        shape = variable.fact.shape
        if init is None or shape is None or init.fact.shape != shape:
            continue
        if update is rest.head.parts[0] and terms.view(init, (ONE, *shape)) is first:
            if index == rest.shape[0]:
                state = terms.keep(terms.heads.own("final", k), (recurrence,), variable.fact)
            else:
                args = recurrence, terms.size(index)
                state = terms.keep(terms.heads.own("state", k), args, variable.fact)
            return terms.view(state, first.shape)
    return None


def _may_capture(terms: Terms, bound: Bound, start: Dimension) -> bool:
    """Test whether a position may mean another one inside of a recurrence."""
    level = bound.states[0].head.key[0]
    return bound.index in start.symbols or level in terms.symbols.free(terms.size(start))


def _reads_rows(
    terms: Terms, root: Term, bound: Bound, start: Dimension, axes: dict[int, int | None]
) -> bool:
    """Test whether a term reads each state whole or by its rows at a position.

    Args:
        start: the position.
        axes: for each state that is read, the axis of its rows, or None for a whole state; more
            are added.
    """
    stack, visited = [root], set[Term]()
    while stack:
        term = stack.pop()
        if term in visited:
            continue
        visited.add(term)
        terms.budget.step()
        if term in bound.states:
            # A state that is read whole needs all of its rows, so that its rows alone
            # do not suffice.
            if axes.setdefault(bound.states.index(term), None) is not None:
                return False
            continue
        below = term.args[0] if term.head.name == "narrow" else None
        if below is not None and below in bound.states and _place(term) == (start, ONE):
            number = bound.states.index(below)
            if axes.setdefault(number, term.head.key) != term.head.key:
                return False
            continue
        stack += [each for each in (*term.args, *term.head.parts) if each is not None]
    return True


def _sliced(
    terms: Terms,
    x: Term,
    place: tuple[int, Dimension],
    axes: Mapping[int, int | None],
    moved: Mapping[int, Term],
    inits: Mapping[int, Term],
    output: Term | None,
) -> Term | None:
    """Row of a state or a scan output, as that of a recurrence of rows.

    Args:
        x: the state after all iterations, or the scan output.
        place: axis of it, and position of the row.
        axes: for each state, the axis of its rows; None for a whole state.
        moved: for each state, its next value or the row of that.
        inits: for each state, its initial value or the row of that.
        output: the row of the scan output on an iteration; None for a state.
    """
    (axis, start), recurrence = place, x.operands[0]
    bound = binding(recurrence)
    assert bound is not None
    order, level = sorted(axes), bound.states[0].head.key[0]
    terms.loop_count += 1
    leaves, states = dict[Term, Term](), []
    for number in order:
        variable, own = bound.states[number], axes[number]
        row = variable if own is None else terms.narrow(variable, own, start, ONE)
        fact = terms.facts.one(Fact(row.fact.elem_type, row.shape))
        key = level, f"{level}.{terms.loop_count}", number, id(fact)
        states.append(terms.leaf("bound", key, fact))
        leaves[row] = states[-1]
    substitution = Substitution(terms, leaves, {})
    parts = tuple([substitution.of(moved[number]) for number in order])
    head = terms.heads.own(
        "recurrence", Bound(bound.index, tuple(states), False, bound.has_limit), parts
    )
    args = recurrence.args[0], None, *[inits[number] for number in order]
    rows = terms.keep(head, args, Fact())
    shape = (*x.shape[:axis], ONE, *x.shape[axis + 1 :])
    if output is None:
        head = terms.heads.own("final", order.index(x.head.key))
        return terms.keep(head, (rows,), Fact(x.fact.elem_type, shape))
    name, empty = x.head.key
    if empty is not None and empty != (x.fact.elem_type, x.shape[1:]):
        return None
    element_of_none = None if empty is None else (x.fact.elem_type, shape[1:])
    head = terms.heads.own("stacked", (name, element_of_none), (substitution.of(output),))
    return terms.keep(head, (rows,), Fact(x.fact.elem_type, shape))


def _request(key: Slice) -> Steps:
    return (yield key)


def next_of(steps: Steps, answer: Term | None) -> Term | Slice:
    """Next request of a rule, or its result."""
    try:
        return next(steps) if answer is None else steps.send(answer)
    except StopIteration as stop:
        result: Term = stop.value
        return result


def axis_below(
    shape: Shape, below: Shape, axis: int, start: Dimension, size: Dimension
) -> tuple[int, Dimension, Dimension] | None:
    """Axis, start and size of a slice of a view in its operand. None if it is no slice along one
    axis.

    The axis of the operand is as long and has as many elements after it; or the axis of the view is
    the first part of it; or the view merges it with the axes after it. As many elements stand
    before it then, since both shapes have equally many.
    """
    behind = product(shape[axis + 1 :])
    for own, whole in enumerate(below):
        rest = product(below[own + 1 :])
        if whole == shape[axis] and rest == behind:
            return own, start, size
        wider = None if rest == behind else behind.divided_by(rest)
        if wider is not None and whole == shape[axis] * wider:
            return own, start * wider, size * wider
        finer = None if rest == behind else rest.divided_by(behind)
        if finer is not None and shape[axis] == whole * finer:
            places = start.divided_by(finer), size.divided_by(finer)
            if places[0] is not None and places[1] is not None:
                return own, places[0], places[1]
    return None


def _merged_axes(shape: Shape, below: Shape, axis: int) -> int | None:
    """First one of two axes that a view merges into an axis; None if it does not."""
    behind = product(shape[axis + 1 :])
    for own, (rows, row) in enumerate(itertools.pairwise(below)):
        if rows * row == shape[axis] and product(below[own + 2 :]) == behind:
            return own
    return None


def _place(part: Term) -> tuple[Dimension, Dimension]:
    start, size = part.args[1], part.args[2]
    assert start is not None and size is not None
    return element(start.fact), element(size.fact)
