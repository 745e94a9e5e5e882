"""Outputs of calls that constants and sizes decide, while others depend on run time.

    f (a, n) => (r, m) { s = Size (a)  m = Add (s, n)  r = Neg (a) }

With a of 3 elements and n = 2, m is 5 for any elements. A first walk finds the outputs that follow
from the known arguments; then only the nodes that produce them are computed.
"""

from collections.abc import Callable, Collection, Container, Hashable, Mapping, Sequence

from ...facts.fact import UNKNOWN, Fact, decided
from ...ir import Function, Model, Node, Operator, Tensor, Value
from ...ir.copying import copy_function
from ...ir.lazy import lazy_property
from ...limits import current, limit
from ...ops import rules_of
from ..shapes.call_transfer import fact_key
from ..shapes.inference import ShapeInference
from ..shapes.onnx_inference_cache import Memory
from .equal import content_key
from .evaluation import STEP
from .folding import Folder

_DEEPEST = limit("call_depth")

_MOST_NODES = limit("called_nodes")

Elements = Mapping[Value, Tensor]


class CallResults:
    """Evaluator of calls.

    Args:
        inference: returns facts about sizes, on demand.
        memory: results for functions that do not change.

    Attributes:
        computed: the results of calls by function and arguments.
    """

    def __init__(
        self, folder: Folder, inference: Callable[[], ShapeInference], memory: Memory | None = None
    ) -> None:
        self.folder = folder
        self.functions = folder.model.functions
        self._inference = inference
        memory = Memory() if memory is None or not folder.model.settled else memory
        self._bound, self._following = memory.bound, memory.following
        self.computed: dict[Hashable, dict[Value, Tensor]] = {}
        self._budget = 0

    def of(self, call: Node, outputs: Collection[Value]) -> dict[Value, Tensor]:
        """Compute the outputs of a call that do not depend on run time."""
        constants = {v: v.constant for v in call.inputs if v is not None and v.constant is not None}
        read = {v: tensor for v, tensor in constants.items() if self.folder.reads(tensor)}
        return self.inside(call, outputs, read, self._inference, 1)

    def inside(
        self,
        call: Node,
        outputs: Collection[Value],
        elements: Elements,
        around: Callable[[], ShapeInference],
        depth: int,
    ) -> dict[Value, Tensor]:
        """Compute the outputs of a nested call.

        Args:
            outputs: the required outputs.
            elements: the elements of its arguments.
            around: returns facts about sizes around it.
            depth: the nesting depth of the call.
        """
        if call.op.references or call.bodies:
            return {}
        function = self._function(call.op)
        following = self._follow(function, _constant_arguments(function, call, elements), depth)
        following_outputs = {
            output: value
            for output, value in zip(call.outputs, function.graph.outputs, strict=False)
            if output is not None
            and output in outputs
            and (value in following or value.constant is not None)
        }
        if not following_outputs:
            return {}
        # One budget for a call with all calls inside it.
        if depth == 1:
            self._budget = _MOST_NODES
        results = _Call(self, call, function, elements, around, depth).results(
            set(following_outputs.values()), following
        )
        return {
            output: results[value]
            for output, value in following_outputs.items()
            if value in results
        }

    def _function(self, op: Operator) -> Function:
        """A function with references to attributes replaced by those of a call."""
        function = self.functions[op.function_key]
        key = function, tuple([m.SerializeToString() for m in op.attributes.values()])
        if key not in self._bound:
            self._bound[key] = _with_attributes(function, op)
        return self._bound[key]

    def _follow(self, function: Function, arguments: tuple[bool, ...], depth: int) -> set[Value]:
        """The values in a function that follow from some inputs and all sizes."""
        key = function, arguments
        if key not in self._following:
            values = self._following[key] = set()  # nothing is known of recursive calls
            inputs = zip(function.graph.inputs, arguments, strict=True)
            current = {value for value, is_given in inputs if is_given}
            for node in function.graph.nodes():
                current.update(self._following_outputs(node, current, depth))
            values |= current
        return self._following[key]

    def _following_outputs(self, node: Node, current: set[Value], depth: int) -> Sequence[Value]:
        if node.op.function_key in self.functions:
            if depth >= _DEEPEST or node.bodies or node.op.references:
                return ()
            inner = self._function(node.op)
            following = self._follow(inner, _constant_arguments(inner, node, current), depth + 1)
            pairs = zip(node.outputs, inner.graph.outputs, strict=False)
            return [
                mine
                for mine, theirs in pairs
                if mine is not None and (theirs in following or theirs.constant is not None)
            ]
        if not self.folder.may_fold(node):
            return ()
        is_constant = all(v is None or v.constant is not None or v in current for v in node.inputs)
        follows = is_constant or rules_of(node.op).reads_sizes_only
        return [v for v in node.outputs if v is not None] if follows else ()

    def may_compute(self, place: Node) -> bool:
        """Count a node of the present call, and test whether it may be computed."""
        self._budget -= 1
        return self._budget >= 0 and current().may_work(STEP, place)


