"""Copies of functions for calls of several types or attributes, on which a conversion depends.

y = F <axis = 1> (x)                          y = F (x)
z = F <axis = 2> (x)                          z = F_2 (x)
F <a> (v) => (w) { w = Softmax <axis = @a> }  ->  F (v) => (w) { w = Softmax <axis = 1> (v) }
                                              F_2 (v) => (w) { w = Softmax <axis = 2> (v) }
"""

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

    Functions that call them are copied, too, if they are called with several types. Where a node
    that failed refers to attributes of calls, there is a copy for each of their values as well,
    which holds them.

    Returns:
        a remark for each function with copies; none where nothing changed.
    """
    if not model.functions:
        return []
    around, refers = _around(model, {failure.place for failure in failures})
    remarks: dict[str, Remark] = {}
    for _ in range(_MOST_COPIES):
        split = _split_first(model, around, refers)
        if split is None:
            break
        name, reason = split
        remarks[name] = Remark("convert", "Function", name, "rewritten", reason)
    return list(remarks.values())


def _around(model: Model, places: set[tuple[str, str]]) -> tuple[set[Function], bool]:
    """The functions that hold a place, and those that call them; true where a node of a place
    refers to an attribute of calls."""
    stuck = [
        (function, node)
        for function in model.functions.values()
        for graph in function.graph.walk()
        for node in graph.unordered_nodes()
        if (node.op_type, node.path) in places
    ]
    holding = {function for function, _ in stuck}
    # Callees first, so that one walk reaches all callers.
    for function in CallGraph(model.functions).callees_first():
        callees = {model.functions[call.op.function_key] for call in calls_in(function, model)}
        if callees & holding:
            holding.add(function)
    return holding, any(node.op.references for _, node in stuck)


def _split_first(model: Model, functions: set[Function], refers: bool) -> tuple[str, str] | None:
    """Copy the first function, callers first, that is called in several ways.

    Where it refers to attributes, and all calls have the same, these are written into it.

    Returns: its name, and what was done.
    """
    types = Types(model)
    callees = CallGraph(model.functions).callees_first()
    callers: list[Model | Function] = [model, *reversed(callees)]
    by_callee: dict[Function, dict[Hashable, list[Node]]] = {}
    fixed = {function for function in callees if not (refers and _refers(function))}
    for root in callers:
        for call in calls_in(root, model):
            function = model.functions[call.op.function_key]
            places = range(len(function.graph.inputs))
            kind = tuple([_kind(types, call.input(place)) for place in places])
            # A reference has no value yet that could be written into the function.
            if call.bodies or call.op.references:
                fixed.add(function)
            elif function not in fixed:
                kind += _written(function, call)
            if function in functions:
                by_callee.setdefault(function, {}).setdefault(kind, []).append(call)
    for function in reversed(callees):
        kinds = by_callee.get(function, {})
        if len(kinds) > 1:
            calls = list(kinds.values())[-1]
            functions.add(_copied(model, function, calls))
            return function.key[1], "copied for calls of other types or attributes"
        if kinds and function not in fixed:
            (calls,) = kinds.values()
            _write_attributes(function, calls)
            return function.key[1], "its attributes became attributes of its calls"
    return None


def _refers(function: Function) -> bool:
    return any(n.op.references for g in function.graph.walk() for n in g.unordered_nodes())


def _written(function: Function, call: Node) -> tuple[Hashable, ...]:
    """The attributes that a call has, by itself or by default."""
    attributes = {**function.defaults, **call.op.attributes}
    return tuple(sorted((name, m.SerializeToString()) for name, m in attributes.items()))


def _write_attributes(function: Function, calls: list[Node]) -> None:
    """Replace references of a function by the attributes that all its calls have."""
    attributes = {**function.defaults, **calls[0].op.attributes}
    for graph in function.graph.walk():
        for node in graph.unordered_nodes():
            if node.op.references:
                graph.set_operator(node, node.op.for_call(attributes))
    function.drop_attributes()
    for call in calls:
        call.parent.set_operator(call, call.op.with_attributes(()))


def _kind(types: Types, value: Value | None) -> Hashable:
    """The element type and rank of an argument, or its absence; None where it has several types, or
    none is known."""
    if value is None:
        return "absent"
    every = types.every(value)
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
        op = call.op
        operator = Operator(copy.key[1], op.attributes, op.domain, op.overload, op.extra)
        call.parent.set_operator(call, operator)
    return copy
