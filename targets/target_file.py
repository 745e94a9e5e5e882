"""Parser of target files (TOML), with one line and the key for each error."""

import datetime
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from onnx import TensorProto

from ..ir import MAX_OPSET, instead, nearest
from ..ir.io.toml_text import parse_toml
from ..ops.schema_queries import operators, schema_at
from ..ops.traits import operators_with
from ..version_converter.schemas import OLDEST
from .target import ANY_SHAPE, Form, Opsets, Source, Target, TargetError, Tried

_FLAGS = (
    *("functions", "own_outputs", "own_conditions", "names_nodes", "names_sizes"),
    *("names_bodies", "computes_empty", "raw_data"),
    *("known_sizes", "known_declarations", "short_integers", "standard", "raises"),
)
_ATTRIBUTE_LISTS = ("written", "unwritten")
_INPUT_LISTS = (
    *("constant", "initializers", "computed", "nonnegative", "absent", "static", "whole"),
    *("from_sizes", "from_data", "scalars", "filled", "wide"),
)
_INDEXED, _BRANCHES = ("GatherND", "ScatterND"), ("If",)
_OF_OPERATORS = {
    "same_ranks": _BRANCHES,
    "same_shapes": _BRANCHES,
    "depthwise": ("Conv", "ConvTranspose"),
    # The writer changes the order.
    "constants_first": (*operators_with("commutative"), "Max", "Mean", "Min", "Sum"),
    "whole_tuples": _INDEXED,
    "max_tuple": _INDEXED,
}
"""The operators that a key speaks of."""
_PLACE_TABLES = ("ranks", "types", "not_from")
_KEYS = {
    "about": "a text",
    "opsets": "two numbers",
    "preferred_opset": "a number",
    "operators": "a list of texts",
    "lacks": "a list of texts",
    "domains": "a list of texts",
    "inner": "a list of texts",
    **dict.fromkeys(_FLAGS, "true or false"),
    "static_shapes": "true or false",
    "max_rank": "a number",
    "element_types": "a list of texts",
    "lacks_element_types": "a list of texts",
    "passes": "a text",
    "source": "a table",
    "tried": "a table",
    "forms": "a table",
}
_SOURCE_KEYS = {"list": "a text", "version": "a text", "date": "a date", "url": "a text"}
_TRIED_KEYS = {"version": "a text", "date": "a date"}
_FORM_KEYS = {
    "attributes": "a table",
    "lacks_attributes": "a table",
    **dict.fromkeys((*_ATTRIBUTE_LISTS, *_INPUT_LISTS, "present"), "a list of texts"),
    **dict.fromkeys(_PLACE_TABLES, "a table"),
    **dict.fromkeys((*_OF_OPERATORS, "even_pads"), "true or false"),
    **dict.fromkeys(("max_inputs", "max_outputs", "max_uses", "max_tuple"), "a number"),
    "max_rank": "a number",
    "element_types": "a list of texts",
    "lacks_element_types": "a list of texts",
    "why": "a text",
}
_KINDS: dict[str, Callable[[Any], bool]] = {
    "a text": lambda value: isinstance(value, str),
    # True is an int for Python, and a datetime is a date.
    "a number": lambda value: type(value) is int,
    "true or false": lambda value: isinstance(value, bool),
    "a table": lambda value: isinstance(value, dict),
    "a date": lambda value: type(value) is datetime.date,
    "two numbers": lambda value: _is_list(value, int) and len(value) == 2,
    "a list of texts": lambda value: _is_list(value, str),
}
_SPAN = re.compile(r"(\d{1,4})(?:(-)(\d{1,4})?)?")
_TYPES = sorted(name.lower() for name, _ in TensorProto.DataType.items() if name != "UNDEFINED")
_LARGE = 10**6
"""Limit of numbers in messages."""


def parse(text: str, name: str, place: str, *, any_names: bool = False) -> Target:
    """Parse the target of a file.

    Args:
        text: TOML.
        name: the name of the target.
        place: the name of the file in messages.
        any_names: accept operators, attributes and inputs that the installed onnx lacks.

    Raises:
        TargetError: the text is no TOML, a key is unknown or missing, or a value is invalid.
    """
    try:
        table = parse_toml(text)
    except ValueError as error:
        raise TargetError(f"{place}: {error}") from error
    return _Reader(place, any_names).target(table, name)


