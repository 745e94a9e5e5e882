"""What may run although its result is thrown away: the branch that is not taken, the trip after
the last.

Such code must not fail where the original did not run it. What must be proven about the inputs of
each operator that may run so stands in its class in `operators`; everything else is a hazard.
Declarations inside the code count for nothing, as they speak of the runs that the original makes:
facts are inferred from what is known outside, node by node, each proven safe before its outputs are
believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...facts.bounds import Known, alike, known
from ...facts.fact import UNKNOWN, constant_fact
from ...facts.polynomial import Dimension
from ...facts.safety_context import Premises, Unproven
from ...ir import Function, FunctionKey, Graph, Node, Signal, Value, normal_domain
from ...limits import allowed, limit
from ...ops import OLDEST_OPSET, OperatorRules, rules_of
from ...ops.outputs import known_outputs
from ...ops.randomness import draws_random_numbers
from ..shapes.inference import ShapeInference

_MOST_STEPS = limit("bound_steps")
"""How far bounds of a value from outside are followed back."""

_MOST_CALLS = limit("speculated_calls")
"""How many calls of functions are looked into."""

_DEEPEST = limit("call_depth")
"""How deep in each other they are."""

Environment = dict[Value, Known]


class Hazard(Signal):
    """A node may fail, or change what other nodes do, when it runs where it need not.

    Attributes:
        node: that node.
        why: what could happen, as the rest of a sentence that begins with the node.
    """

    def __init__(self, node: Node, why: str) -> None:
        super().__init__(f"{node} {why}")
        self.node = node
        self.why = why


class Speculation:
    """Runs bodies of one model on what is known about values instead of on the values.

    Args:
        inference: facts about values outside of the bodies.
        functions: the model's own functions, which are looked into.
    """

    def __init__(
        self, inference: ShapeInference, functions: Mapping[FunctionKey, Function]
    ) -> None:
        self.inference = inference
        self.functions = functions
        self._outside: Environment = {}
        self._calls = self._depth = 0
        self._latest: dict[Node, tuple[Sequence[Known], list[Known], bool]] = {}

    def run(
        self, body: Graph, arguments: Sequence[Known] = (), *, certain: bool = False
    ) -> list[Known]:
        """What a body gives out when it runs on values of which the arguments are known.

        Args:
            body: the graph; nothing in it is changed.
            arguments: what is known about each of its inputs.
            certain: the original runs it too, so that it may fail.

        Raises:
            Hazard: a node of the body may fail, and the original might not run it.
        """
        environment: Environment = dict(zip(body.inputs, arguments, strict=True))
        for node in body.nodes():
            inputs = [self._known(value, environment) for value in node.inputs]
            self._remember(node, self.run_node(node, inputs, certain), environment)
        return [self._known(value, environment) for value in body.outputs]

    def survey(self, nodes: Sequence[Node]) -> dict[Node, Hazard]:
        """Which of some nodes may fail if they run although the original might not run them, and
        why: those that they read come first, and what these read besides is known outside."""
        environment: Environment = {}
        hazards: dict[Node, Hazard] = {}
        for node in nodes:
            inputs = [self._known(value, environment) for value in node.inputs]
            try:
                results = self.run_node(node, inputs, certain=False)
            except Hazard as hazard:
                hazards[node] = hazard
                results = [Known(UNKNOWN)] * len(node.outputs)
            self._remember(node, results, environment)
        return hazards

    def outside(self, value: Value, steps: int = _MOST_STEPS) -> Known:
        """What is known about a value of the model as it stands."""
        if value in self._outside:
            return self._outside[value]
        fact = self.inference.fact(value)
        result = known(fact)
        node = value.producer
        if node is not None and result.bounds is not None and fact.content is None and steps:
            inputs = [
                Known(UNKNOWN) if v is None else self.outside(v, steps - 1) for v in node.inputs
            ]
            facts = [UNKNOWN if v is None else self.inference.fact(v) for v in node.outputs]
            result = known_outputs(node, inputs, facts)[node.outputs.index(value)]
        self._outside[value] = result
        return result

    def _remember(self, node: Node, results: Sequence[Known], environment: Environment) -> None:
        for value, result in zip(node.outputs, results, strict=False):
            if value is not None:
                constant = value.constant
                environment[value] = result if constant is None else known(constant_fact(constant))

    def _known(self, value: Value | None, environment: Environment) -> Known:
        if value is None:
            return Known(UNKNOWN)
        found = environment.get(value)
        return self.outside(value) if found is None else found

    def run_node(self, node: Node, inputs: Sequence[Known], certain: bool) -> list[Known]:
        """What a node gives when it runs on values of which this is known.

        Args:
            node: the node; nothing is changed.
            inputs: what is known about each of its inputs.
            certain: the original runs it too, so that it may fail.

        Raises:
            Hazard: it may fail, and the original might not run it.
        """
        latest = self._latest.get(node)
        if latest is not None and (certain or not latest[2]) and _all_alike(inputs, latest[0]):
            return latest[1]
        function = self.functions.get(node.op.function_key)
        if function is not None:
            results = self._call(node, function, inputs, certain)
        else:
            results = self._compute(node, inputs, certain)
        if not node.bodies and _symbols(results) <= _symbols(inputs):
            # A size without a name may be another one when the node runs again.
            self._latest[node] = (inputs, results, certain)
        return results

    def _compute(self, node: Node, inputs: Sequence[Known], certain: bool) -> list[Known]:
        if not certain:
            _prove_safe(node, inputs)
        if node.bodies:
            # Only code that is certain to run holds any; what they give out is not looked into.
            return [Known(UNKNOWN)] * len(node.outputs)
        facts = self.inference.infer(node, [argument.fact for argument in inputs])
        return known_outputs(node, inputs, facts)

    def _call(
        self, node: Node, function: Function, inputs: Sequence[Known], certain: bool
    ) -> list[Known]:
        self._calls += 1
        over = self._over()
        if over:
            if not certain:
                raise Hazard(node, over)
            return [Known(UNKNOWN)] * len(node.outputs)
        missing = len(function.graph.inputs) - len(inputs)
        arguments = [*inputs, *[Known(UNKNOWN)] * missing]
        self._depth += 1
        try:
            return self.run(function.graph, arguments, certain=certain)
        finally:
            self._depth -= 1

    def _over(self) -> str:
        """Why a call is not looked into; "" where it is."""
        if self._calls > _MOST_CALLS:
            # Functions that call others twice are run as often as there are paths to them.
            more = f"more often than {allowed('speculated_calls')}"
        elif self._depth >= _DEEPEST:
            more = f"deeper in each other than {allowed('call_depth')}"
        else:
            return ""
        return f"calls functions {more} to look into"


def _all_alike(ones: Sequence[Known], others: Sequence[Known]) -> bool:
    return all(alike(one, other) for one, other in zip(ones, others, strict=True))


def _symbols(values: Sequence[Known]) -> set[str]:
    """The symbols in shapes and contents."""
    found: set[str] = set()
    for value in values:
        for dim in value.fact.shape or ():
            found |= dim.symbols
        for element in () if value.fact.content is None else value.fact.content.reshape(-1):
            if isinstance(element, Dimension):
                found |= element.symbols
    return found


def _prove_safe(node: Node, inputs: Sequence[Known]) -> None:
    """Check that a node can neither fail nor affect others.

    Raises:
        Hazard: that is not certain.
    """
    assert node.graph is not None
    opset = node.graph.root.opset()
    if draws_random_numbers(node):
        raise Hazard(node, "draws random numbers, and an extra draw changes the later ones")
    if node.bodies:
        raise Hazard(node, "holds graphs of its own, which other passes must dissolve first")
    rules = rules_of(node.op)
    if normal_domain(node.domain) and not rules.defines(OperatorRules.prove_safe):
        raise Hazard(node, f"is of domain '{node.domain}', where any operator may fail")
    if node.op.references:
        raise Hazard(
            node,
            "takes an attribute from the function around it, so what it does is"
            " open; inline that function first",
        )
    if opset < OLDEST_OPSET:
        raise Hazard(node, f"is of opset {opset}; convert to opset {OLDEST_OPSET} first")
    if not rules.defines(OperatorRules.prove_safe):
        raise Hazard(node, "is not among the operators that are known not to fail")
    try:
        rules.require_safe(Premises(node, inputs, opset))
    except Unproven as unproven:
        raise Hazard(node, f"may fail there: {unproven}") from unproven
