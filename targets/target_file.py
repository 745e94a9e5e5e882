"""Targets from the text of a file (TOML), each mistake told in one line with the key."""

from __future__ import annotations

import datetime
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from onnx import TensorProto

from ..ir import MAX_OPSET, instead, nearest
from ..ops.schemas import operators, schema_at
from ..version_converter.schemas import OLDEST
from .target import Form, Opsets, Source, Target, TargetError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_KEYS = {
    "about": "a text",
    "opsets": "two numbers",
    "preferred_opset": "a number",
    "operators": "a list of texts",
    "lacks": "a list of texts",
    "domains": "a list of texts",
    "functions": "true or false",
    "own_outputs": "true or false",
    "own_conditions": "true or false",
    "names_nodes": "true or false",
    "static_shapes": "true or false",
    "max_rank": "a number",
    "element_types": "a list of texts",
    "lacks_element_types": "a list of texts",
    "passes": "a text",
    "source": "a table",
    "forms": "a table",
}
_SOURCE_KEYS = {"list": "a text", "version": "a text", "date": "a date", "url": "a text"}
_FORM_KEYS = {
    "attributes": "a table",
    "lacks_attributes": "a table",
    "written": "a list of texts",
    "unwritten": "a list of texts",
    "constant": "a list of texts",
    "initializers": "a list of texts",
    "computed": "a list of texts",
    "present": "a list of texts",
    "absent": "a list of texts",
    "ranks": "a table",
    "static": "a list of texts",
    "max_rank": "a number",
    "element_types": "a list of texts",
    "lacks_element_types": "a list of texts",
    "why": "a text",
}
_KINDS: dict[str, Callable[[Any], bool]] = {
    "a text": lambda value: isinstance(value, str),
    "a number": lambda value: type(value) is int,
    "true or false": lambda value: isinstance(value, bool),
    "a table": lambda value: isinstance(value, dict),
    "a date": lambda value: type(value) is datetime.date,
    "two numbers": lambda value: _is_list(value, int) and len(value) == 2,
    "a list of texts": lambda value: _is_list(value, str),
}
_SPAN = re.compile(r"(\d{1,4})(?:(-)(\d{1,4})?)?")
_TYPES = sorted(name.lower() for name, _ in TensorProto.DataType.items() if name != "UNDEFINED")
_ANY_SHAPE = "*"
_LARGE = 10**6
"""Numbers from here on are not shown in messages."""


def parse(text: str, name: str, place: str) -> Target:
    """A target from the text of its file.

    Args:
        text: TOML.
        name: what it is called.
        place: the file, as messages name it.

    Raises:
        TargetError: it is no TOML, a key is unknown or missing, or what it says cannot be.
    """
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TargetError(f"{place}: this is no TOML: {error}") from error
    except RecursionError as error:
        raise TargetError(f"{place}: its tables or lists are nested too deep") from error
    except ValueError as error:  # of Python's limit of digits, among others
        raise TargetError(f"{place}: a value cannot be read: {error}") from error
    return _Reader(place).target(told, name)