class _Reader:
    def __init__(self, place: str, any_names: bool) -> None:
        self.place = place
        self.any_names = any_names

    def target(self, table: Mapping[str, Any], name: str) -> Target:
        self._require(table, _KEYS, "", needed=("about", "opsets", "source"))
        opsets, preferred = self._opsets(table["opsets"]), table.get("preferred_opset")
        if preferred is not None and preferred not in opsets:
            number = preferred if abs(preferred) < _LARGE else "the number"
            self._fail("preferred_opset", f"{number} is not in opsets, {opsets}")
        # Both would contradict each other for an operator in neither, and none would support
        # nothing.
        if ("operators" in table) == ("lacks" in table):
            self._fail("operators", "write either operators, all that it supports, or lacks")
        listed = table.get("operators")
        return Target(
            name=name,
            about=table["about"],
            opsets=opsets,
            source=self._source(table["source"]),
            preferred_opset=preferred,
            operators=None if listed is None else self._listed("operators", listed),
            lacks=self._listed("lacks", table.get("lacks", ())),
            domains=frozenset(table.get("domains", ())),
            inner=self._inner(table),
            **{key: table.get(key, False) for key in _FLAGS},
            anywhere=self._anywhere(table),
            forms=self._all_forms(table.get("forms", {})),
            passes=table.get("passes"),
            tried=self._tried(table["tried"]) if "tried" in table else None,
        )

    def _inner(self, table: Mapping[str, Any]) -> frozenset[str]:
        for name in table.get("inner", ()):
            self._require_operator("inner", name)
            if not table.get("own_outputs"):
                self._fail("inner", "write own_outputs = true with it")
        return frozenset(table.get("inner", ()))

    def _source(self, table: Mapping[str, Any]) -> Source:
        self._require(table, _SOURCE_KEYS, "source.", needed=("list", "version", "date"))
        return Source(**table)

    def _tried(self, table: Mapping[str, Any]) -> Tried:
        self._require(table, _TRIED_KEYS, "tried.", needed=tuple(_TRIED_KEYS))
        return Tried(**table)

    def _opsets(self, pair: list[int]) -> Opsets:
        first, last = pair
        if not OLDEST <= first <= last:
            self._fail("opsets", f"write the first and the last, from {OLDEST} on, not {pair}")
        # Only the first must be known: a target may read newer opsets than the installed onnx.
        if first > MAX_OPSET:
            self._fail("opsets", f"the installed onnx knows opsets up to {MAX_OPSET}, not {first}")
        return Opsets(first, last)

    def _anywhere(self, table: Mapping[str, Any]) -> Form:
        static = (ANY_SHAPE,) if table.get("static_shapes") else ()
        return Form(static=static, **self._limits("", table))

    def _listed(self, key: str, items: Iterable[str]) -> dict[str, tuple[Opsets, ...]]:
        """Parse operators, each with its ranges: "Add", "Resize 11-17", "Pad 11 13-"."""
        ranges: dict[str, tuple[Opsets, ...]] = {}
        for item in items:
            operator, *spans = item.split() or [""]
            if operator in ranges:
                self._fail(key, f"'{operator}' is listed twice")
            self._require_operator(key, operator)
            read = tuple(self._span(key, item, span) for span in spans)
            ranges[operator] = read or (Opsets(1, sys.maxsize),)
        return ranges

    def _span(self, key: str, item: str, text: str) -> Opsets:
        match = _SPAN.fullmatch(text)
        if match is None:
            self._fail(key, f"'{item}': write opsets as in 'Resize 11-17', 'Resize 13-'")
        first, dash, last = match.groups()
        return Opsets(int(first), int(last) if last else sys.maxsize if dash else int(first))

    def _require_operator(self, key: str, operator: str) -> None:
        """Check that an operator is one of ONNX's or has a domain."""
        if "." in operator or operator in operators() or self.any_names:
            return
        suggestion = nearest(operator, operators())
        question = "" if suggestion is None else f"did you mean '{suggestion}'? "
        other = "one of another domain is spelled 'domain.Name'"
        self._fail(key, f"ONNX has no operator '{operator}'; {question}{other}")

    def _all_forms(self, tables: Mapping[str, Any]) -> dict[str, tuple[Form, ...]]:
        """Parse the forms by operator; a table may have the names of several operators."""
        forms: dict[str, tuple[Form, ...]] = {}
        for names, table in tables.items():
            for operator in names.split() or [names]:
                if operator in forms:
                    self._fail(f"forms.{names}", f"'{operator}' has a table already")
                forms[operator] = self._forms(operator, table)
        return forms

    def _forms(self, operator: str, tables: Any) -> tuple[Form, ...]:
        """Parse one form, or several alternatives."""
        # TOML spells them [forms.X] and [[forms.X]]: of several, one must hold.
        several = tables if isinstance(tables, list) else [tables]
        return tuple([self._form(operator, table) for table in several])

    def _form(self, operator: str, table: Any) -> Form:
        at = f"forms.{operator}."
        if not isinstance(table, dict):
            self._fail(at[:-1], "write a table")
        self._require_operator(at[:-1], operator)
        self._require(table, _FORM_KEYS, at)
        self._check_flags(operator, at, table)
        attributes, inputs, outputs = _names_of(operator)
        for key in ("attributes", "lacks_attributes"):
            for name, values in table.get(key, {}).items():
                self._require_name(f"{at}{key}.{name}", name, attributes, "attribute")
                if not isinstance(values, list):
                    self._fail(f"{at}{key}.{name}", "write a list of values")
        for key in _ATTRIBUTE_LISTS:
            for name in table.get(key, ()):
                self._require_name(f"{at}{key}", name, attributes, "attribute")
        for key in (*_INPUT_LISTS, "not_from"):
            for name in table.get(key, ()):
                self._require_name(f"{at}{key}", name, inputs, "input")
        for key in ("ranks", "types", "present"):
            for name in table.get(key, ()):
                self._require_name(f"{at}{key}", name, outputs, "input or output")
        self._check_places(at, table)
        fields = {key: _frozen(value) for key, value in table.items()}
        return Form(**{**fields, **self._limits(at, table)})

    def _check_flags(self, operator: str, at: str, table: Mapping[str, Any]) -> None:
        """Check that a form has no key of other operators."""
        for key in table:
            if operator not in _OF_OPERATORS.get(key, (operator,)):
                self._fail(at + key, f"it is of {', '.join(_OF_OPERATORS[key])} alone")
        if table.get("even_pads"):
            self._require_name(f"{at}even_pads", "pads", _names_of(operator)[0], "attribute")

    def _check_places(self, at: str, table: Mapping[str, Any]) -> None:
        """Check the lists of a form by input or output."""
        for name, ranks in table.get("ranks", {}).items():
            if not _is_list(ranks, int):
                self._fail(f"{at}ranks.{name}", "write a list of numbers")
        for key in ("types", "not_from"):
            for name, items in table.get(key, {}).items():
                if not _is_list(items, str):
                    self._fail(f"{at}{key}.{name}", "write a list of texts")
                for item in items:
                    if key == "types":
                        self._require_type(f"{at}{key}.{name}", item)
                    else:
                        self._require_operator(f"{at}{key}.{name}", item)

    def _require_type(self, key: str, name: str) -> None:
        if name not in _TYPES:
            self._fail(key, f"there is no type '{name}'; {instead(name, _TYPES)}")

    def _limits(self, at: str, table: Mapping[str, Any]) -> dict[str, Any]:
        """Check and parse the limits of rank and types, of one form or of all."""
        rank = table.get("max_rank")
        if rank is not None and rank < 0:
            self._fail(f"{at}max_rank", f"a rank must be 0 or more, not {rank}")
        for key in ("element_types", "lacks_element_types"):
            for name in table.get(key, ()):
                self._require_type(at + key, name)
        names = table.get("element_types")
        return {
            "max_rank": rank,
            "element_types": None if names is None else frozenset(names),
            "lacks_element_types": frozenset(table.get("lacks_element_types", ())),
        }

    def _require(
        self,
        table: Mapping[str, Any],
        kinds: Mapping[str, str],
        at: str,
        needed: tuple[str, ...] = (),
    ) -> None:
        """Check the keys of a table and the kinds of their values."""
        for key, value in table.items():
            if key not in kinds:
                self._fail(at + key, f"there is no such key; {instead(key, kinds)}")
            if not _KINDS[kinds[key]](value):
                self._fail(at + key, f"write {kinds[key]}, not {value!r}")
        for key in needed:
            if key not in table:
                self._fail(at + key, f"it is missing; write {kinds[key]}")

    def _require_name(self, key: str, name: str, names: set[str] | None, what: str) -> None:
        if names is not None and name not in names and not self.any_names:
            self._fail(key, f"it has no {what} '{name}'; {instead(name, sorted(names))}")

    def _fail(self, key: str, what: str) -> NoReturn:
        raise TargetError(f"{self.place}: {key}: {what}")


def _frozen(value: Any) -> Any:
    """A value with tuples for lists, also those in a table."""
    if isinstance(value, dict):
        return {name: tuple(items) for name, items in value.items()}
    return tuple(value) if isinstance(value, list) else value


def _is_list(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(type(item) is kind for item in value)


def _names_of(operator: str) -> tuple[set[str] | None, set[str] | None, set[str] | None]:
    """The attributes, the inputs, and the inputs and outputs of an operator in any opset; None
    where it is not one of ONNX's."""
    if "." in operator:
        return None, None, None
    versions = [schema_at(operator, opset) for opset in range(1, MAX_OPSET + 1)]
    schemas = [schema for schema in versions if schema is not None]
    inputs = {parameter.name for schema in schemas for parameter in schema.inputs}
    return (
        {name for schema in schemas for name in schema.attributes},
        inputs,
        inputs | {parameter.name for schema in schemas for parameter in schema.outputs},
    )
