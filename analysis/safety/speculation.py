"""Speculation: code that runs for a discarded result, as the other branch of an If.

Such code must not fail where the original did not run it. The class of each operator in `ops`
states the conditions on its inputs; every other operator is a hazard. Declarations inside the code
do not count, as they describe the runs of the original: facts are inferred from those outside, node
by node, after a proof that the node is safe.
"""

from collections.abc import Mapping, Sequence

from ...definitions import is_foreign
from ...facts.bounds import Bounds, Known, alike, known
from ...facts.fact import UNKNOWN, constant_fact, element
from ...facts.obstacle import Obstacle
from ...facts.polynomial import Dimension
from ...facts.safety_context import Premises, Unproven
from ...ir import Function, FunctionKey, Graph, Node, Value, normal_domain
from ...limits import allowed, limit
from ...ops import OLDEST_OPSET, OperatorRules, rules_of
from ...ops.outputs import known_outputs
from ...ops.randomness import draws_random_numbers
from ..shapes.inference import ShapeInference
from .size_cases import NO_CASE, Sizes, conditions_around, replaced, size_cases

_ZERO = Dimension.constant(0)

_MOST_STEPS = limit("bound_steps")
"""The limit of steps back from a value outside for its bounds."""

_MOST_CALLS = limit("speculated_calls")
"""The limit of analysed calls."""

_DEEPEST = limit("call_depth")
"""The limit of the nesting of analysed calls."""

Environment = dict[Value, Known]


class Hazard(Obstacle):
    """A node that may fail or affect others when it runs speculatively.

    Attributes:
        why: the hazard as a predicate of the node.
    """

    def __init__(self, node: Node, why: str) -> None:
        super().__init__(f"{node} {why}", node)
        self.why = why


