"""Types of all values of a model with bodies, also in branches never taken.

A runtime types a model once, when it loads it, and refuses one whose types do not fit. Symbolic
execution meets only the nodes that may run. So each body and each call is typed once here, by the
schemas: what a node does not determine is unknown, and an unknown type fits everything.

    y = If (c) <then_branch: u = Neg (x), else_branch: v = Cast <to = INT64> (x)>   # refused
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence

import onnx
from onnx import TensorProto

from ....ir.subgraph_arity import BODIES
from ....reference.bodies import label
from .compile_graph import ABSENT, Program, Step, elem_type_of
from .node_checker import (
    LEFT_OUT,
    OPTIONAL_READERS,
    InvalidError,
    Type,
    declared_type,
    element_type,
    is_optional,
    output_types,
    raise_type_conflict,
    require_valid,
    sequence_of,
    short_type,
)

Frame = list[Type]

UNKNOWN: Type = 0
_ITERATION, _CONDITION = TensorProto.INT64, TensorProto.BOOL
"""Types of the iteration number and the condition."""


def require_types(program: Program) -> None:
    """Require that the types of a main graph fit, at all depths.

    Raises:
        InvalidError: they do not; runtimes refuse such a model.
    """
    if any(o.bodies or o.function or o.op_type in OPTIONAL_READERS for o in program.operations):
        _StaticTypes().outputs(program, [UNKNOWN] * len(program.inputs), None)


class _StaticTypes:
    """Types of the values of one model."""

    def __init__(self) -> None:
        self._calls: dict[Hashable, list[Type]] = {}

    def outputs(self, program: Program, inputs: Sequence[Type], around: Frame | None) -> list[Type]:
        """Types of the outputs of a graph or function.

        Args:
            inputs: types of the values that it is feeds.
            around: types of the graph around it, which it captures.
        """
        frame: Frame = [UNKNOWN] * program.size
        frame[ABSENT] = LEFT_OUT
        for outer, own in program.captures:
            frame[own] = UNKNOWN if around is None else around[outer]
        for place, tensor in program.constants:
            frame[place] = elem_type_of(tensor)
        self._feed(program, inputs, frame)
        for step in program.steps:
            for at, result in zip(step.outputs, self._step(step, frame), strict=False):
                frame[at] = result
            frame[ABSENT] = LEFT_OUT
        for place, declared, name in program.types:
            if frame[place] == UNKNOWN:
                frame[place] = declared
            elif frame[place] not in (declared, LEFT_OUT):
                raise_type_conflict(name, declared, frame[place])
        return [UNKNOWN if frame[at] == LEFT_OUT else frame[at] for at in program.outputs]

    def _feed(self, program: Program, inputs: Sequence[Type], frame: Frame) -> None:
        declared = _declared_inputs(program.proto)
        for name, at, own in zip(program.names, program.inputs, inputs, strict=False):
            kind = declared.get(name, UNKNOWN)
            if UNKNOWN not in (kind, own) and own not in (kind, LEFT_OUT):
                raise_type_conflict(name, kind, own)
            frame[at] = own or kind
        for at in program.inputs[len(inputs) :]:
            frame[at] = LEFT_OUT

    def _step(self, step: Step, frame: Frame) -> Sequence[Type]:
        """Types of the outputs of a node."""
        operation = step.operation
        types = tuple([frame[at] for at in step.inputs])
        if operation.function is not None:
            return self._call(operation.function, types)
        if types not in operation.valid:
            require_valid(step.node, operation.version, types)
        if operation.bodies:
            return self._of_bodies(step, types, frame)
        return output_types(step.node, operation.version, types)

    def _call(self, function: Program, types: tuple[Type, ...]) -> list[Type]:
        key = function, types
        if key not in self._calls:
            self._calls[key] = self.outputs(function, types, None)
        return self._calls[key]

    def _of_bodies(self, step: Step, types: tuple[Type, ...], frame: Frame) -> Sequence[Type]:
        """Types of the outputs of a node with bodies, each of which is typed."""
        op_type = step.operation.op_type
        assert step.head.op is not None
        if op_type not in BODIES or step.head.op.domain:
            return [UNKNOWN] * len(step.outputs)
        first = op_type == "Scan" and step.head.opset == 8
        elements = [_element(own) for own in types]
        feeds: Sequence[Type] = {
            "If": (),
            # Of a condition that is absent nothing is known, as in onnxruntime 1.32.
            "Loop": (_ITERATION, UNKNOWN if LEFT_OUT in types[1:2] else _CONDITION, *types[2:]),
            "Scan": types[first:],
            "SequenceMap": elements,
        }[op_type]
        results = {
            name: self.outputs(body, feeds, frame) for name, body in sorted(step.bodies.items())
        }
        if op_type == "If":
            return list(_joined(step, *results.values()))
        (own,) = results.values()
        if op_type == "SequenceMap":
            return [_sequence(each) for each in own]
        return list(_states(step, types[2:], own[1:])) if op_type == "Loop" else own


def _joined(step: Step, one: Sequence[Type], other: Sequence[Type]) -> Iterator[Type]:
    """Types of the outputs of an If, from those of both branches."""
    for number, (a, b) in enumerate(zip(one, other, strict=False)):
        if UNKNOWN not in (a, b) and a != b:
            types = " and ".join(sorted([short_type(a), short_type(b)]))
            raise InvalidError(f"output {number} of {label(step.node)} is both {types}")
        yield a or b


def _states(step: Step, initial: Sequence[Type], own: Sequence[Type]) -> Iterator[Type]:
    """Types of the outputs of a Loop, by its initial and next states."""
    for number, last in enumerate(own):
        first = initial[number] if number < len(initial) else last
        if UNKNOWN in (first, last) or first in (last, LEFT_OUT):
            yield last or first
        elif is_optional(first) or is_optional(last):  # onnxruntime runs what ONNX's tests hold
            yield UNKNOWN
        else:
            what = f"is {short_type(first)} at first and {short_type(last)} after an iteration"
            raise InvalidError(f"state {number} of {label(step.node)} {what}")


def _element(value_type: Type) -> Type:
    """Type that the body of a SequenceMap sees of an operand."""
    is_sequence = isinstance(value_type, str) and value_type.startswith("seq(")
    return element_type(value_type) if is_sequence else value_type


def _sequence(value_type: Type) -> Type:
    return sequence_of(value_type) if isinstance(value_type, int) else UNKNOWN


def _declared_inputs(proto: onnx.GraphProto | onnx.FunctionProto) -> Mapping[str, Type]:
    if isinstance(proto, onnx.FunctionProto):
        return {}
    return {info.name: declared_type(info.type) for info in proto.input}
