"""Scan outputs, and the lists and tensors to which each iteration appends."""

from collections.abc import Sequence
from types import SimpleNamespace

import onnx

from ....facts.fact import Fact
from ....facts.polynomial import Dimension
from ....ops.axes import ONE
from ....reference.bodies import Body, first_outputs
from ....reference.errors import EvaluationError
from ....reference.signature import is_static
from ..execution.compile_graph import Program, Step
from ..execution.obligations import SAME_SIZES
from ..execution.symbolic_execution import Execution, Frame, Value
from ..simplify.sequences import elements_of, rows_as_sequence
from ..simplify.slices import backward
from ..terms.budget import OpenError
from ..terms.term import Head, Term, descendants
from ..terms.term_manager import Terms


def stack(terms: Terms, elements: Sequence[Term | None], like: Head, axis: int = 0) -> Term:
    """Tensors stacked along a new axis, counted from the front."""
    viewed = []
    for element in elements:
        shape = None if element is None else element.fact.shape
        if element is None or shape is None:
            raise OpenError("the elements of a scan output have an unknown rank")
        viewed.append(terms.view(element, (*shape[:axis], ONE, *shape[axis:])))
    return terms.op("Concat", like, *viewed, axis=axis)


def reader_of(body: Program) -> Body:
    """Reader of the declarations of a body."""
    assert isinstance(body.proto, onnx.GraphProto)
    return _reader(body, body.proto)


def _reader(body: Program, graph: onnx.GraphProto) -> Body:
    return Body(SimpleNamespace(proto_=graph), body.imports, len(body.inputs))


def _without_names(graph: onnx.GraphProto) -> onnx.GraphProto:
    """Copy of a body without its names of sizes, which speak of no other graph."""
    copy = onnx.GraphProto()
    copy.CopyFrom(graph)
    for info in (*copy.output, *copy.value_info):
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.Clear()
    return copy


def declared_element(body: Program, index: int) -> Fact | None:
    """Fact of an output if its body declares all sizes: inference adds nothing."""
    assert isinstance(body.proto, onnx.GraphProto)
    name = body.proto.output[index].name
    declared = first_outputs(body.proto)[name].type.tensor_type
    if not declared.elem_type or not is_static(declared):
        return None
    sizes = [Dimension.constant(dim.dim_value) for dim in declared.shape.dim]
    return Fact(declared.elem_type, tuple(sizes))


def require_same(execution: Execution, step: Step, elements: Sequence[Term | None]) -> None:
    """Demand one shape of all elements of a scan output."""
    shapes = {None if element is None else element.fact.shape for element in elements}
    if len(shapes) > 1 or None in shapes:
        execution.demand(execution.terms.heads.own(SAME_SIZES), tuple(elements), step)


def empty_element(
    terms: Terms, body: Program, index: int, sample: Sequence[Fact], frame: Frame
) -> Fact:
    """Element of a scan output of a Scan's body that never ran.

    Shape inference completes the declaration by the sizes of inputs and captured values. A size
    that it does not find is 0 if these are all numbers, and unknown otherwise.

    Args:
        sample: facts of the body's inputs.
        frame: the frame around the body.

    Raises:
        OpenError: the type is unknown, or the rank.
    """
    declared = declared_element(body, index)
    if declared is not None:
        return declared
    assert isinstance(body.proto, onnx.GraphProto)
    reader, types = _reader(body, _without_names(body.proto)), _Types()
    outer = zip(body.captured_names, body.captures, strict=True)
    captured = {name: frame[place] for name, (place, _) in outer}
    inputs = [types.of(fact) for fact in sample]
    others = {name: types.of(value.fact) for name, value in captured.items() if value is not None}
    try:
        inferred = reader.inferred(index, inputs, others)
        elem_type, dims = reader.completed(index, inferred)
    except EvaluationError as error:
        raise OpenError(str(error)) from error
    if types.is_partial and not inferred.HasField("shape"):
        raise OpenError("without an iteration, elements of a scan output have an unknown rank")
    sizes = [types.size(dim) for dim in dims]
    shape = [terms.symbols.fresh() if size is None else size for size in sizes]
    return Fact(elem_type, tuple([dim.replaced(terms.case) for dim in shape]))


