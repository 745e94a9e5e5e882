"""The copy plan of a body: nodes whose connections are the same in all copies."""

from collections import Counter
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from .dataflow_graph import FEW, Neighbours, neighbours
from .node import Node, Value
from .operator import Operator

Environment = list[Value | None]
Reader = Callable[[list[Any]], tuple[Any, ...]]
Take = Callable[[list[Any]], Neighbours]


class Step(NamedTuple):
    """A node of a body, its values as positions in the environment of a copy.

    Attributes:
        name: its label, may be empty.
        reads: the positions of its inputs; 0 for an absent one.
        read: selects the inputs from an environment.
        outputs: the positions of its outputs; 0 for an omitted one.
        plain: true for one output and nothing else to copy.
    """

    op: Operator
    name: str
    reads: tuple[int, ...]
    read: Reader
    outputs: tuple[int, ...]
    labels: tuple[str, ...]
    plain: bool
    node: Node


class Block:
    """Plain nodes in topological order; see `Graph.add_block`.

    Places refer to a list of None, then the values of `inputs`, then those of `outputs`.

    Attributes:
        inputs: the positions of values that they read from outside the block.
        outputs: the positions of their outputs, in order.
        nodes: for each its operator, its label, selectors of its inputs and of its present inputs,
            and the label of its output.
        kinds: the number of nodes of each operator.
        users: for each a selector of its users.
        users_of_inputs: for each input a selector of its users.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self.outputs = [step.outputs[0] for step in steps]
        own_outputs = set(self.outputs)
        read = dict.fromkeys(position for step in steps for position in step.reads if position)
        self.inputs = [position for position in read if position not in own_outputs]
        places = {position: n for n, position in enumerate((0, *self.inputs, *self.outputs))}
        self.nodes: list[tuple[Operator, str, Reader, Take, str]] = []
        using: list[list[int]] = [[] for _ in places]
        for own, step in enumerate(steps, len(self.inputs) + 1):
            reads = [places[position] for position in step.reads]
            # A node uses a vertex once, however often it reads it.
            present = [place for place in dict.fromkeys(reads) if place]
            for place in present:
                using[place].append(own)
            entry = step.op, step.name, reader(reads), neighbour_reader(present), step.labels[0]
            self.nodes.append(entry)
        self.kinds = Counter(step.op.qualname for step in steps)
        self.users = [neighbour_reader(places) for places in using[len(self.inputs) + 1 :]]
        self.users_of_inputs = [reader(places) for places in using[1 : len(self.inputs) + 1]]

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.nodes)


def reader(places: Sequence[int]) -> Reader:
    """Make a function that selects the items at some places of a list."""
    if len(places) > 1:
        return itemgetter(*places)
    # An itemgetter of one place returns the item, not a tuple.
    if places:
        only = places[0]
        return lambda listed: (listed[only],)
    return lambda listed: ()


def neighbour_reader(places: Sequence[int]) -> Take:
    """Make a function that selects the items at some places as `Neighbours`."""
    take = reader(places)
    return take if len(places) <= FEW else lambda listed: neighbours(take(listed))


def parts_of(
    steps: Sequence[Step], varying: set[int], loose: set[int], folds: bool
) -> list[Step | Block]:
    """Group the steps of a copy into blocks that no constant can change.

    Args:
        steps: all, in order.
        varying: the positions of values that are no constants; outputs of steps are added.
        loose: the positions of values that may be unplaced constants or absent; outputs of steps
            are added.
        folds: compute nodes whose inputs are all constants.
    """
    parts: list[Step | Block] = []
    block: list[Step] = []
    for step in steps:
        stays = not folds or not varying.isdisjoint(step.reads)
        plain = step.plain and stays and loose.isdisjoint(step.reads)
        outputs = {position for position in step.outputs if position}
        if stays and not step.node.bodies:
            varying |= outputs
            loose -= outputs
        else:  # an output may be a constant
            varying -= outputs
            loose |= outputs
        if plain:
            block.append(step)
            continue
        if block:
            parts.append(Block(block))
            block = []
        parts.append(step)
    return [*parts, Block(block)] if block else parts
