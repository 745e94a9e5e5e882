"""Conformance of a node draft to its operator's schema in the next version."""

from __future__ import annotations

from typing import Any

from ..ops.schemas import Schema, default_of, formals, schema_at, type_fault
from .node_draft import Site
from .registry import ADDED_VALUES, HARMLESS
from .schemas import takes_all


def conform(site: Site, schema: Schema) -> None:
    """Fit the draft to a schema without a change of meaning.

    Raises:
        Refused: the schema does not allow the draft.
    """
    _check_attributes(site, schema)
    while site.inputs and site.inputs[-1] is None:
        site.inputs.pop()
    _check_inputs(site, schema)
    _check_outputs(site, schema)
    _check_types(site, schema)


def keep_defaults(site: Site, schema: Schema) -> None:
    """Write out the attributes whose default changes in the next version."""
    for name in site.schema.attributes:
        if name in site.attributes or name not in schema.attributes:
            continue
        default = default_of(site.schema, name)
        if default is not None and default != default_of(schema, name):
            site.set(name, default)


def _check_attributes(site: Site, schema: Schema) -> None:
    for name in list(site.attributes):
        if name in schema.attributes:
            continue
        if (site.op_type, name) in HARMLESS or _is_default(site, name):
            site.drop(name)
            continue
        site.refuse(
            f"attribute '{name}' = {_shown(site.attribute(name))} does not exist in opset"
            f" {site.target}"
        )
    for name, attribute in schema.attributes.items():
        if attribute.required and name not in site.attributes and name not in site.node.bodies:
            site.refuse(f"opset {site.target} requires its attribute '{name}'")
    if not site.is_upgrade:
        for name, since in ADDED_VALUES.get(site.op_type, {}).items():
            value = site.attribute(name) if name in site.attributes else None
            if value in since and since[value] > site.target:
                site.refuse(f"{name} = {_shown(value)} does not exist in opset {site.target}")


def _is_default(site: Site, name: str) -> bool:
    value = site.attribute(name)
    default = default_of(site.schema, name) if name in site.schema.attributes else None
    if default is None and isinstance(value, list):
        # Dilations without a default are all ones.
        return name == "dilations" and all(v == 1 for v in value)
    return bool(value == default)


def _shown(value: Any) -> str:
    return repr(value.decode()) if isinstance(value, bytes) else str(value)


def _check_inputs(site: Site, schema: Schema) -> None:
    inputs, least = formals(schema)[0], schema.min_input
    if inputs and len(site.inputs) < least:
        if inputs[-1].is_variadic and least > len(inputs) - 1:
            site.refuse(f"opset {site.target} requires at least one input '{inputs[-1].name}'")
        # Optional inputs at the end have to be written out as absent.
        site.inputs += [None] * (least - len(site.inputs))
    if len(site.inputs) > schema.max_input:
        extra = site.schema.inputs[min(schema.max_input, len(site.schema.inputs) - 1)].name
        site.refuse(f"input '{extra}' does not exist in opset {site.target}")
    for index, parameter in enumerate(inputs):
        if parameter.is_required and site.input(index) is None:
            site.refuse(f"opset {site.target} requires its input '{parameter.name}'")


def _check_outputs(site: Site, schema: Schema) -> None:
    for index in range(schema.max_output, len(site.node.outputs)):
        if site.is_used(index):
            site.refuse(f"its output {index} is used and does not exist in opset {site.target}")


def _check_types(site: Site, schema: Schema) -> None:
    """Check the types of inputs and outputs, as far as they are known."""
    node = site.node
    as_before = site.op_type == node.op_type and site.inputs == list(node.inputs)
    if as_before and takes_all(site.op_type, site.source, site.target):
        return
    values = node.outputs[: schema.max_output]
    # Outputs of bodies count whether anything reads them or not.
    read = [v if node.bodies or site.is_used(index) else None for index, v in enumerate(values)]
    actual = [
        [None if v is None else (v.name, site.types.texts(v)) for v in row]
        for row in (site.inputs, read)
    ]
    fault = type_fault(site.op_type, site.target, *actual)
    if fault is not None:
        site.refuse(fault)


def require_types(site: Site) -> None:
    """Check that the operator accepts the node's input types.

    Raises:
        Refused: the operator does not accept a known type.
    """
    inputs = [None if v is None else (v.name, site.types.texts(v)) for v in site.node.inputs]
    fault = type_fault(site.node.op_type, site.source, inputs, [])
    if fault is not None:
        site.refuse(fault)


def target_schema(site: Site) -> Schema | None:
    """The schema of the draft's operator in the next version; None if absent or deprecated."""
    schema = schema_at(site.op_type, site.target)
    return None if schema is None or schema.deprecated else schema
