"""Does a drafted node conform to its operator's schema in the next version?"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

from .registry import ADDED_VALUES, HARMLESS
from .schemas import Formal, Schema, default_of, formals, schema_at, takes_all
from .site import Site

Actual = tuple[str, Sequence[str]]
"""The name of a value, and its types as schemas write them."""
Texts = tuple[tuple[str, ...] | None, ...]
"""The types of some values; None for one that is absent."""

_MOST_REMEMBERED = 10_000
"""Of so many nodes that look alike is remembered whether their types fit."""


def conform(site: Site, schema: Schema) -> None:
    """Fit the draft to a schema where that changes no meaning.

    Raises:
        Refused: it says something that the schema does not allow.
    """
    _check_attributes(site, schema)
    while site.inputs and site.inputs[-1] is None:
        site.inputs.pop()
    _check_inputs(site, schema)
    _check_outputs(site, schema)
    _check_types(site, schema)


def keep_defaults(site: Site, schema: Schema) -> None:
    """Write out the attributes whose default is another one in the next version."""
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


def _formal(parameters: Sequence[Formal], count: int) -> Iterator[Formal]:
    """The formal parameter of each actual one: the last is repeated where it is variadic."""
    for index in range(count):
        yield parameters[min(index, len(parameters) - 1)]


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
    # What bodies give out has the type that it has, whether anything reads it or not.
    read = [v if node.bodies or site.is_used(index) else None for index, v in enumerate(values)]
    actual = [
        [None if v is None else (v.name, site.types.texts(v)) for v in given]
        for given in (site.inputs, read)
    ]
    fault = type_fault(site.op_type, site.target, *actual)
    if fault is not None:
        site.refuse(fault)


def require_types(site: Site) -> None:
    """Check that the operator takes what the node is given, before something is made of it.

    Raises:
        Refused: a type that is known is none that it takes.
    """
    inputs = [None if v is None else (v.name, site.types.texts(v)) for v in site.node.inputs]
    fault = type_fault(site.node.op_type, site.source, inputs, [])
    if fault is not None:
        site.refuse(fault)


def type_fault(
    op_type: str,
    version: int,
    inputs: Sequence[Actual | None],
    outputs: Sequence[Actual | None],
) -> str | None:
    """What is wrong with the types of inputs and outputs in an opset; None if nothing is."""
    given = tuple([None if actual is None else (*actual[1],) for actual in inputs])
    made = tuple([None if actual is None else (*actual[1],) for actual in outputs])
    if _types_fit(op_type, version, given, made):
        return None
    return next(_type_faults(op_type, version, inputs, outputs), None)


@functools.lru_cache(_MOST_REMEMBERED)
def _types_fit(op_type: str, version: int, inputs: Texts, outputs: Texts) -> bool:
    """Whether there is no fault, which the names of values do not decide."""
    actual = [[None if types is None else ("", types) for types in t] for t in (inputs, outputs)]
    return next(_type_faults(op_type, version, *actual), None) is None


def _type_faults(
    op_type: str,
    version: int,
    inputs: Sequence[Actual | None],
    outputs: Sequence[Actual | None],
) -> Iterator[str]:
    of_variables: dict[str, tuple[str, Sequence[str]]] = {}
    schema = schema_at(op_type, version)
    for actual, parameters in zip((inputs, outputs), formals(schema), strict=True):
        for given, parameter in zip(actual, _formal(parameters, len(actual)), strict=True):
            if given is None:
                continue
            name, types = given
            for text in types:
                if text not in parameter.allowed:
                    yield f"'{name}' is a {text}, which {op_type} does not take in opset {version}"
            if types and parameter.is_homogeneous:
                other, others = of_variables.setdefault(parameter.type_str, (parameter.name, types))
                # What a schema gives one type variable has one type (in each call, of several).
                if set(others) != set(types):
                    yield (
                        f"{other} is a {' or '.join(others)} and {parameter.name} a"
                        f" {' or '.join(types)}, which opset {version} wants to be of one type"
                    )


def target_schema(site: Site) -> Schema | None:
    """The schema of the draft's operator in the next version; None where it has none to use."""
    schema = schema_at(site.op_type, site.target)
    return None if schema is None or schema.deprecated else schema
