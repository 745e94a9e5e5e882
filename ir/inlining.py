"""Copies of bodies with constant folding: the primitive of unrolling and inlining."""

from collections.abc import Callable, Sequence

from .copy_plan import Block, Environment, Step, parts_of, reader
from .copying import Loosened, captured_by, copy_annotations, copy_graph, count_nodes
from .errors import GraphError
from .graph import Graph
from .graph_queries import Annotation
from .kinds import takes
from .node import Node, Value
from .tensor import Tensor

Fold = Callable[[Node, Sequence[Tensor | None]], list[Tensor] | None]
"""Computes a node with constant inputs; None where it cannot or should not."""


class Template:
    """A body prepared for many copies.

    The first copy also copies the invariant part of the body: constants, and nodes that compute
    from these and from captured values alone. Where the condition of an If is constant in a copy,
    the branch replaces the If at once.

    Args:
        body: the graph to copy; it stays as it is.
        into: the target graph. The values that the body captures must be visible there.
        fold: called for each node with constant inputs.
        keep_infos: declarations hold for the copies, symbols included (not when shapes vary by
            iteration). Otherwise bodies in the copies and their captures keep types without
            symbols.
        last: a node that nothing in the body reads. Copies leave it out; their results are its
            inputs instead of the outputs of the body.

    Attributes:
        added: the number of added nodes, without those in their bodies.
        holders: the added nodes that hold graphs.
        resolved: the Ifs of the body of which copies took a branch, with their paths.
    """

    def __init__(
        self,
        body: Graph,
        into: Graph,
        *,
        fold: Fold | None = None,
        keep_infos: bool = True,
        last: Node | None = None,
    ) -> None:
        self.body = body
        self.into = into
        self.fold = fold
        self.keep_infos = keep_infos
        self._captured = _captured_in(body)
        self._positions: dict[Value | None, int] = {None: 0}
        self._environment: list[Value | None] = [None]
        self._inputs = [self._position(value) for value in body.inputs]
        self._invariant: list[Step] = []
        self._steps: list[Step] = []
        self._invariant_annotations: list[Annotation] = []
        self._annotations: list[Annotation] = []
        self._plan(last)
        results = body.outputs if last is None else last.inputs
        self._outputs = [self._position(value) for value in results]
        self._prepared = False
        self._shared: Environment = []
        self._parts: tuple[Sequence[object], list[Step | Block]] = (), []
        self._last: Environment = []
        self._branches: dict[Graph, list[Step]] = {}
        self._floating: dict[Value, None] = {}
        # Placed constants, and the placed equals of constants that were not.
        self._placed: dict[Tensor, Value] = {}
        self._stand_ins: dict[Value, Value] = {}
        self.resolved: dict[Node, str] = {}
        self._loosened = Loosened()
        self.added = 0
        self.holders: list[Node] = []

    def cost(self, copies: int) -> int:
        """The upper bound of nodes for a number of copies, nested nodes included."""
        once = sum(count_nodes(step.node) for step in self._invariant)
        each = sum(count_nodes(step.node) for step in self._steps)
        return once + copies * each if copies else 0

    def growth(self, construct: Node) -> int:
        """The number of nodes by which the copies exceed the construct that they replace.

        Nodes in bodies inside them count.
        """
        nested = sum(count_nodes(node) - 1 for node in self.holders)
        return self.added + nested - count_nodes(construct)

    def _plan(self, last: Node | None) -> None:
        """Separate the nodes of each copy from those that all copies share."""
        varying = self.body.dependents(self.body.inputs)
        for node in filter(lambda node: node is not last, self.body.nodes()):
            (self._steps if node in varying else self._invariant).append(self._step_of(node))
        for annotation in self.body.annotations:
            value = annotation.value
            varies = value in varying or (isinstance(value, Value) and value.producer in varying)
            (self._annotations if varies else self._invariant_annotations).append(annotation)

    def _prepare(self) -> None:
        """Copy the invariant part."""
        self._prepared = True
        self._share_initializers(self.body)
        self._copy_each(self._invariant, self._environment, "")
        # A stand-in of a constant serves all copies.
        self._environment = [self._stand_ins.get(v, v) if v else v for v in self._environment]
        self._stand_ins = {}
        for value in list(self._floating):
            self.place(value)
        self._annotate(self._invariant_annotations, self._environment)
        steps = (value for step in self._invariant for value in step.node.outputs)
        places = [self._positions[v] for v in (*self.body.initializers, *steps) if v is not None]
        self._shared = [self._environment[place] for place in places]

    def _share_initializers(self, graph: Graph) -> None:
        """Add the initializers of a graph to `into`, once for all copies."""
        for value, tensor in graph.initializers.items():
            # An input with a default is an initializer, too, but the caller feeds it.
            if value.constant is not None:
                copy = self.into.add_initializer(value.name, tensor)
                copy.pinned = value.pinned
                self._environment[self._position(value)] = copy

    def instantiate(self, arguments: Sequence[Value | None], suffix: str = "") -> list[Value]:
        """Copy the body once; like `step`, with all results placed."""
        return [self.place(value) for value in self.step(arguments, suffix)]

    def copies_of(self, values: Sequence[Value]) -> list[Value | None]:
        """The values in the place of some of the body in the last copy."""
        last, positions = self._last, self._positions
        return [last[positions[value]] for value in values]

    @property
    def is_whole(self) -> bool:
        """Test whether all that the copies share is still in the target graph."""
        into = self.into
        for value in self._shared:
            if value is None or value.graph is not into:
                return False
        return self._prepared

    def place(self, value: Value) -> Value:
        """Add a folded constant to `into` as an initializer; other values are there already."""
        if value in self._floating or value in self._stand_ins:
            self._floating.pop(value, None)
            self._stand_ins.pop(value, None)
            self.into.place_initializer(value)
            assert value.constant is not None
            self._placed.setdefault(value.constant, value)
        return value

    def _read(self, value: Value) -> Value:
        """Replace a folded constant by its first placed equal."""
        if value in self._floating:
            assert value.constant is not None
            equal = self._placed.get(value.constant)
            if equal is None:
                return self.place(value)
            del self._floating[value]
            self._stand_ins[value] = equal
            return equal
        return self._stand_ins.get(value, value)

    def step(self, arguments: Sequence[Value | None], suffix: str = "") -> list[Value]:
        """Copy the body once.

        A folded constant becomes an initializer only when a node of a copy reads it. Pass any other
        result to `place` before anything but the next step uses it.

        Args:
            arguments: the values of its inputs, visible in `into` or results of a step.
            suffix: the suffix of the labels of the copies.

        Returns:
            the outputs of the body.

        Raises:
            GraphError: the number of arguments does not fit, or one is not visible.
        """
        if len(arguments) != len(self._inputs):
            raise GraphError(f"{self.body} takes {len(self._inputs)} inputs, not {len(arguments)}")
        if not self._prepared:
            self._prepare()
        environment = self._environment.copy()
        for position, value in zip(self._inputs, arguments, strict=True):
            environment[position] = value
        for part in self._parts_for(environment):
            if isinstance(part, Block):
                self._add_block(part, environment, suffix)
            else:
                self._copy_each((part,), environment, suffix)
        self._annotate(self._annotations, environment)
        self._last = environment
        results: list[Value] = [environment[p] for p in self._outputs]  # type: ignore[misc]
        if self._stand_ins:
            self._stand_ins = {v: self._stand_ins[v] for v in results if v in self._stand_ins}
        if self._floating:
            # Nothing reads the others, and no later step sees them.
            self._floating = {v: None for v in results if v in self._floating}
        return results

    def _annotate(self, annotations: list[Annotation], environment: Sequence[Value | None]) -> None:
        if annotations:
            copies = {v: environment[p] for v, p in self._positions.items() if v is not None}
            copy_annotations(annotations, self.into, copies)

    def _position(self, value: Value | None) -> int:
        position = self._positions.get(value)
        if position is None:
            position = self._positions[value] = len(self._environment)
            # An unbound value is captured: it stands for itself.
            self._environment.append(value)
        return position

    def _step_of(self, node: Node) -> Step:
        """Make the step of a node, with the positions of its inputs and outputs."""
        labels = tuple(["" if v is None else v.name for v in node.outputs])
        for value in captured_by(node):
            self._position(value)
        reads = tuple([self._position(v) for v in node.inputs])
        return Step(
            node.op,
            node.name,
            reads,
            reader(reads),
            tuple([self._position(v) for v in node.outputs]),
            labels,
            len(labels) == 1 and not node.bodies and not self._has_declaration(node.outputs[0]),
            node,
        )

    def _has_declaration(self, value: Value | None) -> bool:
        """Test whether an output is omitted, pinned, or declared also in copies."""
        if value is None or value.pinned:
            return True
        return value.info is not None and (self.keep_infos or value in self._captured)

    def _parts_for(self, environment: Environment) -> list[Step | Block]:
        """Group the steps of a copy into blocks. The groups depend on which arguments are
        constants; most copies have those of the copy before, whose groups are cached.
        """
        arguments = [environment[position] for position in self._inputs]
        kinds: list[object]
        if self._floating or self._stand_ins or self.fold is not None:
            kinds = [v is not None and (self._is_loose(v), v.constant is None) for v in arguments]
        else:  # constants count only where nodes are computed
            kinds = [v is not None for v in arguments]
        if self._parts[0] != kinds:
            self._parts = kinds, self._parts_of(environment)
        return self._parts[1]

    def _parts_of(self, environment: Environment) -> list[Step | Block]:
        varying, loose = set[int](), set[int]()
        for position, value in enumerate(environment):
            if value is not None and value.constant is None:
                varying.add(position)
            if position and (value is None or self._is_loose(value)):
                loose.add(position)
        return parts_of(self._steps, varying, loose, self.fold is not None)

    def _is_loose(self, value: Value) -> bool:
        return value in self._floating or value in self._stand_ins

    def _add_block(self, block: Block, environment: Environment, suffix: str) -> None:
        read: list[Value] = [environment[position] for position in block.inputs]  # type: ignore[misc]
        copies = self.into.add_block(block, read, suffix)
        for position, value in zip(block.outputs, copies, strict=True):
            environment[position] = value
        self.added += len(block)

    def _copy_each(self, steps: Sequence[Step], environment: Environment, suffix: str) -> None:
        """Copy, fold or inline the branch of each node in order."""
        fold, add_node = self.fold, self.into.add_node
        for step in steps:
            op, name, _, read, outputs, labels, plain, node = step
            inputs = read(environment)
            if fold is not None:
                for value in inputs:
                    if value is not None and value.constant is None:
                        break
                else:
                    # Every input is absent or a constant.
                    if self._fold(step, inputs, environment, suffix):
                        continue
            if node.bodies and self._take_branch(step, inputs, environment, suffix):
                continue
            if self._floating or self._stand_ins:
                inputs = tuple([None if v is None else self._read(v) for v in inputs])
            label = name + suffix if name else ""
            self.added += 1
            if plain:
                copy = add_node(op, inputs, (labels[0] + suffix,), label)
                environment[outputs[0]] = copy.outputs[0]
            else:
                copy = add_node(op, inputs, [v + suffix if v else "" for v in labels], label)
                self._complete(step, copy, environment)

    def _complete(self, step: Step, copy: Node, environment: Environment) -> None:
        """Complete a copied node with bodies and declarations."""
        if step.node.bodies:
            self.holders.append(copy)
            self._copy_bodies(step.node, copy, environment)
        for position, value in zip(step.outputs, copy.outputs, strict=True):
            if position:
                environment[position] = value
        self._keep_values(step.node, copy)

    def _fold(
        self, step: Step, inputs: Sequence[Value | None], environment: Environment, suffix: str
    ) -> bool:
        """Compute a node instead of copying it, where `fold` can; the results are not placed."""
        assert self.fold is not None
        # A pinned value must stay, but a folded constant that nothing reads is dropped.
        if step.node.bodies or any(v is not None and v.pinned for v in step.node.outputs):
            return False
        tensors = self.fold(step.node, [None if v is None else v.constant for v in inputs])
        if tensors is None:
            return False
        for position, label, tensor in zip(step.outputs, step.labels, tensors, strict=False):
            if position:
                folded = Value(label + suffix, constant=tensor)
                environment[position] = folded
                self._floating[folded] = None
        return True

    def _take_branch(
        self, step: Step, inputs: Sequence[Value | None], environment: Environment, suffix: str
    ) -> bool:
        """Copy the branch of an If in its place, if the condition is constant."""
        condition = inputs[0].constant if step.op.qualname == "If" and inputs[0] else None
        # `cond` may have any rank; the runtime refuses other numbers of elements than one.
        if condition is None or condition.size != 1:
            return False
        branch = step.node.body("then_branch" if condition.numpy().all() else "else_branch")
        if branch.annotations or any(v is not None and v.pinned for v in step.node.outputs):
            return False
        self.resolved.setdefault(step.node, step.node.path)
        if branch not in self._branches:
            end = len(self._environment)
            self._captured.update(_captured_in(branch))
            self._branches[branch] = [self._step_of(node) for node in branch.nodes()]
            results = [self._position(value) for value in branch.outputs]
            self._share_initializers(branch)
            assert len(results) >= len(step.outputs)
            # This copy's environment is older than the positions of the branch.
            environment.extend(self._environment[end:])
        self._copy_each(self._branches[branch], environment, suffix)
        for position, value in zip(step.outputs, branch.outputs, strict=False):
            if position:
                environment[position] = environment[self._positions[value]]
        return True

    def _keep_values(self, node: Node, copy: Node) -> None:
        for old, new in zip(node.outputs, copy.outputs, strict=True):
            if old is None or new is None:
                continue
            new.pinned = old.pinned
            if old.info is not None and old.info.HasField("type"):
                if self.keep_infos:
                    new.info = old.info
                elif old in self._captured:
                    new.info = self._loosened.of(old.info)
                else:
                    continue
                self.into.value_infos.append(new)

    def _copy_bodies(self, node: Node, copy: Node, environment: Sequence[Value | None]) -> None:
        mapping = {}
        for value in captured_by(node):
            new = environment[self._positions[value]]
            assert new is not None
            mapping[value] = self._read(new)
        for attribute, graphs in node.bodies.items():
            for graph in graphs:
                into = copy.graph
                assert into is not None
                inner = into.add_body(copy, attribute, graph.header)
                copy_graph(graph, inner, mapping, None if self.keep_infos else self._loosened)


def _captured_in(graph: Graph) -> set[Value]:
    """The values that the bodies inside a graph capture."""
    return {value for node in graph.unordered_nodes() for value in captured_by(node)}


@takes(body=Graph, into=Graph)
def instantiate(
    body: Graph, into: Graph, arguments: Sequence[Value], *, fold: Fold | None = None
) -> list[Value]:
    """Copy a body into a graph once, with arguments for its inputs; see `Template`."""
    return Template(body, into, fold=fold).instantiate(arguments)
