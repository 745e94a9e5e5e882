"""Inputs of functions that calls omit."""

from collections.abc import Iterator

from ..ir import Function, Model, Node, Value
from ..passes.functions.calls import CallGraph


class AbsentInputs:
    """Inputs of a model's functions that calls omit.

    Attributes:
        always: inputs that every call omits.
        sometimes: inputs that some calls omit and others pass.
    """

    def __init__(self, model: Model) -> None:
        self.always: set[Value] = set()
        self.sometimes: set[Value] = set()
        calls = {root: list(calls_in(root, model)) for root in model.roots()}
        for call in (call for each in calls.values() for call in each):
            count = len(model.functions[call.op.function_key].graph.inputs)
            if None in call.inputs or len(call.inputs) < count:
                self._find(model, calls)
                break

    def _find(self, model: Model, calls: dict[Model | Function, list[Node]]) -> None:
        """Follow absent inputs through the calls, callers first."""
        present: set[Value] = set()
        absent: set[Value] = set()
        callees_first = CallGraph(model.functions).callees_first()
        roots: list[Model | Function] = [model, *reversed(callees_first)]
        for root in roots:
            for call in calls[root]:
                for index, value in enumerate(model.functions[call.op.function_key].graph.inputs):
                    argument = call.input(index)
                    if argument is None or argument in absent:
                        absent.add(value)
                    if argument is not None and (argument not in absent or argument in present):
                        present.add(value)
        self.always, self.sometimes = absent - present, absent & present


def calls_in(root: Model | Function, model: Model) -> Iterator[Node]:
    """The calls of a model's functions in the graphs of a root."""
    for graph in root.graph.walk() if model.functions else ():
        for node in graph.unordered_nodes():
            if node.op.function_key in model.functions:
                yield node
