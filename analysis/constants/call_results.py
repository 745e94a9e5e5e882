"""What calls of a model's functions give out where constants and sizes decide it, although run time
decides what else they give out or take.

    f (a, n) => (r, m) { s = Size (a)  m = Add (s, n)  r = Neg (a) }

With a of 3 elements and n = 2, m is 5, whatever the elements are. Which outputs may follow is found
first, by what is known of the arguments alone; then only what they are made of is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Hashable, Mapping, Sequence

from ...facts.fact import UNKNOWN, Fact, decided
from ...ir import Function, Model, Node, Operator, Tensor, Value, upstream
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

Known = Mapping[Value, Tensor]


class CallResults:
    """Computes what calls give out.

    Args:
        folder: computes the nodes.
        inference: gives what is known of sizes, once something asks for it.
        memory: what is known of functions that do not change any more.
    """

    def __init__(
        self,
        folder: Folder,
        inference: Callable[[], ShapeInference],
        memory: Memory | None = None,
    ) -> None:
        self.folder = folder
        self.functions = folder.model.functions
        self._inference = inference
        memory = Memory() if memory is None or not folder.model.settled else memory
        self._bound, self._following = memory.bound, memory.following
        self._computed: dict[Hashable, dict[Value, Tensor]] = {}
        self._left = 0

    def of(self, call: Node, outputs: Collection[Value]) -> dict[Value, Tensor]:
        """Those of some outputs of a call that do not depend on what run time decides."""
        known = {v: v.constant for v in call.inputs if v is not None and v.constant is not None}
        read = {v: tensor for v, tensor in known.items() if self.folder.reads(tensor)}
        return self.inside(call, outputs, read, self._inference, 1)

    def inside(
        self,
        call: Node,
        outputs: Collection[Value],
        known: Known,
        around: Callable[[], ShapeInference],
        depth: int,
    ) -> dict[Value, Tensor]:
        """The same of a call that stands in others.

        Args:
            call: the call.
            outputs: what is wanted of it.
            known: the elements of its arguments.
            around: gives what is known of sizes where it stands.
            depth: how many calls it stands in, with itself.
        """
        if call.op.references or call.bodies:
            return {}
        function = self._function(call.op)
        following = self._follow(function, _are_given(function, call, known), depth)
        wanted = {
            output: value
            for output, value in zip(call.outputs, function.graph.outputs, strict=False)
            if output is not None
            and output in outputs
            and (value in following or value.constant is not None)
        }
        if not wanted:
            return {}
        if depth == 1:
            self._left = _MOST_NODES
        found = _Call(self, call, function, known, around, depth).results(
            set(wanted.values()), following
        )
        return {output: found[value] for output, value in wanted.items() if value in found}

    def _function(self, op: Operator) -> Function:
        """A function with what a call gives in the place of references to its attributes."""
        function = self.functions[op.function_key]
        key = function, tuple([m.SerializeToString() for m in op.attributes.values()])
        if key not in self._bound:
            self._bound[key] = _with_attributes(function, op)
        return self._bound[key]

    def _follow(self, function: Function, given: tuple[bool, ...], depth: int) -> set[Value]:
        """The values in a function whose elements follow where those of some inputs are given, and
        all sizes are."""
        key = function, given
        if key not in self._following:
            found = self._following[key] = set()  # what a function calls itself with is not known
            inputs = zip(function.graph.inputs, given, strict=True)
            known = {value for value, is_given in inputs if is_given}
            for node in function.graph.nodes():
                known.update(self._following_outputs(node, known, depth))
            found |= known
        return self._following[key]

    def _following_outputs(self, node: Node, known: set[Value], depth: int) -> Sequence[Value]:
        if node.op.function_key in self.functions:
            if depth >= _DEEPEST or node.bodies or node.op.references:
                return ()
            inner = self._function(node.op)
            following = self._follow(inner, _are_given(inner, node, known), depth + 1)
            pairs = zip(node.outputs, inner.graph.outputs, strict=False)
            return [
                mine
                for mine, theirs in pairs
                if mine is not None and (theirs in following or theirs.constant is not None)
            ]
        if not self.folder.may_fold(node):
            return ()
        given = all(v is None or v.constant is not None or v in known for v in node.inputs)
        follows = given or rules_of(node.op).reads_sizes_only
        return [v for v in node.outputs if v is not None] if follows else ()

    def may_compute(self, place: Node) -> bool:
        """Whether one more node may be computed for the call that was asked about; counts it."""
        self._left -= 1
        return self._left >= 0 and current().may_work(STEP, place)

    def forget(self) -> None:
        """Give up what calls gave out, as where none will be given the same again."""
        self._computed.clear()

    def once(
        self, key: Hashable, compute: Callable[[], dict[Value, Tensor]]
    ) -> dict[Value, Tensor]:
        """What calls give out that are given the same."""
        if key not in self._computed:
            self._computed[key] = compute()
        return self._computed[key]


class _Call:
    """One call whose results are computed.

    Args:
        results: who computes it.
        call: the node.
        function: what it calls, with its attributes.
        known: the elements of arguments.
        around: gives what is known of sizes where the call stands.
        depth: how many calls it stands in, with itself.
    """

    def __init__(
        self,
        results: CallResults,
        call: Node,
        function: Function,
        known: Known,
        around: Callable[[], ShapeInference],
        depth: int,
    ) -> None:
        self._all = results
        self._call = call
        self._function = function
        self._around = around
        self._depth = depth
        pairs = [(value, call.input(i)) for i, value in enumerate(function.graph.inputs)]
        self._absent = {mine for mine, given in pairs if given is None}
        self._given = {mine: known[v] for mine, v in pairs if v is not None and v in known}

    def results(self, wanted: set[Value], following: set[Value]) -> dict[Value, Tensor]:
        """The elements of what is wanted of the function."""
        graph = self._function.graph
        computed = [graph.vertex(value) for value in wanted if value.constant is None]
        before = upstream(graph.view(), computed)
        nodes = [n for n in graph.nodes() if n in before and not following.isdisjoint(n.outputs)]
        sizes = any(map(self._asks_sizes, nodes))
        tensors = [self._given.get(value) for value in graph.inputs]
        key = (
            self._function,
            frozenset(wanted),
            frozenset(self._absent),
            tuple([None if t is None else content_key(t) or t for t in tensors]),
            tuple(map(fact_key, self._facts)) if sizes else None,
        )
        return self._all.once(key, lambda: self._compute(nodes, wanted, sizes))

    def _asks_sizes(self, node: Node) -> bool:
        return rules_of(node.op).reads_sizes_only or node.op.function_key in self._all.functions

    def _compute(
        self, nodes: Sequence[Node], wanted: set[Value], sizes: bool
    ) -> dict[Value, Tensor]:
        if sizes and not current().may_infer(len(self._function.graph), self._call):
            return {}
        known = dict(self._given)
        for node in nodes:
            if not self._all.may_compute(self._call):
                break
            known.update(self._of_node(node, known))
        given = {value: value.constant or known.get(value) for value in wanted}
        reads = self._all.folder.reads
        return {v: tensor for v, tensor in given.items() if tensor is not None and reads(tensor)}

    def _of_node(self, node: Node, known: Known) -> dict[Value, Tensor]:
        outputs = {value for value in node.outputs if value is not None}
        read = [v for v in node.inputs if v is not None and v not in self._absent]
        elements = {v: v.constant or known.get(v) for v in read}
        given = {v: t for v, t in elements.items() if t is not None and self._all.folder.reads(t)}
        if node.op.function_key in self._all.functions:
            return self._all.inside(node, outputs, given, lambda: self._inside, self._depth + 1)
        if len(given) == len(elements):
            tensors = [None if v is None else given.get(v) for v in node.inputs]
            found = self._all.folder.fold(node, tensors) or ()
            pairs = zip(node.outputs, found, strict=False)
            return {value: tensor for value, tensor in pairs if value is not None}
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
    """Whether a graph holds a constant or asks for a size; else nothing follows in any call."""
    return model.settled or any(
        graph.initializers or any(map(_tells, graph.unordered_nodes())) for graph in model.graphs()
    )


def _tells(node: Node) -> bool:
    return not any(node.inputs) or rules_of(node.op).reads_sizes_only


def _with_attributes(function: Function, op: Operator) -> Function:
    if not any(node.op.references for node in function.graph.unordered_nodes()):
        return function
    bound, given = copy_function(function), {**function.defaults, **op.attributes}
    for node in bound.graph.nodes():
        if node.op.references and not node.bodies:
            bound.graph.set_operator(node, node.op.for_call(given))
    return bound


def _are_given(function: Function, call: Node, known: Container[Value | None]) -> tuple[bool, ...]:
    """Of which inputs of a function the elements are given; of one that is left out, too."""
    arguments = [call.input(index) for index in range(len(function.graph.inputs))]
    return tuple([v is None or v.constant is not None or v in known for v in arguments])
