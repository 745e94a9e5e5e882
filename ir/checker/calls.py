"""Calls of a model's own functions: that they end, and give what the functions need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import networkx as nx
import onnx

from ..attributes import ANY, kind_of, name_of_kind
from ..errors import ModelError
from ..places import FunctionKey, Place, key_of
from .schemas import Form


class _Call(NamedTuple):
    """A call: what it gives, and what of that its caller was given itself."""

    function: FunctionKey
    node: onnx.NodeProto
    place: Place
    kinds: Mapping[str, int]
    parameters: Collection[str]

    @property
    def references(self) -> dict[str, str]:
        """The attributes that it takes from its caller."""
        return {a.name: a.ref_attr_name for a in self.node.attribute if a.ref_attr_name}


class Calls:
    """The calls among a model's functions; None stands for the model itself.

    A function needs what an operator in it cannot be without, and what those that it calls need.
    A call of a function of which all is known is checked at once, so that nothing is kept of a
    model whose functions stand before those that call them.

    Args:
        functions: those of the model.
    """

    def __init__(self, functions: Sequence[onnx.FunctionProto]) -> None:
        self._messages = functions
        self._index = {key_of(f.domain, f.name, f.overload): n for n, f in enumerate(functions)}
        self._settled: set[FunctionKey] = set()
        self._made: dict[FunctionKey | None, list[_Call]] = {}
        # Who needs an attribute or an input of a function, and of which kind an attribute must be.
        self._attributes: dict[FunctionKey, dict[str, str]] = defaultdict(dict)
        self._inputs: dict[FunctionKey, dict[str, str]] = defaultdict(dict)
        self._kinds: dict[FunctionKey, dict[str, int]] = defaultdict(dict)

    def __contains__(self, key: FunctionKey) -> bool:
        """Whether nodes call a function by this."""
        return key in self._index

    def function(self, key: FunctionKey) -> onnx.FunctionProto:
        """A function by what nodes call it."""
        return self._messages[self._index[key]]

    def note(
        self,
        caller: FunctionKey | None,
        node: onnx.NodeProto,
        kinds: Mapping[str, int],
        place: Place,
        parameters: Collection[str],
    ) -> None:
        """Note a call; `parameters` are the caller's own inputs as far as the node sees them.

        Raises:
            ModelError: it does not fit a function of which all is known.
        """
        key = key_of(node.domain, node.op_type, node.overload)
        call = _Call(key, node, place, kinds, parameters)
        if key in self._settled:
            self._check(call, caller)
        else:
            self._made.setdefault(caller, []).append(call)

    def close(self, function: FunctionKey) -> None:
        """Note that all nodes of a function were seen.

        Raises:
            ModelError: a default does not fit what is needed of it.
        """
        if function not in self._made:
            self._settle(function)

    def _settle(self, function: FunctionKey) -> None:
        self._settled.add(function)
        if function in self._kinds:
            self._check_defaults(function)

    def need(
        self,
        function: FunctionKey,
        node: onnx.NodeProto,
        form: Form,
        place: Place,
        parameters: Collection[str],
    ) -> None:
        """Note what a node in a function needs of the function's caller."""
        for attribute in node.attribute[:]:
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
        """Check the calls that were noted and not checked.

        Raises:
            ModelError: functions call each other in a circle, or a call does not fit its function.
        """
        for caller in (*self._callees_first(), None):
            for call in self._made.pop(caller, ()):
                self._check(call, caller)
            if caller is not None:
                self._settle(caller)

    def _callees_first(self) -> list[FunctionKey]:
        """The functions of which not all is known."""
        calls: nx.DiGraph[FunctionKey] = nx.DiGraph()
        rest = {key: self._made[key] for key in self._index if key in self._made}
        calls.add_nodes_from(rest)
        calls.add_edges_from(
            (f, call.function) for f, made in rest.items() for call in made if call.function in rest
        )
        try:
            return list(nx.topological_sort(calls.reverse(copy=False)))
        except nx.NetworkXUnfeasible:
            circle = [f"'{domain}::{name}'" for (domain, name, _), _ in nx.find_cycle(calls)]
            through = f" through {', '.join(circle[1:])}" if circle[1:] else ""
            fault = f"function {circle[0]} calls itself{through}, which ONNX forbids"
            raise ModelError(fault) from None

    def _check(self, call: _Call, caller: FunctionKey | None) -> None:
        for fault in self._faults(call, caller):
            raise ModelError(f"{call.place.node(call.node)} {fault}")

    def _faults(self, call: _Call, caller: FunctionKey | None) -> Iterator[str]:
        function = self.function(call.function)
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
        defaults = {message.name for message in self.function(call.function).attribute_proto}
        for name, user in self._attributes[call.function].items():
            if name not in call.kinds and name not in defaults:
                yield f"lacks an attribute '{name}', which {user} needs"
            if caller is not None and name in references and name not in defaults:
                self._attributes[caller].setdefault(references[name], user)

    def _missing_inputs(self, call: _Call, caller: FunctionKey | None) -> Iterator[str]:
        names, inputs = list(self.function(call.function).input), call.node.input
        for name, user in self._inputs[call.function].items():
            index = names.index(name)
            given = inputs[index] if index < len(inputs) else ""
            if not given:
                yield f"lacks its input '{name}', which {user} needs"
            if caller is not None and given in call.parameters:
                self._inputs[caller].setdefault(given, user)

    def _check_defaults(self, key: FunctionKey) -> None:
        for message in self.function(key).attribute_proto:
            wanted, kind = self._kinds[key].get(message.name), kind_of(message)
            if wanted is not None and wanted != kind:
                fault = _wrong_kind(message.name, kind, wanted)
                raise ModelError(f"function '{key[0]}::{key[1]}' {fault}")


def _wrong_kind(name: str, kind: int, wanted: int) -> str:
    return (
        f"has an attribute '{name}' of kind {name_of_kind(kind)}, which takes"
        f" {name_of_kind(wanted)}"
    )
