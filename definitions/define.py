"""Definitions of users, as text.

    # the activation of our accelerator
    before (floats x, floats b) => (y) { y = com.acme.Swish <beta = @beta ? 1.0> (x, b?) }
    after (x, b) => (y) { t = Add (x, b)  u = Mul (t, @beta)  s = Sigmoid (u)  y = Mul (t, s) }

A line that begins with `before` begins a definition; `since N` between the two names the first
opset of the operators after, `rows * x` the operands that may vary from row to row.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import onnx

from ..ir.io.toml_text import read_text
from ..ir.kinds import PATH, takes
from .definition import Definition
from .pattern import Pattern, RuleError, parse_pattern
from .registry import DEFAULT_OPSET, register

_COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)
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
                raise RuleError(f"{place}: since is followed by an opset, not '{part}'")
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
    _require_operators(after, opset, f"{place}: {definition.name}")


def _require_operators(after: Pattern, opset: int, place: str) -> None:
    for node in after.nodes:
        if not onnx.defs.has(node.op_type, opset, ""):
            raise RuleError(
                f"{place}: ONNX has no operator {node.op_type} in opset {opset};"
                " write 'since N' for a newer one"
            )
        for value in node.attributes.values():
            if isinstance(value, Pattern):
                _require_operators(value, opset, place)