class _Reader:
    def __init__(self, place: str) -> None:
        self.place = place

    def target(self, told: Mapping[str, Any], name: str) -> Target:
        self._require(told, _KEYS, "", needed=("about", "opsets", "source"))
        opsets, preferred = self._opsets(told["opsets"]), told.get("preferred_opset")
        if preferred is not None and preferred not in opsets:
            shown = preferred if abs(preferred) < _LARGE else "the number"
            self._fail("preferred_opset", f"{shown} is not in opsets, {opsets}")
        if ("operators" in told) == ("lacks" in told):
            self._fail("operators", "write either operators, all that it takes, or lacks")
        listed = told.get("operators")
        return Target(
            name=name,
            about=told["about"],
            opsets=opsets,
            source=self._source(told["source"]),
            preferred_opset=preferred,
            operators=None if listed is None else self._listed("operators", listed),
            lacks=self._listed("lacks", told.get("lacks", ())),
            domains=frozenset(told.get("domains", ())),
            functions=told.get("functions", False),
            own_outputs=told.get("own_outputs", False),
            own_conditions=told.get("own_conditions", False),
            names_nodes=told.get("names_nodes", False),
            anywhere=self._anywhere(told),
            forms={op: self._forms(op, given) for op, given in told.get("forms", {}).items()},
            passes=told.get("passes"),
        )

    def _source(self, told: Mapping[str, Any]) -> Source:
        self._require(told, _SOURCE_KEYS, "source.", needed=("list", "version", "date"))
        return Source(**told)

    def _opsets(self, told: list[int]) -> Opsets:
        first, last = told
        if not OLDEST <= first <= last:
            self._fail("opsets", f"write the first and the last, from {OLDEST} on, not {told}")
        if first > MAX_OPSET:
            self._fail("opsets", f"the installed onnx knows opsets up to {MAX_OPSET}, not {first}")
        return Opsets(first, last)

    def _anywhere(self, told: Mapping[str, Any]) -> Form:
        static = (_ANY_SHAPE,) if told.get("static_shapes") else ()
        types = self._types("", told)
        return Form(static=static, max_rank=self._rank("", told), **types)

    def _listed(self, key: str, told: Iterable[str]) -> dict[str, tuple[Opsets, ...]]:
        """Operators, each with its ranges: "Add", "Resize 11-17", "Pad 11 13-"."""
        found: dict[str, tuple[Opsets, ...]] = {}
        for item in told:
            operator, *spans = item.split() or [""]
            if operator in found:
                self._fail(key, f"'{operator}' is listed twice")
            self._require_operator(key, operator)
            read = tuple(self._span(key, item, span) for span in spans)
            found[operator] = read or (Opsets(1, sys.maxsize),)
        return found

    def _span(self, key: str, item: str, text: str) -> Opsets:
        written = _SPAN.fullmatch(text)
        if written is None:
            self._fail(key, f"'{item}': write opsets as in 'Resize 11-17', 'Resize 13-'")
        first, dash, last = written.groups()
        return Opsets(int(first), int(last) if last else sys.maxsize if dash else int(first))

    def _require_operator(self, key: str, operator: str) -> None:
        """Check that it is one of ONNX's, in an opset that the target reads, or has a domain."""
        if "." in operator or operator in operators():
            return
        meant = nearest(operator, operators())
        asked = "" if meant is None else f"did you mean '{meant}'? "
        other = "one of another domain is written as 'domain.Name'"
        self._fail(key, f"ONNX has no operator '{operator}'; {asked}{other}")

    def _forms(self, operator: str, given: Any) -> tuple[Form, ...]:
        """One form, or several of which one must fit."""
        several = given if isinstance(given, list) else [given]
        return tuple([self._form(operator, told) for told in several])

    def _form(self, operator: str, told: Any) -> Form:
        at = f"forms.{operator}."
        if not isinstance(told, dict):
            self._fail(at[:-1], "write a table")
        self._require_operator(at[:-1], operator)
        self._require(told, _FORM_KEYS, at)
        attributes, inputs = _names_of(operator)
        for key in ("attributes", "lacks_attributes"):
            for name, values in told.get(key, {}).items():
                self._require_name(f"{at}{key}.{name}", name, attributes, "attribute")
                if not isinstance(values, list):
                    self._fail(f"{at}{key}.{name}", "write a list of values")
        for key in ("written", "unwritten"):
            for name in told.get(key, ()):
                self._require_name(f"{at}{key}", name, attributes, "attribute")
        for key in ("constant", "initializers", "computed", "present", "absent", "static", "ranks"):
            for name in told.get(key, ()):
                self._require_name(f"{at}{key}", name, inputs, "input")
        for name, ranks in told.get("ranks", {}).items():
            if not _is_list(ranks, int):
                self._fail(f"{at}ranks.{name}", "write a list of numbers")
        return Form(
            attributes={name: tuple(v) for name, v in told.get("attributes", {}).items()},
            lacks_attributes={
                name: tuple(v) for name, v in told.get("lacks_attributes", {}).items()
            },
            written=tuple(told.get("written", ())),
            unwritten=tuple(told.get("unwritten", ())),
            constant=tuple(told.get("constant", ())),
            initializers=tuple(told.get("initializers", ())),
            computed=tuple(told.get("computed", ())),
            present=tuple(told.get("present", ())),
            absent=tuple(told.get("absent", ())),
            ranks={name: tuple(ranks) for name, ranks in told.get("ranks", {}).items()},
            static=tuple(told.get("static", ())),
            max_rank=self._rank(at, told),
            why=told.get("why", ""),
            **self._types(at, told),
        )

    def _types(self, at: str, told: Mapping[str, Any]) -> dict[str, Any]:
        for key in ("element_types", "lacks_element_types"):
            for name in told.get(key, ()):
                if name not in _TYPES:
                    self._fail(at + key, f"there is no type '{name}'; {instead(name, _TYPES)}")
        taken = told.get("element_types")
        return {
            "element_types": None if taken is None else frozenset(taken),
            "lacks_element_types": frozenset(told.get("lacks_element_types", ())),
        }

    def _rank(self, at: str, told: Mapping[str, Any]) -> int | None:
        rank: int | None = told.get("max_rank")
        if rank is not None and rank < 0:
            self._fail(f"{at}max_rank", f"a rank is 0 or more, not {rank}")
        return rank

    def _require(
        self,
        told: Mapping[str, Any],
        kinds: Mapping[str, str],
        at: str,
        needed: tuple[str, ...] = (),
    ) -> None:
        """Check that a table has only keys that there are, and what kinds of values they have."""
        for key, value in told.items():
            if key not in kinds:
                self._fail(at + key, f"there is no such key; {instead(key, kinds)}")
            if not _KINDS[kinds[key]](value):
                self._fail(at + key, f"write {kinds[key]}, not {value!r}")
        for key in needed:
            if key not in told:
                self._fail(at + key, f"it is missing; write {kinds[key]}")

    def _require_name(self, key: str, name: str, known: set[str] | None, what: str) -> None:
        if known is not None and name not in known:
            self._fail(key, f"it has no {what} '{name}'; {instead(name, sorted(known))}")

    def _fail(self, key: str, what: str) -> NoReturn:
        raise TargetError(f"{self.place}: {key}: {what}")


def _is_list(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(type(item) is kind for item in value)


def _names_of(operator: str) -> tuple[set[str] | None, set[str] | None]:
    """The attributes and inputs that an operator has in some opset; None where it is not one of
    ONNX's."""
    if "." in operator:
        return None, None
    found = [schema_at(operator, opset) for opset in range(1, MAX_OPSET + 1)]
    schemas = [schema for schema in found if schema is not None]
    return (
        {name for schema in schemas for name in schema.attributes},
        {parameter.name for schema in schemas for parameter in schema.inputs},
    )