class _Types:
    """Types for shape inference, with a name for each size that is not a number.

    Attributes:
        is_partial: whether a size is no number, or a rank is unknown.
    """

    def __init__(self) -> None:
        self.is_partial = False
        self._names: dict[Dimension, str] = {}

    def of(self, fact: Fact) -> onnx.TypeProto:
        if fact.other is not None:
            return fact.other
        if not fact.elem_type:
            raise OpenError("an empty scan output depends on an unknown type")
        if fact.shape is None or any(dim.value is None for dim in fact.shape):
            self.is_partial = True
        dims = None if fact.shape is None else [self._written(dim) for dim in fact.shape]
        return onnx.helper.make_tensor_type_proto(fact.elem_type, dims)

    def _written(self, dim: Dimension) -> int | str:
        number = dim.value
        return self._names.setdefault(dim, f"?{len(self._names)}") if number is None else number

    def size(self, dim: onnx.TensorShapeProto.Dimension) -> Dimension | None:
        """Size that inference finds; None if numbers may tell another one than 0."""
        sizes = {name: size for size, name in self._names.items()}
        if dim.dim_param in sizes:
            return sizes[dim.dim_param]
        if self.is_partial and not dim.HasField("dim_value"):
            return None
        return Dimension.constant(dim.dim_value)


def empty_stack(terms: Terms, element: Fact, axis: int = 0) -> Term:
    """Scan output without an iteration."""
    shape = element.shape or ()
    none = Dimension.constant(0)
    return terms.void(Fact(element.elem_type, (*shape[:axis], none, *shape[axis:])))


def iterations_of(fact: Fact, axis: int) -> Dimension:
    """Length of a scan input."""
    if fact.shape is None or not -len(fact.shape) <= axis < len(fact.shape):
        raise OpenError("a scan input has an unknown rank")
    return fact.shape[axis]


def rows_added(
    terms: Terms,
    inits: Sequence[Term],
    states: Sequence[Term],
    next_condition: Term,
    outputs: Sequence[Value],
) -> dict[int, Term]:
    """Elements or rows that each iteration adds to a state, by state.

    They stand at its end, or all at its front. The states are sequences and tensors that nothing
    else reads."""
    added: dict[int, Term] = {}
    for k, state in enumerate(states):
        update, init = outputs[k], inits[k]
        if update is None or state.head.name != "bound":
            continue
        listed, joined = update.is_op("SequenceInsert"), _joins_rows(update)
        element = _element_of(terms, update, state) if listed or joined else None
        if element is None:
            continue
        listed = listed and _goes_on(terms, init, element)
        rows = element.fact.shape
        # An unknown number of rows may differ by iteration, and such rows do not stack.
        has_row_count = rows is not None and rows != () and rows[0].value is not None
        if listed or (joined and has_row_count and init.fact.shape):
            added[k] = element
    if not added:
        return {}
    others = [output for k, output in enumerate(outputs) if k not in added]
    # What reads a state otherwise needs it whole in each iteration.
    reachable = set(descendants([next_condition, *others, *added.values()]))
    return {k: term for k, term in added.items() if states[k] not in reachable}


def _joins_rows(update: Term) -> bool:
    """Test for a Concat of two tensors along the first axis."""
    both = update.is_op("Concat") and len(update.args) == 2
    return both and update.head.attribute("axis") == 0


def _element_of(terms: Terms, update: Term, state: Term) -> Term | None:
    """Element or rows that stand beside a state, at its end or at its front; None for others."""
    one, other, *place = update.args
    if place:
        return other if one is state and terms.numbers(place[0]) == [0] else None
    if update.is_op("Concat") and other is state:
        return one
    return other if one is state else None


def _goes_on(terms: Terms, init: Term, element: Term) -> bool:
    """Test whether the initial elements of a list are known, of the appended shape."""
    elements, shape = elements_of(terms, init), element.fact.shape
    if elements is None:
        return False
    return not elements or (shape is not None and {e.fact.shape for e in elements} == {shape})


def add_all(terms: Terms, init: Term, update: Term, element: Term, stacked: Term) -> Term:
    """Initial elements and those that each iteration adds, at the end or at the front."""
    elements = elements_of(terms, init)
    in_front = len(update.args) > 2 or update.args[1] is not element
    shape = stacked.shape
    # Where each iteration adds in front, the last one comes first.
    rows = backward(terms, stacked, 0) if in_front else stacked
    if elements is None:
        rows = terms.view(rows, (shape[0] * shape[1], *shape[2:]))
        return _concat(terms, update, *((rows, init) if in_front else (init, rows)))
    if elements:
        first = stack(terms, elements, update.head)
        rows = _concat(terms, update, *((rows, first) if in_front else (first, rows)))
    return rows_as_sequence(terms, rows)


def _concat(terms: Terms, update: Term, first: Term, rows: Term) -> Term:
    return terms.op("Concat", update.head, first, rows, axis=0)
