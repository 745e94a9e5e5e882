"""Carry a state with the axis first along which a body cuts and joins it.

a = Slice (s, 0, i, axis 1)                     a = Slice (u, 0, i, axis 0)
z = Slice (s, i + 1, n, axis 1)         ->      z = Slice (u, i + 1, n, axis 0)
t = Concat <axis = 1> (a, column, z)            v = Concat <axis = 0> (a, Transpose (column), z)

The same for a state that a body transposes, changes and transposes back.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from ...analysis.shapes.inference import ShapeInference
from ...ir import Node, Value
from ...ops.builder import Builder
from ...ops.slice_view import read_slice
from ..iteration.loop_view import LoopView, State
from ..iteration.row_accesses import counts_all, reduction_of, repeated, sizes_of
from ..iteration.scan_layout import move_axis
from ..utils.replace_all_uses import replace_values


def carry_rows_first(loop_view: LoopView, inference: ShapeInference) -> str | None:
    """Carry one state in another layout, and return its name; None without such a state."""
    for position, state in enumerate(loop_view.states):
        perm = _layout(loop_view, state, inference)
        if perm is not None:
            _Layout(loop_view, position, perm, inference).carry()
            return state.argument.name
    return None


def _layout(loop_view: LoopView, state: State, inference: ShapeInference) -> list[int] | None:
    """The permutation of the axes in which a body writes a state; None for the usual one."""
    node, body = state.result.producer, loop_view.body
    shape = inference.fact(state.initial).shape
    if node is None or node.graph is not body or shape is None or state.argument.pinned:
        return None
    if state.result.pinned or node.op.references or len(body.uses(state.result)) != 1:
        return None
    if node.is_op("Concat") and len(node.inputs) > 2:
        axis, rank = node.attribute("axis"), len(shape)
        if not -rank <= axis < rank or axis % rank == 0:
            return None
        parts = [v.producer for v in node.inputs if v is not None]
        views = [read_slice(part, inference.fact) for part in parts]
        mine = any(view is not None and view.axis == axis % rank for view in views)
        return move_axis(rank, axis % rank, 0) if mine else None
    if node.is_op("ScatterND"):
        column = _column_of(node, inference) if len(body.uses(state.argument)) > 1 else None
        return None if column is None else move_axis(len(shape), 1, 0)
    if not node.is_op("Transpose"):
        return None
    back = list(node.attribute("perm", list(range(len(shape)))[::-1]))
    perm = _inverse(back)
    users = [use.user for use in body.uses(state.argument)]
    turned = all(isinstance(user, Node) and _turns(user, perm) for user in users)
    return perm if turned and perm != back[:0] and perm != sorted(perm) and users else None


def _column_of(node: Node, inference: ShapeInference) -> Value | None:
    """The place of the column that a ScatterND writes at pairs of indices; None for others.

    t = ScatterND (s, [[0, j], [1, j], [2, j]], column)
    """
    buffer, at = node.inputs[:2]
    pairs = None if at is None else at.producer
    shape = None if buffer is None else inference.fact(buffer).shape
    plain = reduction_of(node) == "none" and not node.op.references
    if not plain or pairs is None or not pairs.is_op("Concat") or len(pairs.inputs) != 2:
        return None
    sizes = [None if v is None else inference.fact(v).shape for v in pairs.inputs]
    if shape is None or pairs.attribute("axis") not in (-1, 1):
        return None
    if any(own is None or len(own) != 2 or own[0] != shape[0] or own[1] != 1 for own in sizes):
        return None
    numbers, place = pairs.inputs
    assert numbers is not None
    if not counts_all(numbers, shape[0], inference):
        return None

    def is_one(value: Value) -> bool:
        sizes = sizes_of(inference, value)
        return sizes is not None and {1}.issuperset(sizes)

    return repeated(place, is_one)


def _turns(node: Node, perm: Sequence[int]) -> bool:
    own = node.attribute("perm", list(range(len(perm)))[::-1]) if node.is_op("Transpose") else None
    return own is not None and list(own) == list(perm)


def _inverse(perm: Sequence[int]) -> list[int]:
    return [perm.index(axis) for axis in range(len(perm))]


class _Layout:
    """A state in another layout.

    Args:
        loop_view: the Loop or Scan.
        position: the state, by the order of these.
        perm: the axes of the state in their new order.
        inference: the facts of the model's values.
    """

    def __init__(
        self, loop_view: LoopView, position: int, perm: list[int], inference: ShapeInference
    ) -> None:
        self._loop_view = loop_view
        self._position = position
        self._state = loop_view.states[position]
        self._perm, self._back = perm, _inverse(perm)
        self._inference = inference
        self._emit = Builder(loop_view.body)
        self._moved: dict[Value, Value] = {}
        self._done: list[Node] = []

    def carry(self) -> None:
        """Move the axes of the state, and of its parts in the body."""
        body, state = self._loop_view.body, self._state
        uses = body.uses(state.argument)
        self._moved[state.argument] = state.argument
        for node in body.nodes():
            self._visit(node)
        result = self._moved.get(state.result) or self._turn(state.result)
        for old, new in self._moved.items():
            others = uses if old is state.argument else body.uses(old)
            others = [use for use in others if use.user not in self._done]
            others = [
                use for use in others if isinstance(use.user, Node) or old is not state.result
            ]
            if not others:
                continue
            value = self._emit.transpose(new, self._back, f"{old.name}_back")
            for use in others:
                if isinstance(use.user, Node):
                    assert use.user.graph is not None
                    use.user.graph.set_input(use.user, use.position, value)
                else:
                    outputs = [value if each is old else each for each in body.outputs]
                    body.set_outputs(outputs)
        self._set_state(result)
        # Readers go before what they read.
        for node in reversed(self._done):
            body.remove(node)

    def _visit(self, node: Node) -> None:
        """Emit a node that cuts, joins or transposes the moved state, or reads its rows."""
        source = node.input(0) if node.inputs else None
        moved = None if source is None else self._moved.get(source)
        axis, rank, emit = self._perm[0], len(self._perm), self._emit
        label = "" if not node.outputs or node.outputs[0] is None else node.outputs[0].name
        if node.op.references or not label:
            return
        if node.is_op("Concat") and node.attribute("axis") % rank == axis:
            if any(value in self._moved for value in node.inputs):
                parts = [self._moved.get(v) or self._turn(v) for v in node.inputs if v is not None]
                self._enter(node, emit.concat(parts, 0, label))
        elif moved is None:
            return
        elif node.is_op("ScatterND") and axis == 1 and (at := _column_of(node, self._inference)):
            place = emit.reshape(at, (1, 1), "place")
            assert node.inputs[2] is not None
            row = emit.unsqueeze(node.inputs[2], 0, "row")
            self._enter(node, emit.apply(node.op, [moved, place, row], label))
        elif node.is_op("Transpose") and _turns(node, self._perm):
            self._enter(node, None)
            self._loop_view.body.replace_uses(node.output(), moved)
        elif (view := read_slice(node, self._inference.fact)) and view.axis == axis:
            inputs = [moved, *node.inputs[1:3], emit.vector((0,), "axis"), *node.inputs[4:]]
            self._enter(node, emit.apply(node.op, inputs, label))
        elif node.is_op("Gather") and node.attribute("axis", 0) % rank == axis:
            at = node.inputs[1]
            if at is not None and self._inference.fact(at).shape == ():
                value = emit.add("Gather", [moved, at], label, axis=0)
                self._loop_view.body.replace_uses(node.output(), value)
                self._enter(node, None)

    def _enter(self, node: Node, value: Value | None) -> None:
        self._done.append(node)
        if value is not None:
            self._moved[node.output()] = value

    def _turn(self, value: Value) -> Value:
        node = value.producer
        if node is not None and node.graph is self._loop_view.body and node.is_op("Transpose"):
            source = node.input(0)
            if source is not None and _turns(node, self._back):
                return source
        return self._emit.transpose(value, self._perm, f"{value.name}_moved")

    def _set_state(self, result: Value) -> None:
        """Set the initial state, its next value, the final state, and their declarations."""
        node, body, graph = self._loop_view.node, self._loop_view.body, self._loop_view.around
        inputs, results = (2, 1) if node.is_op("Loop") else (0, 0)
        state, outside, position = self._state, Builder(graph), self._position
        initial = outside.transpose(state.initial, self._perm, f"{state.initial.name}_moved")
        graph.set_input(node, inputs + position, initial)
        if state.argument.info is not None:
            state.argument.info = self._declared(state.argument.info)
        outputs, infos = list(body.outputs), list(body.output_infos)
        outputs[results + position] = result
        infos[results + position] = self._declared(infos[results + position])
        body.set_outputs(outputs, infos)
        if state.final is None:
            return
        final = state.final
        # Readers of the final state have the old layout.
        turned = outside.transpose(final, self._back, final.name)
        back = turned.producer
        assert back is not None
        replace_values(graph, {final: turned})
        # The replacement made the Transpose read itself.
        graph.set_input(back, 0, final)
        if final.info is not None:
            final.info = self._declared(final.info)

    def _declared(self, info: onnx.ValueInfoProto) -> onnx.ValueInfoProto:
        """A declaration with the sizes in their new order."""
        moved = onnx.ValueInfoProto()
        moved.CopyFrom(info)
        dims = info.type.tensor_type.shape.dim
        if len(dims) == len(self._perm):
            del moved.type.tensor_type.shape.dim[:]
            moved.type.tensor_type.shape.dim.extend([dims[axis] for axis in self._perm])
        return moved
