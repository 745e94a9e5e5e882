"""Definitions of users, as text.

    # the activation of our accelerator
    before (floats x, floats b) => (y) { y = com.acme.Swish <beta = @beta ? 1.0> (x, b?) }
    after (x, b) => (y) { t = Add (x, b)  u = Mul (t, @beta)  s = Sigmoid (u)  y = Mul (t, s) }

A line that begins with `before` begins a definition; `since N` between the two names the first
opset of the operators after, `rows * x` the operands that may vary from row to row.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import onnx

from ..ir import attribute_message
from ..ir.io.toml_text import read_text
from ..ir.kinds import PATH, takes
from .definition import Definition
from .expansion import with_lists
from .pattern import Pattern, PatternNode, RuleError, Variable, parse_pattern
from .registry import DEFAULT_OPSET, register

Kinds = Mapping[str, int | None]
"""The kinds of attributes by their variables; None for any."""

_COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)
_END = {True: "least", False: "most"}
_KEYWORD = re.compile(r"^\s*(before|since|rows|after)\b", re.MULTILINE)


@takes(text=PATH)
def define(text: str | os.PathLike[str]) -> list[str]:
    """Define operators of any domain out of ONNX's own, for this process.

    Earlier definitions of the same operators are replaced; functions of a model have precedence.

    Args:
        text: the text, or the path of a file with it.

    Returns:
        the names of the operators.

    Raises:
        RuleError: the file cannot be read, or a definition is invalid.
    """
    is_path = isinstance(text, os.PathLike) or "=>" not in text
    content, place = str(text), "definition"
    if is_path:
        try:
            content = read_text(Path(text))
        except ValueError as error:
            raise RuleError(f"cannot read the definitions '{os.fspath(text)}': {error}") from error
        place = f"'{os.fspath(text)}'"
    definitions = _read(content, place)
    register(definitions)
    return list(dict.fromkeys(definition.name for definition in definitions))


def _read(content: str, place: str) -> list[Definition]:
    """Read the definitions of a text."""
    _, *parts = _KEYWORD.split(_COMMENT.sub("", content))
    pairs = list(zip(parts[::2], (part.strip() for part in parts[1::2]), strict=True))
    definitions: list[Definition] = []
    before, since, rows = "", 11, ""
    for keyword, part in pairs:
        if keyword == "before":
            before, since, rows = part, 11, ""
        elif keyword == "since":
            if not part.isdigit():
                raise RuleError(
                    f"{place}: since is followed by an opset, not '{' '.join(part.split())}'"
                )
            since = int(part)
        elif keyword == "rows":
            rows = part
        elif not before:
            raise RuleError(f"{place}: 'after' needs a 'before' above it")
        else:
            definition = Definition(before, part, since=since, source=place, rows=rows)
            _check(definition, place)
            definitions.append(definition)
            before = ""
    if before or not definitions:
        raise RuleError(f"{place}: write 'before' with an operator, then 'after' with its graph")
    return definitions


def _check(definition: Definition, place: str) -> None:
    """Check that a definition can be expanded.

    Raises:
        RuleError: it cannot.
    """
    domain, _, name = definition.name.rpartition(".")
    opset = max(definition.since, DEFAULT_OPSET)
    if onnx.defs.has(name, domain):
        raise RuleError(f"{place}: {definition.name} is an operator of ONNX, which defines it")
    assert isinstance(definition.after, str)
    after = parse_pattern(definition.after)
    before = definition.pattern
    unknown = [name for name in after.parameters if name not in before.parameters]
    if unknown:
        raise RuleError(f"{place}: {definition.name} has no operand '{unknown[0]}'")
    if len(after.outputs) != len(before.outputs):
        raise RuleError(f"{place}: 'before' and 'after' need the same number of outputs")
    for name in str(definition.rows).replace("*", " ").replace(";", " ").split():
        if name not in definition.places:
            raise RuleError(f"{place}: rows: {definition.name} has no operand '{name}'")
    values = definition.node.attributes.values()
    variables = {value.name: value.kind for value in values if isinstance(value, Variable)}
    _require_operators(after, opset, variables, f"{place}: {definition.name}")


def _require_operators(after: Pattern, opset: int, variables: Kinds, place: str) -> None:
    for node in after.nodes:
        read = [value.name for value in node.attributes.values() if isinstance(value, Variable)]
        read += [operand.name for operand in node.inputs if operand.kind == "attribute"]
        for name in read:
            if name not in variables:
                raise RuleError(f"{place}: there is no '@{name}' in 'before'")
        if not onnx.defs.has(node.op_type, opset, ""):
            raise RuleError(
                f"{place}: ONNX has no operator {node.op_type} in opset {opset};"
                " write 'since N' for a newer one"
            )
        fault = next(_faults(node, opset, variables), None)
        if fault is not None:
            raise RuleError(f"{place}: {node.op_type} of opset {opset} {fault}")
        for value in node.attributes.values():
            if isinstance(value, Pattern):
                _require_operators(value, opset, variables, place)


def _faults(node: PatternNode, opset: int, variables: Kinds) -> Iterator[str]:
    """The faults of a node against the schema of its operator, as predicates."""
    schema: Any = onnx.defs.get_schema(node.op_type, opset, "")
    attributes = dict(node.attributes)
    operands = with_lists(node.op_type, opset, attributes, list(node.inputs))
    trains = node.op_type == "Dropout" and len(operands) > 2
    if trains or node.op_type.startswith(("Random", "Bernoulli", "Multinomial")):
        yield "draws random numbers, but a definition computes a result"
    for name, value in attributes.items():
        if name not in schema.attributes:
            yield f"has no attribute '{name}'"
        elif not isinstance(value, Pattern):
            kind = schema.attributes[name].type
            if isinstance(value, Variable):
                own = variables[value.name]
            else:
                items = list(value) if isinstance(value, tuple) else value
                own = attribute_message(name, items).type
            if own not in (None, kind.value):
                yield f"has an attribute '{name}' of kind {kind.name}"
    for name, attribute in schema.attributes.items():
        if attribute.required and name not in attributes:
            yield f"needs an attribute '{name}'"
    for what, count, least, most in (
        ("operands", len(operands), schema.min_input, schema.max_input),
        ("outputs", len(node.outputs), schema.min_output, schema.max_output),
    ):
        if not least <= count <= most:
            yield f"has {least if count < least else most} {what} at {_END[count < least]}"
