"""Constraints of ONNX's schemas on nodes: numbers of inputs and outputs, attributes."""

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import onnx

from ...records import record
from ..attributes import ANY, LARGE, name_of_kind
from ..errors import ModelError
from ..places import Place

_BY_NAME = frozenset(
    {
        *("If", "Loop", "Scan", "SequenceMap"),
        *("SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert"),
        *("SequenceLength", "SplitToSequence", "ConcatFromSequence"),
        *("Optional", "OptionalGetElement", "OptionalHasElement"),
    }
)
"""Operators that passes recognise by name alone; no other domain defines them."""

_MANY = 2**31 - 1
_SINGLE = onnx.defs.OpSchema.FormalParameterOption.Single
_GRAPH = onnx.AttributeProto.GRAPH

Kinds = Mapping[str, int]
"""The kind of each attribute of a node."""


@record(frozen=True)
class SchemaForm:
    """The constraints of an operator on its nodes in one opset.

    Attributes:
        version: the opset.
        inputs: the minimum and maximum number of inputs.
        outputs: the minimum and maximum number of outputs.
        names: the names of the formal inputs.
        required_inputs: the positions of required inputs.
        required_outputs: the positions of required outputs.
        required: the required attributes.
        kinds: the allowed kinds of each attribute.
    """

    op_type: str
    version: int
    inputs: tuple[int, int]
    outputs: tuple[int, int]
    names: tuple[str, ...]
    required_inputs: tuple[int, ...]
    required_outputs: tuple[int, ...]
    required: tuple[str, ...]
    kinds: Mapping[str, frozenset[int]]

    def check(
        self,
        place: Place,
        node: onnx.NodeProto,
        inputs: Sequence[str],
        outputs: Sequence[str],
        kinds: Kinds,
    ) -> None:
        """Check a node.

        Raises:
            ModelError: the node violates a constraint.
        """
        for fault in self.faults(inputs, outputs, kinds):
            raise ModelError(f"{place.node(node)} {fault}")

    def faults(self, inputs: Sequence[str], outputs: Sequence[str], kinds: Kinds) -> Iterator[str]:
        """List the faults of a node as predicates of its name; absent operands are empty."""
        for name, kind in kinds.items():
            allowed = self.kinds.get(name)
            if allowed is not None and kind not in allowed and kind != ANY:
                yield wrong_kind(name, kind, allowed)
        for name in self.required:
            if name not in kinds:
                graph = "graph " if _GRAPH in self.kinds[name] else ""
                yield f"lacks its {graph}attribute '{name}'"
        yield from self._count(inputs, self.inputs, "inputs", "accepts")
        yield from self._count(outputs, self.outputs, "outputs", "has")
        for index in self.required_inputs:
            if not inputs[index]:
                yield f"lacks its input '{self.names[index]}', which {self.op_type} needs"
        for index in self.required_outputs:
            if not outputs[index]:
                yield f"omits its output {index}, which {self.op_type} always has"

    def _count(
        self, names: Sequence[str], allowed: tuple[int, int], what: str, verb: str
    ) -> Iterator[str]:
        least, most = allowed
        # Omitted operands at the end may be written as empty names.
        if least <= len(names) <= most or (len(names) > most and not any(names[most:])):
            return
        exact = least == most or len(names) < least < most < _MANY
        count = f"at least {least}" if len(names) < least < most else f"at most {most}"
        if exact:
            count = f"{least}" if least == most else f"{least} to {most}"
        yield f"has {len(names)} {what}; {self.op_type} {verb} {count} at opset {self.version}"


def wrong_kind(name: str, kind: int, allowed: Iterable[int]) -> str:
    """The fault of an attribute of another kind than the allowed ones."""
    names = " or ".join(sorted(map(name_of_kind, allowed)))
    return f"has an attribute '{name}' of kind {name_of_kind(kind)}, which accepts {names}"


@functools.cache
def forms_of(version: int) -> "Forms":
    """Forms in an opset that all models without functions share."""
    return Forms(version)


class Forms:
    """The forms of ONNX's own operators in one opset.

    Args:
        version: the opset; 0 without an import.
    """

    def __init__(self, version: int) -> None:
        self.version = version
        # The forms of valid nodes, and of those whose attributes have values to check.
        self.valid: set[tuple[object, ...]] = set()
        self.valued: set[tuple[object, ...]] = set()

    def of(self, op_type: str, place: Place, node: onnx.NodeProto) -> SchemaForm | None:
        """The form of an operator; None where ONNX has none in this opset, or deprecated it.

        Raises:
            ModelError: the opset lacks it, and passes would mistake it for the later operator.
        """
        since = int(_versions(op_type)[-1].since_version) if op_type in _BY_NAME else 0
        if self.version < since:
            raise ModelError(
                f"{place.node(node)} exists from opset {since} on; the model imports {self.version}"
            )
        return form_of(op_type, self.version)


@functools.cache
def form_of(op_type: str, version: int) -> SchemaForm | None:
    """The form of an operator in an opset; None where ONNX has none there, or deprecated it."""
    try:
        schema = onnx.defs.get_schema(op_type, version, "")
    except onnx.defs.SchemaError:
        return None
    if schema.deprecated:
        return None
    # Kinds of this opset hide those of other versions.
    kinds = {**_other_kinds(op_type), **_kinds(schema)}
    return SchemaForm(
        op_type,
        version,
        (schema.min_input, schema.max_input),
        (schema.min_output, schema.max_output),
        tuple(formal.name for formal in schema.inputs),
        tuple(i for i, formal in enumerate(schema.inputs) if formal.option == _SINGLE),
        tuple(i for i, formal in enumerate(schema.outputs) if formal.option == _SINGLE),
        tuple(name for name, a in schema.attributes.items() if a.required),
        kinds,
    )


@functools.cache
def _other_kinds(op_type: str) -> dict[str, frozenset[int]]:
    """The kinds of attributes in any version of an operator.

    Files contain attributes that their opset has dropped; passes read these by name, too.
    """
    kinds: dict[str, frozenset[int]] = {}
    for schema in _versions(op_type):
        for name, more in _kinds(schema).items():
            kinds[name] = kinds.get(name, frozenset()) | more
    return kinds


def large_kinds(op_type: str) -> frozenset[int] | None:
    """The kinds of tensors and graphs that attributes may have; None where ONNX lacks the
    operator."""
    if not _versions(op_type):
        return None
    return LARGE & frozenset[int]().union(*_other_kinds(op_type).values())


@functools.cache
def _versions(op_type: str) -> list[Any]:
    """All versions of one of ONNX's own operators, the newest first; a list of all operators takes
    as long as a small model."""
    versions: list[Any] = []
    version = _MANY
    while version and onnx.defs.has(op_type, domain="", max_inclusive_version=version):
        versions.append(onnx.defs.get_schema(op_type, version, ""))
        version = versions[-1].since_version - 1
    return versions


def _kinds(schema: Any) -> dict[str, frozenset[int]]:
    return {name: frozenset([a.type.value]) for name, a in schema.attributes.items()}
