"""Conformance of a node draft to its operator's schema in the next version."""

from typing import Any

from ..ops.schema_queries import Schema, default_of, formals, schema_at, type_fault
from .registry import ADDED_VALUES, HARMLESS, NodeDraft
from .schemas import takes_all

_IN_PLACE = "consumed_inputs"
"""Attribute of many operators before opset 6: the inputs whose memory they may reuse."""


def conform(draft: NodeDraft, schema: Schema) -> None:
    """Fit the draft to a schema without a change of meaning.

    Raises:
        Refused: the schema does not allow the draft.
    """
    _check_attributes(draft, schema)
    while draft.inputs and draft.inputs[-1] is None:
        draft.inputs.pop()
    _check_inputs(draft, schema)
    _check_outputs(draft, schema)
    _check_types(draft, schema)


def keep_defaults(draft: NodeDraft, schema: Schema) -> None:
    """Write out the attributes whose default changes in the next version."""
    for name in draft.schema.attributes:
        if name in draft.attributes or name not in schema.attributes:
            continue
        default = default_of(draft.schema, name)
        if default is not None and default != default_of(schema, name):
            draft.set(name, default)


def _check_attributes(draft: NodeDraft, schema: Schema) -> None:
    for name in list(draft.attributes):
        if name in schema.attributes:
            continue
        if name == _IN_PLACE or (draft.op_type, name) in HARMLESS or _is_default(draft, name):
            draft.drop(name)
            continue
        draft.refuse(
            f"attribute '{name}' = {_shown(draft.attribute(name))} does not exist in opset"
            f" {draft.target}"
        )
    for name, attribute in schema.attributes.items():
        if attribute.required and name not in draft.attributes and name not in draft.node.bodies:
            draft.refuse(f"opset {draft.target} requires its attribute '{name}'")
    if not draft.is_upgrade:
        for name, since in ADDED_VALUES.get(draft.op_type, {}).items():
            value = draft.attribute(name) if name in draft.attributes else None
            if value in since and since[value] > draft.target:
                draft.refuse(f"{name} = {_shown(value)} does not exist in opset {draft.target}")


def _is_default(draft: NodeDraft, name: str) -> bool:
    value = draft.attribute(name)
    default = default_of(draft.schema, name) if name in draft.schema.attributes else None
    if default is None and isinstance(value, list):
        # Dilations without a default are all ones.
        return name == "dilations" and all(v == 1 for v in value)
    return bool(value == default)


def _shown(value: Any) -> str:
    return repr(value.decode()) if isinstance(value, bytes) else str(value)


def _check_inputs(draft: NodeDraft, schema: Schema) -> None:
    inputs, least = formals(schema)[0], schema.min_input
    if inputs and len(draft.inputs) < least:
        if inputs[-1].is_variadic and least > len(inputs) - 1:
            draft.refuse(f"opset {draft.target} requires at least one input '{inputs[-1].name}'")
        # Optional inputs at the end have to be written out as absent.
        draft.inputs += [None] * (least - len(draft.inputs))
    if len(draft.inputs) > schema.max_input:
        extra = draft.schema.inputs[min(schema.max_input, len(draft.schema.inputs) - 1)].name
        draft.refuse(f"input '{extra}' does not exist in opset {draft.target}")
    for index, parameter in enumerate(inputs):
        if parameter.is_required and draft.input(index) is None:
            draft.refuse(f"opset {draft.target} requires its input '{parameter.name}'")


def _check_outputs(draft: NodeDraft, schema: Schema) -> None:
    for index in range(schema.max_output, len(draft.node.outputs)):
        if draft.is_used(index):
            draft.refuse(f"its output {index} is used and does not exist in opset {draft.target}")


def _check_types(draft: NodeDraft, schema: Schema) -> None:
    """Check the types of inputs and outputs, as far as they are known."""
    node = draft.node
    as_before = draft.op_type == node.op_type and draft.inputs == list(node.inputs)
    if as_before and takes_all(draft.op_type, draft.source, draft.target):
        return
    values = node.outputs[: schema.max_output]
    # Outputs of bodies count whether anything reads them or not.
    read = [v if node.bodies or draft.is_used(index) else None for index, v in enumerate(values)]
    actual = [
        [None if v is None else (v.name, draft.types.texts(v)) for v in row]
        for row in (draft.inputs, read)
    ]
    fault = type_fault(draft.op_type, draft.target, *actual)
    if fault is not None:
        draft.refuse(fault)


def require_types(draft: NodeDraft) -> None:
    """Check that the operator accepts the node's input types.

    Raises:
        Refused: the operator does not accept a known type.
    """
    inputs = [None if v is None else (v.name, draft.types.texts(v)) for v in draft.node.inputs]
    fault = type_fault(draft.node.op_type, draft.source, inputs, [])
    if fault is not None:
        draft.refuse(fault)


def target_schema(draft: NodeDraft) -> Schema | None:
    """The schema of the draft's operator in the next version; None if absent or deprecated."""
    schema = schema_at(draft.op_type, draft.target)
    return None if schema is None or schema.deprecated else schema