class Speculation:
    """Abstract interpreter that runs bodies of one model on facts.

    Args:
        inference: facts about values outside the bodies.
        functions: the model's own functions, which are analysed.
        sizes: sizes of symbols, in the case in which the bodies run.
    """

    def __init__(
        self,
        inference: ShapeInference,
        functions: Mapping[FunctionKey, Function],
        sizes: Sizes | None = None,
    ) -> None:
        self.inference = inference
        self.functions = functions
        self._sizes = sizes
        # Facts from outside are found once for all runs, then refined for the case.
        self._general = Speculation(inference, functions) if sizes else None
        self._outside: Environment = {}
        self._calls = self._depth = 0
        self._latest: dict[Node, tuple[Sequence[Known], list[Known], bool]] = {}

    def run(
        self, body: Graph, arguments: Sequence[Known] = (), *, certain: bool = False
    ) -> list[Known]:
        """Run a body on facts, and return those of its outputs.

        Args:
            body: the graph; it stays unchanged.
            arguments: facts about its inputs.
            certain: the original runs it too, so that it may fail.

        Raises:
            Hazard: a node of the body may fail, and the original might not run it.
        """
        environment: Environment = dict(zip(body.inputs, arguments, strict=True))
        for node in body.nodes():
            inputs = [self._known(value, environment) for value in node.inputs]
            self._remember(node, self.run_node(node, inputs, certain), environment)
        return [self._known(value, environment) for value in body.outputs]

    def run_untaken(self, node: Node, branch: str) -> list[Known]:
        """Run a branch of an If that runs also where the other one is taken.

        It may fail where the original runs it, and so has to be safe in the other cases only.

        Args:
            branch: the name of the branch.

        Raises:
            Hazard: a node of the branch may fail where the other one is taken.
        """
        # Most branches are safe in every run; each case costs a further walk.
        try:
            return self.run(node.body(branch))
        except Hazard:
            condition, graph = node.input(0), node.graph
            if condition is None or graph is None:
                raise
            untaken = condition, branch != "then_branch"
            cases = size_cases([*conditions_around(graph), untaken], self.inference)
            # The conditions exclude nothing, so no case is smaller than all runs.
            if NO_CASE in cases:
                raise
        for case in cases:
            Speculation(self.inference, self.functions, case).run(node.body(branch))
        # It is safe in all other cases; where it is taken, the original runs it, too.
        return self.run(node.body(branch), certain=True)

    def survey(self, nodes: Sequence[Node]) -> dict[Node, Hazard]:
        """Find the hazards among nodes in topological order. All other values that they read are
        outside."""
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
        """Facts about a value of the unchanged model."""
        if value in self._outside:
            return self._outside[value]
        if self._general is not None and self._sizes is not None:
            self._outside[value] = replaced(self._general.outside(value, steps), self._sizes)
            return self._outside[value]
        fact = self.inference.fact(value)
        result = known(fact, self._iterations(value))
        node = value.producer
        # Known elements have exact bounds already.
        if node is not None and result.bounds is not None and fact.content is None and steps:
            inputs = [
                Known(UNKNOWN) if v is None else self.outside(v, steps - 1) for v in node.inputs
            ]
            facts = [UNKNOWN if v is None else self.inference.fact(v) for v in node.outputs]
            result = known_outputs(node, inputs, facts)[node.outputs.index(value)]
        self._outside[value] = result
        return result

    def _iterations(self, value: Value) -> Bounds | None:
        """Bounds of the iteration number of a Loop; None for other values."""
        holder = None if value.owner is None else value.owner.holder
        if holder is None or not holder.is_op("Loop") or "body" not in holder.bodies:
            return None
        most = holder.input(0)
        if value is not holder.body("body").inputs[0] or most is None:
            return None
        count = element(self.inference.fact(most))
        return Bounds(_ZERO, count - 1) if isinstance(count, Dimension) else None

    def _remember(self, node: Node, results: Sequence[Known], environment: Environment) -> None:
        for value, result in zip(node.outputs, results, strict=False):
            if value is not None:
                constant = value.constant
                environment[value] = result if constant is None else known(constant_fact(constant))

    def _known(self, value: Value | None, environment: Environment) -> Known:
        if value is None:
            return Known(UNKNOWN)
        entry = environment.get(value)
        return self.outside(value) if entry is None else entry

    def run_node(self, node: Node, inputs: Sequence[Known], certain: bool) -> list[Known]:
        """Run a node on facts, and return those of its outputs.

        Args:
            node: the node; it stays unchanged.
            certain: the original runs it too, so that it may fail.

        Raises:
            Hazard: it may fail, and the original might not run it.
        """
        latest = self._latest.get(node)
        # A proof for a run that must not fail also serves one that may, but not the reverse.
        if latest is not None and (certain or not latest[2]) and all(map(alike, inputs, latest[0])):
            return latest[1]
        function = self.functions.get(node.op.function_key)
        if function is None and is_foreign(node.op):
            function = self.inference.callee(node, [argument.fact for argument in inputs])
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
            # Only certain code has bodies; these are not analysed.
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
        # A call may omit inputs at the end.
        missing = len(function.graph.inputs) - len(inputs)
        arguments = [*inputs, *[Known(UNKNOWN)] * missing]
        self._depth += 1
        try:
            return self.run(function.graph, arguments, certain=certain)
        finally:
            self._depth -= 1

    def _over(self) -> str:
        """The reason not to analyse a call; "" where there is none."""
        if self._calls > _MOST_CALLS:
            # A function runs once for each path to it, exponentially many.
            more = f"more than {allowed('speculated_calls')}"
        elif self._depth >= _DEEPEST:
            more = f"deeper in each other than {allowed('call_depth')}"
        else:
            return ""
        return f"calls functions {more} to look into"


def _symbols(values: Sequence[Known]) -> set[str]:
    """The symbols in shapes and contents."""
    symbols: set[str] = set()
    for value in values:
        for dim in value.fact.shape or ():
            symbols |= dim.symbols
        for part in () if value.fact.content is None else value.fact.content.reshape(-1):
            if isinstance(part, Dimension):
                symbols |= part.symbols
    return symbols


def _prove_safe(node: Node, inputs: Sequence[Known]) -> None:
    """Check that a node can neither fail nor affect others.

    Raises:
        Hazard: that is not certain.
    """
    opset = node.root.opset()
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
            "reads an attribute of the function around it, so its behavior is"
            " unknown; inline that function first",
        )
    if opset < OLDEST_OPSET:
        raise Hazard(node, f"is of opset {opset}; convert to opset {OLDEST_OPSET} first")
    if not rules.defines(OperatorRules.prove_safe):
        raise Hazard(node, "is not among the operators that are known not to fail")
    try:
        rules.require_safe(Premises(node, inputs, opset))
    except Unproven as unproven:
        raise Hazard(node, f"may fail there: {unproven}") from unproven