class _Call:
    """The evaluation of one call.

    Args:
        function: the function with the call's attributes.
        known: the elements of arguments.
        around: returns facts about sizes around the call.
        depth: the nesting depth of the call.
    """

    def __init__(
        self,
        results: CallResults,
        call: Node,
        function: Function,
        elements: Elements,
        around: Callable[[], ShapeInference],
        depth: int,
    ) -> None:
        self._all = results
        self._call = call
        self._function = function
        self._around = around
        self._depth = depth
        pairs = [(value, call.input(i)) for i, value in enumerate(function.graph.inputs)]
        self._absent = {mine for mine, argument in pairs if argument is None}
        self._arguments = {
            mine: elements[v] for mine, v in pairs if v is not None and v in elements
        }

    def results(self, values: set[Value], following: set[Value]) -> dict[Value, Tensor]:
        """Compute the elements of values in the function."""
        graph = self._function.graph
        computed = [graph.vertex(value) for value in values if value.constant is None]
        before = graph.requirements(computed)
        nodes = [n for n in graph.nodes() if n in before and not following.isdisjoint(n.outputs)]
        # Calls with arguments of other sizes share a result for which no node reads a size.
        sizes = any(map(self._asks_sizes, nodes))
        tensors = [self._arguments.get(value) for value in graph.inputs]
        key = (
            self._function,
            frozenset(values),
            frozenset(self._absent),
            # A constant without a key, such as a large one, is equal to itself alone.
            tuple([None if t is None else content_key(t) or t for t in tensors]),
            tuple(map(fact_key, self._facts)) if sizes else None,
        )
        cache = self._all.computed
        if key not in cache:
            cache[key] = self._compute(nodes, values, sizes)
        return cache[key]

    def _asks_sizes(self, node: Node) -> bool:
        return rules_of(node.op).reads_sizes_only or node.op.function_key in self._all.functions

    def _compute(
        self, nodes: Sequence[Node], values: set[Value], sizes: bool
    ) -> dict[Value, Tensor]:
        if sizes and not current().may_infer(len(self._function.graph), self._call):
            return {}
        elements = dict(self._arguments)
        for node in nodes:
            if not self._all.may_compute(self._call):
                break
            elements.update(self._of_node(node, elements))
        results = {value: value.constant or elements.get(value) for value in values}
        reads = self._all.folder.reads
        return {v: tensor for v, tensor in results.items() if tensor is not None and reads(tensor)}

    def _of_node(self, node: Node, elements_around: Elements) -> dict[Value, Tensor]:
        outputs = {value for value in node.outputs if value is not None}
        read = [v for v in node.inputs if v is not None and v not in self._absent]
        elements = {v: v.constant or elements_around.get(v) for v in read}
        arguments = {
            v: t for v, t in elements.items() if t is not None and self._all.folder.reads(t)
        }
        if node.op.function_key in self._all.functions:
            return self._all.inside(node, outputs, arguments, lambda: self._inside, self._depth + 1)
        if len(arguments) == len(elements):
            tensors = [None if v is None else arguments.get(v) for v in node.inputs]
            results = self._all.folder.fold(node, tensors) or ()
            pairs = zip(node.outputs, results, strict=False)
            return {value: tensor for value, tensor in pairs if value is not None}
        # Some elements are unknown, but sizes may decide the result.
        arrays = {value: decided(self._inside.fact(value)) for value in outputs}
        return {v: Tensor(array=array) for v, array in arrays.items() if array is not None}

    @lazy_property
    def _facts(self) -> list[Fact]:
        around = self._around()
        return [UNKNOWN if v is None else around.fact(v) for v in self._call.inputs]

    @lazy_property
    def _inside(self) -> ShapeInference:
        return self._around().inside(self._call, self._function, self._facts)


def tells_anything(model: Model) -> bool:
    """Test whether any graph has a constant or reads a size: otherwise nothing follows in calls."""
    return model.settled or any(
        graph.initializers or any(map(_tells, graph.unordered_nodes())) for graph in model.graphs()
    )


def _tells(node: Node) -> bool:
    return not any(node.inputs) or rules_of(node.op).reads_sizes_only


def _with_attributes(function: Function, op: Operator) -> Function:
    if not any(node.op.references for node in function.graph.unordered_nodes()):
        return function
    bound, attributes = copy_function(function), {**function.defaults, **op.attributes}
    for node in bound.graph.nodes():
        if node.op.references and not node.bodies:
            bound.graph.set_operator(node, node.op.for_call(attributes))
    return bound


def _constant_arguments(
    function: Function, call: Node, elements: Container[Value | None]
) -> tuple[bool, ...]:
    """Test each input of a function for elements in a call; an absent one counts."""
    arguments = [call.input(index) for index in range(len(function.graph.inputs))]
    return tuple([v is None or v.constant is not None or v in elements for v in arguments])
