"""Loops that update a matrix by keys and values become LinearAttention.

d = Mul (s, Exp (g))   f = MatMul (k, d)   u = Mul (Sub (v, f), b)
s' = Add (d, MatMul (kT, u))   y = MatMul (q, s')
->
y, s' = com.microsoft.LinearAttention <update_rule = "gated_delta"> (q, k, v, s, g, b)

Measured under onnxruntime 1.32 on one thread: 0.07 to 0.23 of the time. Bodies are compared as sums
of products with named axes, so that all spellings of the contractions have one form.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import onnx

from ..analysis.iterations.zero_iterations import ScanElements
from ..analysis.shapes.inference import ShapeInference
from ..facts.obstacle import Obstacle
from ..facts.polynomial import Dimension
from ..ir import Node, Operator, Value
from ..ops.builder import Builder
from ..passes.iteration.loop_view import LoopView, read_replaceable
from ..passes.iteration.places import element_reads
from ..passes.simplify.raising.algebra import Unreadable
from ..passes.utils.replace_all_uses import replace_values
from ..runtimes.kernel_schemas import lacks_operator
from .index_sums import Atom, Axes, IndexReading, IndexSum, Names, Product

_DOMAIN = "com.microsoft"

_MOST_READERS = 16
"""The most nodes between the states and a result."""

_READ = ("Exp", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze")

_T = TypeVar("_T")


class _Layout(NamedTuple):
    """The names of axes; None for one of size 1."""

    batch: int | None
    step: int | None
    head: int | None
    key: int
    value: int


class _Match(NamedTuple):
    """Meaning of a scan.

    It is s' = decay s + key rate (value - key decay s) and y = query s'.

    Attributes:
        factors: the factors by name, without those that are absent.
        corrects: the state is corrected, by the value that the key finds.
        scale: the factor of the result.
        root: the result.
    """

    layout: _Layout
    factors: dict[str, Atom]
    corrects: bool
    scale: float
    root: Value
    result: Axes
    state: Axes


def raise_linear_attention(node: Node, inference: ShapeInference) -> bool:
    """Replace a Scan or Loop that updates a matrix, and products of its states."""
    try:
        reading, match = _matched(read_replaceable(node), inference)
    except (Obstacle, Unreadable):
        return False
    # The operator is younger than most; a runtime without it would refuse the model.
    opset = reading.view.around.root.opset()
    if lacks_operator(_DOMAIN, "LinearAttention", opset):
        return False
    _emit(reading, match)
    return True


def _matched(view: LoopView, inference: ShapeInference) -> "tuple[_Reading, _Match]":
    try:
        reading = _Reading(view, inference, _READ)
        return reading, reading.match()
    except Unreadable:  # a pass may have moved a product of factors out of the body
        reading = _Reading(view, inference, (*_READ, "Mul"))
        return reading, reading.match()


class _Reading:
    """Reading of one scan.

    Args:
        outside: the operators that are read around it.
    """

    def __init__(self, view: LoopView, inference: ShapeInference, outside: Sequence[str]) -> None:
        self.view, self.names, self._inference = view, Names(), inference
        self._outside, self._readers = outside, set[Node]()
        self.state = _only(view.states)
        self._known: dict[Value, IndexSum] = {}
        outer, self._step = self._sums({}), None
        for argument, source, axis in self._rows():
            one = outer.of(source)
            if one.axes[axis] is None:
                raise Unreadable
            self._step = self.names.joined(self._step, one.axes[axis])
            axes = (*one.axes[:axis], *one.axes[axis + 1 :])
            self._known[argument] = IndexSum(axes, one.products)
        if self._step is None:
            raise Unreadable

    def _rows(self) -> Iterator[tuple[Value, Value, int]]:
        """Yield each element that the body reads, with the value outside and the axis."""
        view = self.view
        for scanned in view.scan_inputs:
            if scanned.backward:
                raise Unreadable
            rank = len(self._sums({}).dims(scanned.source))
            yield scanned.argument, scanned.source, scanned.axis % rank
        if view.maximum is None:
            return
        count, start = self._inference.number(view.maximum), view.start
        if count is None or not _is_true(start):
            raise Unreadable
        self._require_sizes_of_nothing(count)
        for read in element_reads(view, self._inference):
            chosen, axis = read.selection, read.selection.axis
            size = self._sums({}).dims(chosen.source)[axis]
            is_whole = chosen.step == 1 and chosen.start == 0 and size.equals(count) is True
            if is_whole and not read.keeps_axis:
                yield read.node.output(), chosen.source, axis

    def _require_sizes_of_nothing(self, count: Dimension) -> None:
        """Require that a Loop without iterations returns rows of the sizes that others have."""
        if (count.at_least or 0) > 0:
            return
        elements = ScanElements(self.view.node, self._inference.model, self._inference)
        for place, output in enumerate(self.view.scan_outputs, 1 + len(self.view.states)):
            sizes = self._sums({}).dims(output.result)
            if elements.of(place) is None or any(size.value is None for size in sizes):
                raise Unreadable

    def _sums(self, sums: dict[Value, IndexSum]) -> IndexReading:
        def reads(node: Node) -> bool:
            is_inside = node.graph is self.view.body or node in self._readers
            return is_inside or node.is_op(*self._outside)

        return IndexReading(reads, self._inference, sums, self.names)

    def match(self) -> _Match:
        """The roles of all factors.

        Raises:
            Unreadable: the scan computes something else.
        """
        body = self._sums(self._known)
        sums = body.of(self.state.argument), body.of(self.state.result)
        root, result = self._result(sums[0].axes)
        before, after, result = map(self.names.resolved, (*sums, result))
        state, product = before.axes, _only(result.products)
        read = _only(a for a in product.atoms if a.value is self.state.result)
        query = _only(a for a in product.atoms if a is not read)
        key, inner = _only(pair for pair in zip(state, read.axes, strict=True) if len({*pair}) > 1)
        if after.axes != state or key is None or inner is None:
            raise Unreadable
        write = _only(p for p in after.products if not self._states_of(p))
        factor = _only(a for a in write.atoms if key in a.axes)
        value = _only(n for n in state if n not in (*factor.axes, None))
        # The prover does not know a state from the transposed one of the definition.
        if value is None or state.index(key) > state.index(value):
            raise Unreadable
        layout = self._layout(state, key, value)
        factors, corrects = self._factors(layout, Atom(self.state.argument, state), after.products)
        factors["query"] = query.renamed(inner, key)
        self._require_form(layout, factors, result.axes)
        return _Match(layout, factors, corrects, product.number, root, result.axes, state)

    def _states_of(self, product: Product) -> list[Atom]:
        return [atom for atom in product.atoms if atom.value is self.state.argument]

    def _layout(self, state: Axes, key: int, value: int) -> _Layout:
        outer = [name for name in state if name not in (key, value, None)]
        # An open size is one of batches: the number of heads is an attribute.
        batches = outer[:1] if len(outer) == 2 or not all(map(self._is_known, outer)) else []
        heads = outer[len(batches) :]
        batch, head = (each[0] if each else None for each in (batches, heads))
        if len(heads) > 1 or not all(map(self._is_known, (*heads, key, value))):
            raise Unreadable
        assert self._step is not None
        return _Layout(batch, self.names.found(self._step), head, key, value)

    def _is_known(self, name: int | None) -> bool:
        return self.names.size(name).value is not None

    def _factors(
        self, layout: _Layout, own: Atom, products: Sequence[Product]
    ) -> tuple[dict[str, Atom], bool]:
        """The factors of the update by name, and whether it corrects the state."""
        write = _only(p for p in products if not self._states_of(p))
        keep = _only(p for p in products if own in p.atoms)
        key = _only(a for a in write.atoms if layout.key in a.axes)
        value = _only(a for a in write.atoms if layout.value in a.axes)
        rates = [atom for atom in write.atoms if atom not in (key, value)]
        decays = [atom for atom in keep.atoms if atom != own]
        rest = [p for p in products if p is not write and p is not keep]
        if max(len(each) for each in (rates, decays, rest)) > 1 or len(rates) != len(rest):
            raise Unreadable
        if (write.number, keep.number) != (1, 1):
            raise Unreadable
        for correction in rest:
            inner = _only(self._states_of(correction)).axes[own.axes.index(layout.key)]
            if inner is None or correction.number != -1:
                raise Unreadable
            inside = [atom.renamed(layout.key, inner) for atom in (own, key, *decays)]
            if Counter([key, *rates, *inside]) != Counter(correction.atoms):
                raise Unreadable
        roles = {"key": [key], "value": [value], "rate": rates, "decay": decays}
        return {name: atoms[0] for name, atoms in roles.items() if atoms}, bool(rest)

    def _require_form(self, layout: _Layout, factors: dict[str, Atom], result: Axes) -> None:
        """Require the axes and the type that the operator has, and operands before the scan."""
        each = {layout.batch, layout.step, layout.head}
        axes = {"query": {*each, layout.key}, "key": {*each, layout.key}, "rate": each}
        axes |= {"value": {*each, layout.value}, "decay": each}
        if layout.key in factors.get("decay", factors["value"]).axes:
            axes["decay"] = axes["key"]
        # An operand that depends on the loop would depend on the operator that replaces it.
        later = self.view.around.dependents([self.view.node])
        for name, atom in factors.items():
            if {*atom.axes} - {None} != axes[name] - {None} or not self._is_float(atom.value):
                raise Unreadable
            # The operator reads the logarithm of a decay.
            is_later = self.view.around.vertex(atom.value) in later
            if is_later or atom.is_exp != (name == "decay"):
                raise Unreadable
        if {*result} - {None} != axes["value"] - {None} or not self._is_float(self.state.initial):
            raise Unreadable

    def _is_float(self, value: Value) -> bool:
        return self._inference.fact(value).elem_type == onnx.TensorProto.FLOAT

    def _result(self, state: Axes) -> tuple[Value, IndexSum]:
        """The one value to which the states lead, and its sum in terms of them."""
        dims = self._sums({}).dims(self.state.result)
        after = self.names.atom(self.state.result, dims)
        self.names.aligned([after.axes, state])
        inside = self._sums({**self._known, self.state.result: after})
        emitted: dict[Value, IndexSum] = {}
        for scanned in self.view.scan_outputs:
            if scanned.output is None or not self.view.around.users(scanned.output):
                continue
            one = inside.of(scanned.result)
            axis = scanned.axis % (len(one.axes) + 1)
            axes = (*one.axes[:axis], self._step, *one.axes[axis:])
            emitted[scanned.output] = IndexSum(axes, one.products)
            if scanned.backward:
                raise Unreadable
        outer = self._sums(emitted)
        root = _only({root: None for value in emitted for root in self._roots(value, outer)})
        return root, outer.of(root)

    def _roots(self, value: Value, outer: IndexReading) -> Iterator[Value]:
        """Yield the values in which the states are summed along an axis."""
        waiting = [value]
        for current in waiting:
            one = outer.of(current)
            read = _only(a for p in one.products for a in p.atoms if a.value is self.state.result)
            if not {*read.axes} <= {*one.axes, None}:
                yield current
                continue
            users = self.view.around.users(current)
            if not users or len(waiting) + len(users) > _MOST_READERS:
                raise Unreadable
            for user in users:
                if not isinstance(user, Node) or user.bodies or len(user.outputs) != 1:
                    raise Unreadable
                self._readers.add(user)
                waiting.append(user.output())


def _is_true(start: Value | None) -> bool:
    """Test for the initial condition of a Loop that its maximum alone ends."""
    tensor = None if start is None else start.constant
    is_true = tensor is not None and tensor.is_readable and bool(tensor.numpy().all())
    return start is None or is_true


def _only(items: Iterable[_T]) -> _T:
    """The one item there is."""
    every = list(items)
    if len(every) != 1:
        raise Unreadable
    return every[0]


def _emit(reading: _Reading, match: _Match) -> None:
    """Add the operator, and read it in the place of the results of a scan."""
    graph, layout, names = reading.view.around, match.layout, reading.names
    emit, name = Builder(graph), match.root.name
    each = (layout.batch, layout.step, layout.head)
    heads = names.size(layout.head).value or 1

    def operand(factor: str) -> Value | None:
        atom = match.factors.get(factor)
        if atom is None:
            return None
        last = [n for n in (layout.key, layout.value) if n in atom.axes]
        value = _arranged(emit, atom.value, atom.axes, (*each, *last), factor)
        size = heads * (names.size(last[0]).value or 1) if last else heads
        return emit.reshape(value, (0, 0, size), factor) if last else value

    matrix = (layout.batch, layout.head, layout.key, layout.value)
    first = _arranged(emit, reading.state.initial, match.state, matrix, "state")
    operands = [*map(operand, ("query", "key", "value")), first, operand("decay"), operand("rate")]
    while operands[-1] is None:
        operands.pop()
    words = ["gated"] * ("decay" in match.factors) + ["delta"] * match.corrects
    rule = "_".join(words) or "linear"
    graph.root.opset_imports.setdefault(_DOMAIN, 1)
    settings: dict[str, Any] = {"update_rule": rule, "scale": match.scale}
    settings |= {"q_num_heads": heads, "kv_num_heads": heads}
    op = Operator.make("LinearAttention", _DOMAIN, **settings)
    rows, last = emit.add_unchecked(op, operands, [f"{name}_rows", f"{name}_state"])
    sizes = (0, 0, heads, names.size(layout.value).value or 1)
    split = emit.reshape(rows, sizes, f"{name}_heads")
    news = {match.root: _arranged(emit, split, (*each, layout.value), match.result, name)}
    if reading.state.final is not None:
        final = reading.state.final
        news[final] = _arranged(emit, last, matrix, match.state, final.name)
    replace_values(graph, news)


def _arranged(emit: Builder, value: Value, have: Axes, want: Axes, label: str) -> Value:
    """A tensor with its axes in another order, with axes of size 1 between."""
    if have == want:
        return value
    units = tuple([axis for axis, name in enumerate(have) if name is None])
    if units:
        value = emit.squeeze(value, units, label)
    labels = [name for name in have if name is not None]
    order = [labels.index(name) for name in want if name is not None]
    value = emit.transpose(value, order, label)
    missing = tuple([axis for axis, name in enumerate(want) if name is None])
    return emit.unsqueeze(value, missing, label) if missing else value
