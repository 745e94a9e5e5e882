"""What terms are worth: an interpreter of terms, by which rules are checked against runs.

The term of an output of a model, evaluated, must be what the reference gives, bit for bit; and what
is known of each term on the way (its type, its sizes, its content) must hold of its value.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from sessions import loaded
from straightline.analysis.shapes.onnx_inference_cache import connected_message
from straightline.facts.fact import PRIVATE, element
from straightline.facts.polynomial import Dimension
from straightline.reference.interpreter.node_kernels import operator_kernel
from straightline.verification.proof.execution.compile_graph import Compiler
from straightline.verification.proof.execution.inputs import input_terms, overridable
from straightline.verification.proof.execution.symbolic_execution import Execution
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.free_variables import Bound
from straightline.verification.proof.terms.term import Term, fingerprint
from straightline.verification.proof.terms.term_manager import Terms


def terms_of(
    model: onnx.ModelProto, budget: Budget | None = None
) -> tuple[Terms, list[Term | None]]:
    """The terms of the outputs of a model."""
    terms = Terms(budget or Budget())
    inputs = input_terms(terms, model, model, {})
    program = Compiler(terms.heads, model).main
    execution, given = Execution(terms, "before"), []
    constants, free = dict(program.constants), overridable(model)
    for name, place in zip(program.names, program.inputs, strict=True):
        fixed = place in constants and name not in free
        given.append(execution.constant(constants[place]) if fixed else inputs[name])
    return terms, execution.run(program, given)


def evaluated(model: onnx.ModelProto, feeds: Mapping[str, Any]) -> list[Any]:
    """What the terms of a model are worth for an input."""
    terms, outputs = loaded(model, _terms_of_content)
    values = Values(terms, fed(model, feeds))
    return [values.of(term) for term in outputs]


def _terms_of_content(content: bytes | onnx.ModelProto) -> tuple[Terms, list[Term | None]]:
    return terms_of(onnx.load_from_string(content) if isinstance(content, bytes) else content)


def fed(model: onnx.ModelProto, feeds: Mapping[str, Any]) -> dict[str, Any]:
    """An input with the defaults of what it leaves out."""
    return {**{t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}, **feeds}


class Values:
    """Values of terms.

    Args:
        terms: where they were made.
        feeds: the inputs.
    """

    def __init__(self, terms: Terms, feeds: Mapping[str, Any]) -> None:
        self.terms = terms
        self.feeds = feeds
        self.sizes: dict[str, int] = {}
        self.known: dict[Term, Any] = {}
        self._asked: set[Term] = set()
        for term in [made[0] for made in _made(terms) if made and made[0] is not None]:
            if term.head.name == "input" and term.head.key in feeds:
                self.of(term)

    def of(self, term: Term | None) -> Any:
        """The value of a term."""
        if term is None:
            return None
        if term not in self.known:
            value = self._computed(term)
            self._check(term, value)
            self.known[term] = value
        return self.known[term]

    def size(self, size: Any) -> Any:
        """A size or a truth value as a number."""
        if not isinstance(size, Dimension):
            return size
        for name in size.symbols - self.sizes.keys():
            self.sizes[name] = self._told(name)
        numbers = {name: Dimension.constant(self.sizes[name]) for name in size.symbols}
        return size.replaced(numbers).value

    def _told(self, name: str) -> int:
        """A size that the value of a term tells."""
        if name in self.terms.symbols.derived:
            kind, term, size_of = self.terms.symbols.derived[name]
            return self._derived(kind, term, str(size_of))
        made = [t for results in _made(self.terms) for t in results if t is not None]
        kind = name.removeprefix(PRIVATE)
        kind, separator, rest = kind.partition(":")
        told, _, size = rest.partition(":")
        for term in made:
            if separator and fingerprint(term, {}) == told:
                return self._derived(kind, term, size)
            if kind == f"iterations{term.number}":
                return len(self.of(term)[0])
        for term in made:
            shape = term.fact.shape
            if shape is None or term in self._asked or Dimension.symbol(name) not in shape:
                continue
            self._asked.add(term)
            self.of(term)
            if name in self.sizes:
                return self.sizes[name]
        raise AssertionError(f"nothing tells the size {name}")

    def _derived(self, kind: str, term: Term, size: str) -> int:
        value = self.of(term)
        if kind in ("least0", "size"):
            return max(int(value), 0)
        iterations = int(size) if size.isdigit() else self.size(self.terms.symbols.named(size))
        return int(iterations) if bool(value) else 0

    def _check(self, term: Term, value: Any) -> None:
        """What is known of a term holds."""
        fact = term.fact
        if fact.count is not None:
            assert len(value) == fact.count
        if not isinstance(value, np.ndarray) or fact.other is not None:
            return
        if fact.elem_type:
            dtype = onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type)
            assert value.dtype == dtype or value.dtype.kind in "OUS", (
                term.head,
                value.dtype,
                dtype,
            )
        if fact.shape is not None:
            self._bind(fact.shape, value.shape)
            shape = tuple(self.size(dim) for dim in fact.shape)
            assert shape == value.shape, (term.head, fact.shape, value.shape)
        if fact.content is not None:
            told = [None if e is None else self.size(e) for e in fact.content.reshape(-1)]
            pairs = zip(told, value.reshape(-1).tolist(), strict=True)
            assert all(one is None or one == other for one, other in pairs), (
                term.head,
                told,
                value,
            )

    def _bind(self, shape: Sequence[Dimension], sizes: Sequence[int]) -> None:
        assert len(shape) == len(sizes), (shape, sizes)
        for dim, size in zip(shape, sizes, strict=True):
            if len(dim.symbols) == 1 and dim == Dimension.symbol(name := next(iter(dim.symbols))):
                self.sizes.setdefault(name, size)

    def _computed(self, term: Term) -> Any:
        head, args = term.head, term.args
        tensor = self.terms.tensor(term)
        if tensor is not None:
            return tensor.numpy()
        if head.op is None:
            return getattr(self, f"_of_{head.name}")(term)
        values = [self.of(arg) for arg in args]
        count = max(head.outputs, term.index + 1)
        constants: dict[int, Any] = {}
        node = self.terms.facts.node(head, args, constants, count)
        return operator_kernel(connected_message(head.op, node), head.imports)(values)[term.index]

    def _of_input(self, term: Term) -> Any:
        return self.feeds[term.head.key]

    def _of_sizes(self, term: Term) -> Any:
        content = term.fact.content
        dtype = onnx.helper.tensor_dtype_to_np_dtype(term.fact.elem_type)
        return np.array([self.size(e) for e in content.reshape(-1)], dtype).reshape(content.shape)

    def _of_void(self, term: Term) -> Any:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(term.fact.elem_type)
        return np.zeros([self.size(dim) for dim in term.fact.shape], dtype)

    def _of_view(self, term: Term) -> Any:
        return np.asarray(self.of(term.args[0])).reshape(self.of(term.args[1]))

    def _of_narrow(self, term: Term) -> Any:
        x, start, size = (self.of(arg) for arg in term.args)
        assert start >= 0 and start + size <= x.shape[term.head.key], (start, size, x.shape)
        return np.take(x, range(start, start + size), term.head.key)

    def _of_padded(self, term: Term) -> Any:
        x, length = (self.of(arg) for arg in term.args)
        return np.concatenate([x, np.zeros((int(length) - len(x), *x.shape[1:]), x.dtype)])

    def _of_reversed(self, term: Term) -> Any:
        return np.flip(self.of(term.args[0]), term.head.key)

    def _of_choose(self, term: Term) -> Any:
        condition, x, y = term.args
        return self.of(x if bool(self.of(condition)) else y)

    def _of_total(self, term: Term) -> Any:
        """A sum that does not wrap."""
        pairs = zip(term.head.key, term.args, strict=True)
        return sum(factor * self._integer(arg) for factor, arg in pairs)

    def _of_least(self, term: Term) -> Any:
        return min(self._integer(arg) for arg in term.args)

    def _of_divided(self, term: Term) -> Any:
        """An integer by a number, towards zero."""
        return int(self._integer(term.args[0]) / term.head.key)

    def _integer(self, term: Term) -> int:
        """One integer; a number of iterations may be more than its type holds."""
        told = element(term.fact)
        return int(self.of(term) if told is None else self.size(told))

    def _of_count(self, term: Term) -> Any:
        """How many of the integers next to a bound are on their side of it as float32, too."""
        side, most = term.head.key
        bound, sign = self._integer(term.args[0]), -1 if side == "below" else 1
        near = np.array([bound + sign * n for n in range(1, most + 1)])
        ends = near.astype(np.float32) * -sign, np.float32(bound) * -sign
        return int((ends[0] < ends[1]).sum())

    def _of_empty(self, term: Term) -> Any:
        return []

    def _of_append(self, term: Term) -> Any:
        return [*self.of(term.args[0]), self.of(term.args[1])]

    def _of_nothing(self, term: Term) -> Any:
        return None

    def _of_recurrence(self, term: Term) -> Any:
        """The iterations, each with the values that it binds, and the states after the last one."""
        bound = term.head.key
        assert isinstance(bound, Bound)
        limit, first, *states = (self.of(arg) for arg in term.args)
        again = first is None or bool(first)
        iterations: list[Values] = []
        while again and (limit is None or len(iterations) < int(limit)):
            iteration = self._iteration(bound, len(iterations), states)
            iterations.append(iteration)
            if bound.conditional:
                again = bool(iteration.of(term.head.parts[0]))
            states = [iteration.of(part) for part in term.head.parts[bound.conditional :]]
        return iterations, states

    def _iteration(self, bound: Bound, number: int, states: Sequence[Any]) -> "Values":
        iteration = Values.__new__(Values)
        iteration.terms, iteration.feeds = self.terms, self.feeds
        outside = {n: s for n, s in self.sizes.items() if n not in self.terms.symbols.varying}
        iteration.sizes = {**outside, bound.index: number}
        iteration._asked = set()
        iteration.known = dict(zip(bound.states, states, strict=True))
        for state, value in iteration.known.items():
            iteration._check(state, value)
        return iteration

    def _of_final(self, term: Term) -> Any:
        return self.of(term.args[0])[1][term.head.key]

    def _of_stacked(self, term: Term) -> Any:
        iterations, _ = self.of(term.args[0])
        if iterations:
            return np.stack([iteration.of(term.head.parts[0]) for iteration in iterations])
        elem_type, shape = term.head.key[1]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
        return np.zeros([0, *[self.size(dim) for dim in shape or ()]], dtype)


def _made(terms: Terms) -> list[list[Term | None]]:
    """What heads gave, in the order of the heads."""
    return [results for head in terms.heads for results in head.applications.values()]
