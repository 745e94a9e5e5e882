"""Calls of a model's own functions: that they end, and give what the functions need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

import networkx as nx
import onnx

from ..errors import ModelError
from .attributes import ANY, kind_of, name_of_kind
from .places import FunctionKey, Place, key_of
from .schemas import Form


class _Call(NamedTuple):
    """A call: what it gives, and what of that its caller was given itself."""

    function: FunctionKey
    node: onnx.NodeProto
    place: Place
    kinds: Mapping[str, int]
    parameters: Set[str]

    @property
    def references(self) -> dict[str, str]:
        """The attributes that it takes from its caller."""
        return {a.name: a.ref_attr_name for a in self.node.attribute if a.ref_attr_name}


class Calls:
    """The calls among a model's functions; None stands for the model itself.

    A function needs what an operator in it cannot be without, and what those that it calls need.

    Args:
        functions: by what nodes call them.
    """

    def __init__(self, functions: Mapping[FunctionKey, onnx.FunctionProto]) -> None:
        self.functions = functions
        self._made: dict[FunctionKey | None, list[_Call]] = defaultdict(list)
        # Who needs an attribute or an input of a function, and of which kind an attribute must be.
        self._attributes: dict[FunctionKey, dict[str, str]] = defaultdict(dict)
        self._inputs: dict[FunctionKey, dict[str, str]] = defaultdict(dict)
        self._kinds: dict[FunctionKey, dict[str, int]] = defaultdict(dict)

    def note(
        self,
        caller: FunctionKey | None,
        node: onnx.NodeProto,
        kinds: Mapping[str, int],
        place: Place,
        parameters: Set[str],
    ) -> None:
        """Note a call; `parameters` are the caller's own inputs as far as the node sees them."""
        key = key_of(node.domain, node.op_type, node.overload)
        self._made[caller].append(_Call(key, node, place, kinds, parameters))

    def need(
        self,
        function: FunctionKey,
        node: onnx.NodeProto,
        form: Form,
        place: Place,
        parameters: Set[str],
    ) -> None:
        """Note what a node in a function needs of the function's caller."""
        for attribute in node.attribute:
            if attribute.ref_attr_name:
                if attribute.name in form.required:
                    needs = self._attributes[function]
                    needs.setdefault(attribute.ref_attr_name, place.node(node))
                if attribute.type:
                    self._kinds[function].setdefault(attribute.ref_attr_name, attribute.type)
        if parameters:
            for index in form.required_inputs:
                if node.input[index] in parameters:
                    self._inputs[function].setdefault(node.input[index], place.node(node))

    def check(self) -> None:
        """Check all calls that were noted.

        Raises:
            ModelError: functions call each other in a circle, or a call does not fit its function.
        """
        for caller in (*self._callees_first(), None):
            for call in self._made.get(caller, ()):
                for fault in self._faults(call, caller):
                    raise ModelError(f"{call.place.node(call.node)} {fault}")
            if caller in self._kinds and caller is not None:
                self._check_defaults(caller)

    def _callees_first(self) -> list[FunctionKey]:
        calls: nx.DiGraph[FunctionKey] = nx.DiGraph()
        calls.add_nodes_from(self.functions)
        made = self._made
        calls.add_edges_from((f, call.function) for f in self.functions for call in made.get(f, ()))
        try:
            return list(nx.topological_sort(calls.reverse(copy=False)))
        except nx.NetworkXUnfeasible:
            circle = [f"'{domain}::{name}'" for (domain, name, _), _ in nx.find_cycle(calls)]
            through = f" through {', '.join(circle[1:])}" if circle[1:] else ""
            fault = f"function {circle[0]} calls itself{through}, which ONNX forbids"
            raise ModelError(fault) from None

    def _faults(self, call: _Call, caller: FunctionKey | None) -> Iterator[str]:
        function = self.functions[call.function]
        counts = (
            (len(call.node.input), len(function.input), "inputs; the function takes"),
            (len(call.node.output), len(function.output), "outputs; the function gives"),
        )
        for given, most, what in counts:
            if given > most:
                yield f"has {given} {what} {most}"
        if call.function in self._kinds:
            yield from self._faults_of_kinds(call, caller)
        if call.function in self._attributes:
            yield from self._missing_attributes(call, caller)
        if call.function in self._inputs:
            yield from self._missing_inputs(call, caller)

    def _faults_of_kinds(self, call: _Call, caller: FunctionKey | None) -> Iterator[str]:
        references = call.references
        for name, wanted in self._kinds[call.function].items():
            kind = call.kinds.get(name)
            if kind not in (None, ANY, wanted):
                yield _wrong_kind(name, kind, wanted)
            if caller is not None and name in references:
                self._kinds[caller].setdefault(references[name], wanted)

    def _missing_attributes(self, call: _Call, caller: FunctionKey | None) -> Iterator[str]:
        references = call.references
        defaults = {message.name for message in self.functions[call.function].attribute_proto}
        for name, user in self._attributes[call.function].items():
            if name not in call.kinds and name not in defaults:
                yield f"lacks an attribute '{name}', which {user} needs"
            if caller is not None and name in references and name not in defaults:
                self._attributes[caller].setdefault(references[name], user)

    def _missing_inputs(self, call: _Call, caller: FunctionKey | None) -> Iterator[str]:
        names, inputs = list(self.functions[call.function].input), call.node.input
        for name, user in self._inputs[call.function].items():
            index = names.index(name)
            given = inputs[index] if index < len(inputs) else ""
            if not given:
                yield f"lacks its input '{name}', which {user} needs"
            if caller is not None and given in call.parameters:
                self._inputs[caller].setdefault(given, user)

    def _check_defaults(self, key: FunctionKey) -> None:
        for message in self.functions[key].attribute_proto:
            wanted, kind = self._kinds[key].get(message.name), kind_of(message)
            if wanted is not None and wanted != kind:
                fault = _wrong_kind(message.name, kind, wanted)
                raise ModelError(f"function '{key[0]}::{key[1]}' {fault}")


def _wrong_kind(name: str, kind: int, wanted: int) -> str:
    return (
        f"has an attribute '{name}' of kind {name_of_kind(kind)}, which takes"
        f" {name_of_kind(wanted)}"
    )
