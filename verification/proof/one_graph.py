"""Models with one graph, under two opsets: they are equal if each kind of node means the same.

    a = Add (x, x)  y = Neg (a)     # opset 13, and opset 21: one Add and one Neg are compared

By induction in the order of the nodes, the operands of a node are equal in both models. So it
suffices that a node of each kind (`full_check.py`) gives equal outputs for all operands of its
types. The values of these nodes have one number in both opsets (`execution/value_numbers.py`).
"""

from collections.abc import Hashable, Sequence
from pathlib import Path

import onnx

from ...reference.element_types import ElementTypes
from .execution.compile_graph import ABSENT, Compiler, Operation, Program
from .execution.cut_points import CutPoints
from .execution.inputs import input_terms
from .execution.symbolic_execution import Execution
from .execution.value_numbers import Side, ValueNumbers
from .full_check import Kind, accepted_kinds
from .terms.budget import OpenError
from .terms.term_manager import Terms

_LARGE = 1 << 26
"""Limit in bytes of graphs that are compared as bytes, which copies each."""
_SHORT, _MOST_REMEMBERED = 1 << 14, 1 << 8
"""Limits of the bytes of kinds whose proof is remembered, and of such proofs."""
_equal: set[tuple[Path | None, bytes, bytes]] = set()
"""Models with a node of each kind that were proved equal."""


def is_one_graph(before: onnx.ModelProto, after: onnx.ModelProto) -> bool:
    """Test for models that differ in opsets, in other headers and in nothing else."""
    one, other = before.graph, after.graph
    # The number of nodes takes no time, unlike that of bytes.
    if before.functions or after.functions or len(one.node) != len(other.node):
        return False
    size = one.ByteSize()
    if size > _LARGE or size != other.ByteSize():
        return False
    return bool(one.SerializeToString() == other.SerializeToString())


def counts_by_kinds(
    program: Program, protos: Sequence[onnx.ModelProto], terms: Terms, folder: Path | None
) -> list[int] | None:
    """Prove two models with one graph equal by its kinds of nodes.

    Args:
        program: the graph, compiled in the opset of the original.
        protos: both models, without inputs that have a default.
        terms: new terms.
        folder: the folder of the external data of both.

    Returns:
        the number of values that each output adds to those before it; None where the proof stays
        open, or ONNX's full check may refuse the rewrite.
    """
    kinds = accepted_kinds(program, protos[1])
    if kinds is None:
        return None
    try:
        if not _are_equal(kinds, protos, terms, folder):
            return None
    except OpenError:  # a comparison of all nodes has a reason of its own
        return None
    terms.budget.step(len(program.steps))
    return counts_of(program)


def _are_equal(
    kinds: Sequence[Kind], protos: Sequence[onnx.ModelProto], terms: Terms, folder: Path | None
) -> bool:
    """Test for nodes with equal outputs in both opsets, for all operands of their types."""
    models = [_model_of(kinds, proto) for proto in protos]
    one, other = [model.SerializeToString(deterministic=True) for model in models]
    question = folder, one, other
    if question in _equal:
        return True
    operations: dict[Hashable, Operation] = {}
    first = Compiler(terms.heads, models[0], operations)
    programs = [first.main, Compiler(terms.heads, models[1], operations, original=first).main]
    numbers = ValueNumbers(terms, input_terms(terms, models[0], models[1], {}))
    sides = [
        Side(program, Execution(terms, name, folder), ElementTypes(model))
        for program, model, name in zip(programs, models, ("before", "after"), strict=True)
    ]
    shared = numbers.correspondence(*sides)
    if shared is None or not CutPoints(terms, shared, programs).cover_all:
        return False
    # Constants that a proof computes are computed once more for each proof, and a caller may define
    # an operator of another domain anew.
    is_lasting = not (terms.evaluations or any(step.node.domain for step, _ in kinds))
    if is_lasting and len(one) + len(other) <= _SHORT and len(_equal) < _MOST_REMEMBERED:
        _equal.add(question)
    return True


def _model_of(kinds: Sequence[Kind], proto: onnx.ModelProto) -> onnx.ModelProto:
    """Model with one node of each kind, in the opsets of another model."""
    model = onnx.ModelProto(
        ir_version=proto.ir_version, opset_import=proto.opset_import, graph={"name": "kinds"}
    )
    for index, (step, types) in enumerate(kinds):
        node = model.graph.node.add()
        node.CopyFrom(step.node)
        node.input[:] = [f"i{index}_{k}" if at else "" for k, at in enumerate(step.inputs)]
        node.output[:] = [f"o{index}_{k}" if at else "" for k, at in enumerate(step.outputs)]
        for name, message in zip(node.input, types, strict=True):
            if name:
                model.graph.input.add(name=name, type=message)
        for name in filter(None, node.output):
            model.graph.output.add(name=name)
    return model


def counts_of(program: Program) -> list[int]:
    """Number of nodes, inputs and constants that each output adds to those before it.

    A value belongs to the first output that needs it, and its users tell which that is.
    """
    count = len(program.outputs)
    firsts = [count] * program.size
    for number, at in reversed([*enumerate(program.outputs)]):
        firsts[at] = number
    counts, nowhere = [0] * (count + 1), -1  # the last of the counts is that of unneeded values
    firsts[ABSENT] = nowhere
    for step in reversed(program.steps):
        outputs = step.outputs
        if len(outputs) == 1 and outputs[0] != ABSENT:  # in a third of the time
            first, firsts[outputs[0]] = firsts[outputs[0]], nowhere
        else:
            first = min([firsts[at] for at in outputs if at != ABSENT], default=count)
            for at in outputs:
                firsts[at] = nowhere
        counts[first] += 1
        for at in step.inputs:
            if first < firsts[at]:  # noqa: PLR1730 (a call takes three times as long)
                firsts[at] = first
    for first in firsts:  # inputs and constants
        if first != nowhere:
            counts[first] += 1
    return counts[:count]
