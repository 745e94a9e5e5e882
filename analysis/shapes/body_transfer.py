"""Transfer functions of nodes with bodies: If, Loop, Scan and SequenceMap."""

from collections.abc import Sequence

import onnx

from ...facts.bounds import known, same_content
from ...facts.fact import UNKNOWN, Fact
from ...facts.polynomial import Dimension
from ...ir import Node, Value
from .loop_fixpoint import (
    Inference,
    Slot,
    after_any_iterations,
    fact_of,
    invariant,
    of_type_only,
    stack,
)
from .nonzero_iterations import runs_certainly
from .scan_elements import InferredElements
from .scan_transfer import scan_inputs, scan_outputs

_ITERATION, _CONDITION = onnx.TensorProto.INT64, onnx.TensorProto.BOOL


def enter_body(inference: Inference, value: Value) -> None:
    """Assume the facts of a body's inputs that hold in every iteration."""
    body = value.owner
    assert body is not None and body.holder is not None
    node = body.holder
    if node.op.references or not node.is_op("Loop", "Scan", "SequenceMap"):
        facts = [of_type_only(inference.symbols.fact(v.type)) for v in body.inputs]
    elif node.is_op("SequenceMap"):
        facts = [_element_of(inference, value) for value in node.inputs]
    else:
        facts = (_loop_inputs if node.is_op("Loop") else scan_inputs)(inference, node)
    for parameter, fact in zip(body.inputs, facts, strict=True):
        inference.enter(parameter, fact)


def leave_bodies(inference: Inference, node: Node) -> list[Fact]:
    """The facts of the outputs of a node with bodies."""
    if node.is_op("If") and not node.op.references:
        return _if_outputs(inference, node)
    if node.op.references or "body" not in node.bodies:
        return [UNKNOWN] * len(node.outputs)
    # Elements may differ from iteration to iteration.
    results = [inference.fact(value).without_content() for value in node.body("body").outputs]
    if node.is_op("Loop"):
        states = len(node.inputs) - 2
        initial = [fact_of(inference, value) for value in node.inputs[2:]]
        carried = after_any_iterations(inference.symbols, initial, results[1 : 1 + states])
        return [*carried, *_rows(inference, node, results, 1 + states)]
    if node.is_op("Scan"):
        return scan_outputs(inference, node, results)
    count = fact_of(inference, node.inputs[0]).count
    return [Fact(other=_sequence_of(fact), count=count) for fact in results]


def _rows(inference: Inference, node: Node, results: Sequence[Fact], first: int) -> list[Fact]:
    """The facts of scan outputs. For a Loop that may make zero iterations, sizes are those of the
    body only where runtimes infer them; other sizes are 0 then."""
    elements = results[first:]
    if not runs_certainly(node, lambda value: known(inference.fact(value))):
        inferred = InferredElements(node, inference.model, inference)
        elements = [
            _sizes_at_zero_iterations(inference, inferred, index, fact)
            for index, fact in enumerate(elements, first)
        ]
    return [stack(inference.symbols, fact, 0, None) for fact in elements]


def _sizes_at_zero_iterations(
    inference: Inference, inferred: InferredElements, index: int, fact: Fact
) -> Fact:
    """Return the facts of a scan output's element that hold with and without iterations."""
    numbers = [dim for dim in fact.shape or () if dim.value]
    if not fact.shape or not (numbers or any(dim.value is None for dim in fact.shape)):
        return fact
    element = inferred.of(index) if numbers else None
    sizes: Sequence[int] = () if element is None else element.shape
    if numbers and len(sizes) != len(fact.shape):
        return Fact(fact.elem_type)
    sizes = sizes or [0] * len(fact.shape)
    dims = [
        dim if dim.value == size else inference.symbols.fresh()
        for dim, size in zip(fact.shape, sizes, strict=True)
    ]
    return Fact(fact.elem_type, tuple(dims))


def _element_of(inference: Inference, value: Value | None) -> Fact:
    """The argument of SequenceMap's body: an element of a sequence, or a tensor itself."""
    fact = fact_of(inference, value)
    if fact.other is None:
        return fact.without_content()
    return inference.symbols.fact(fact.other.sequence_type.elem_type)


def _sequence_of(element: Fact) -> onnx.TypeProto | None:
    """The type of a sequence of body outputs; unnamed sizes vary by iteration."""
    type_ = element.type_proto(private=False)
    return None if type_ is None else onnx.helper.make_sequence_type_proto(type_)


def _loop_inputs(inference: Inference, node: Node) -> list[Fact]:
    """The facts of a Loop body's inputs in every iteration. Loop-carried values have the strongest
    facts that the initial values imply and the body preserves."""
    body = node.body("body")
    initial = [fact_of(inference, value).without_content() for value in node.inputs[2:]]
    # The iteration number and the condition have the rank that the body declares.
    fixed = [
        Fact(elem_type, tuple([Dimension.constant(1)] * len(v.shape or ())))
        for elem_type, v in zip((_ITERATION, _CONDITION), body.inputs[:2], strict=True)
    ]
    states = invariant(inference, body, fixed, initial, 1)
    return [*fixed, *states]


def _if_outputs(inference: Inference, node: Node) -> list[Fact]:
    holds = fact_of(inference, node.inputs[0]).truth
    names = ["then_branch"] * (holds is not False) + ["else_branch"] * (holds is not True)
    branches = [[inference.fact(value) for value in node.body(name).outputs] for name in names]
    if len(branches) == 1:
        return branches[0]
    facts = []
    for one, other in zip(*branches, strict=False):
        joined = Slot(inference.symbols).join(one, other)
        if one.content is not None and same_content(one, other):
            joined = Fact(joined.elem_type, joined.shape, one.content)
        facts.append(joined)
    return facts
