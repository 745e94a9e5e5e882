"""Checks of calls: no recursion, and all inputs and attributes that functions need."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import onnx

from ..attributes import ANY, kind_of
from ..errors import ModelError
from ..places import FunctionKey, Place, key_of
from .schemas import SchemaForm, wrong_kind


class _Call(NamedTuple):
    """A call: its node, the kinds of its attributes, and the caller's own inputs."""

    function: FunctionKey
    node: onnx.NodeProto
    place: Place
    kinds: Mapping[str, int]
    parameters: Collection[str]

    @property
    def references(self) -> dict[str, str]:
        """The attributes that refer to attributes of the caller."""
        return {a.name: a.ref_attr_name for a in self.node.attribute if a.ref_attr_name}


class Calls:
    """The calls among a model's functions; None stands for the model itself.

    A function needs the required inputs and attributes of its operators and of the functions that
    it calls. A call of a settled function is checked at once, so that nothing is stored for a model
    whose functions precede their callers.
    """

    def __init__(self, functions: Sequence[onnx.FunctionProto]) -> None:
        self._messages = functions
        self._index = {key_of(f.domain, f.name, f.overload): n for n, f in enumerate(functions)}
        self._settled: set[FunctionKey] = set()
        self._open_calls: dict[FunctionKey | None, list[_Call]] = {}
        # Users of each attribute and input of a function, and the kinds of attributes.
        self._attributes: dict[FunctionKey, dict[str, str]] = defaultdict(dict)
        self._inputs: dict[FunctionKey, dict[str, str]] = defaultdict(dict)
        self._kinds: dict[FunctionKey, dict[str, int]] = defaultdict(dict)

    def __contains__(self, key: FunctionKey) -> bool:
        """Test whether a key is that of a function."""
        return key in self._index

    def function(self, key: FunctionKey) -> onnx.FunctionProto:
        """Find a function by its key."""
        return self._messages[self._index[key]]

    def note(
        self,
        caller: FunctionKey | None,
        node: onnx.NodeProto,
        kinds: Mapping[str, int],
        place: Place,
        parameters: Collection[str],
    ) -> None:
        """Add a call; `parameters` are the caller's own inputs that the node sees.

        Raises:
            ModelError: it does not fit a settled function.
        """
        key = key_of(node.domain, node.op_type, node.overload)
        call = _Call(key, node, place, kinds, parameters)
        if key in self._settled:
            self._check(call, caller)
        else:
            self._open_calls.setdefault(caller, []).append(call)

    def close(self, function: FunctionKey) -> None:
        """Settle a function unless it calls others.

        Raises:
            ModelError: a default is of the wrong kind.
        """
        if function not in self._open_calls:
            self._settle(function)

    def _settle(self, function: FunctionKey) -> None:
        self._settled.add(function)
        if function in self._kinds:
            self._check_defaults(function)

    def need(
        self,
        function: FunctionKey,
        node: onnx.NodeProto,
        form: SchemaForm,
        place: Place,
        parameters: Collection[str],
    ) -> None:
        """Record the inputs and attributes that a node in a function needs from callers."""
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
        """Check the calls that are still open.

        Raises:
            ModelError: functions are recursive, or a call does not fit its function.
        """
        # Needs of a function become needs of its callers, so callees come first.
        for caller in (*self._callees_first(), None):
            for call in self._open_calls.pop(caller, ()):
                self._check(call, caller)
            if caller is not None:
                self._settle(caller)

    def _callees_first(self) -> list[FunctionKey]:
        """Sort the unsettled functions topologically, callees first."""
        rest = {key: self._open_calls[key] for key in self._index if key in self._open_calls}
        if not rest:
            return []
        # Only a model with callers before callees needs it, and its import takes long.
        import networkx as nx

        calls: nx.DiGraph[FunctionKey] = nx.DiGraph()
        calls.add_nodes_from(rest)
        calls.add_edges_from(
            (f, call.function)
            for f, calls_of in rest.items()
            for call in calls_of
            if call.function in rest
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
            (len(call.node.input), len(function.input), "inputs; the function accepts"),
            (len(call.node.output), len(function.output), "outputs; the function has"),
        )
        for count, most, what in counts:
            if count > most:
                yield f"has {count} {what} {most}"
        if call.function in self._kinds:
            yield from self._faults_of_kinds(call, caller)
        if call.function in self._attributes:
            yield from self._missing_attributes(call, caller)
        if call.function in self._inputs:
            yield from self._missing_inputs(call, caller)

    def _faults_of_kinds(self, call: _Call, caller: FunctionKey | None) -> Iterator[str]:
        references = call.references
        for name, required in self._kinds[call.function].items():
            kind = call.kinds.get(name)
            if kind not in (None, ANY, required):
                yield wrong_kind(name, kind, [required])
            if caller is not None and name in references:
                self._kinds[caller].setdefault(references[name], required)

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
            argument = inputs[index] if index < len(inputs) else ""
            if not argument:
                yield f"lacks its input '{name}', which {user} needs"
            if caller is not None and argument in call.parameters:
                self._inputs[caller].setdefault(argument, user)

    def _check_defaults(self, key: FunctionKey) -> None:
        for message in self.function(key).attribute_proto:
            required, kind = self._kinds[key].get(message.name), kind_of(message)
            if required is not None and required != kind:
                fault = wrong_kind(message.name, kind, [required])
                raise ModelError(f"function '{key[0]}::{key[1]}' {fault}")
