"""Models with one graph, under two opsets: they are equal if each kind of node means the same.

    a = Add (x, x)  y = Neg (a)     # opset 13, and opset 21: one Add and one Neg are compared

By induction in the order of the nodes, the operands of a node are equal in both models. So it
suffices that a node of each kind (`full_check.py`) gives equal outputs for all operands of its
types, of any shape: a model may declare a shape that a value does not have.
"""

from collections.abc import Sequence
from pathlib import Path

import onnx

from .execution.compile_graph import ABSENT, Program
from .full_check import Kind

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


def _question(
    folder: Path | None, models: Sequence[onnx.ModelProto]
) -> tuple[Path | None, bytes, bytes]:
    one, other = [model.SerializeToString(deterministic=True) for model in models]
    return folder, one, other


def was_proved(folder: Path | None, models: Sequence[onnx.ModelProto]) -> bool:
    """Test for models with a node of each kind that were proved equal before."""
    return _question(folder, models) in _equal


def remember(folder: Path | None, models: Sequence[onnx.ModelProto], kinds: Sequence[Kind]) -> None:
    """Remember models with a node of each kind that were proved equal."""
    question = _question(folder, models)
    # A caller may define an operator of another domain anew.
    is_lasting = len(_equal) < _MOST_REMEMBERED and not any(step.node.domain for step, _ in kinds)
    if is_lasting and len(question[1]) + len(question[2]) <= _SHORT:
        _equal.add(question)


def model_of_kinds(kinds: Sequence[Kind], proto: onnx.ModelProto) -> onnx.ModelProto:
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
