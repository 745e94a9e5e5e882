"""Copies of functions for calls of several types, where a conversion depends on the type."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from ..ir import Function, Model, Node, Operator, Value
from ..ir.copying import copy_function
from ..passes import Remark
from ..passes.functions.calls import CallGraph
from .absent import calls_in
from .errors import Failure
from .types import Types, shape_of

_MOST_COPIES = 64
"""Limit of copies in a model."""


def copy_for_types(model: Model, failures: Iterable[Failure]) -> list[Remark]:
    """Copy functions in which a conversion failed, in place: one for calls of the same types.

    Functions that call them are copied, too, if they are called with several types.

    Returns:
        a remark for each function with copies; none where nothing changed.
    """
    if not model.functions:
        return []
    around = _around(model, {failure.place for failure in failures})
    remarks: dict[str, Remark] = {}
    for _ in range(_MOST_COPIES):
        name = _split_first(model, around)
        if name is None:
            break
        reason = "copied for calls of other types"
        remarks[name] = Remark("convert", "Function", name, "rewritten", reason)
    return list(remarks.values())


def _around(model: Model, places: set[tuple[str, str]]) -> set[Function]:
    """The functions that hold a place, and those that call them."""
    holding = {
        function
        for function in model.functions.values()
        for graph in function.graph.walk()
        for node in graph.unordered_nodes()
        if (node.op_type, node.path) in places
    }
    for function in CallGraph(model.functions).callees_first():
        callees = {model.functions[call.op.function_key] for call in calls_in(function, model)}
        if callees & holding:
            holding.add(function)
    return holding


def _split_first(model: Model, functions: set[Function]) -> str | None:
    """Copy the first function, callers first, that is called with several types."""
    types = Types(model)
    callees = CallGraph(model.functions).callees_first()
    callers: list[Model | Function] = [model, *reversed(callees)]
    by_callee: dict[Function, dict[Hashable, list[Node]]] = {}
    for root in callers:
        for call in calls_in(root, model):
            function = model.functions[call.op.function_key]
            kind = tuple([_kind(types, value) for value in call.inputs])
            if function in functions:
                by_callee.setdefault(function, {}).setdefault(kind, []).append(call)
    for function in reversed(callees):
        kinds = by_callee.get(function, {})
        if len(kinds) > 1:
            calls = list(kinds.values())[-1]
            functions.add(_copied(model, function, calls))
            return function.key[1]
    return None


def _kind(types: Types, value: Value | None) -> Hashable:
    """The element type and rank of an argument; None where it has several, or none is known."""
    every = [] if value is None else types.every(value)
    ranks = {None if (s := shape_of(type_)) is None else len(s) for type_ in every}
    elements = {type_.tensor_type.elem_type for type_ in every}
    return (elements.pop(), ranks.pop()) if len(elements) == len(ranks) == 1 else None


def _copied(model: Model, function: Function, calls: list[Node]) -> Function:
    """A copy of a function with a name of its own, which some calls call."""
    domain, name, _ = function.key
    number = 2
    while any(key[:2] == (domain, f"{name}_{number}") for key in model.functions):
        number += 1
    copy = copy_function(function)
    copy.rename(f"{name}_{number}")
    model.functions[copy.key] = copy
    for call in calls:
        assert call.graph is not None
        op = call.op
        operator = Operator(copy.key[1], op.attributes, op.domain, op.overload, op.extra)
        call.graph.set_operator(call, operator)
    return copy
