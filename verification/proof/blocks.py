"""Models between the values that both name: they are equal if each kind of block is.

    a = Gelu (x)   b = Gelu (a)      e = Erf (..) .. a = Mul (..)   f = Erf (..) .. b = Mul (..)

Both models have `a` and `b`, so the rewrite has two blocks of one kind, and `Gelu (v)` is compared
with the nodes of a block once, for all `v` of its type. By induction in the order of the rewrite,
the operands of each block are values of the original (A. Kuehlmann and F. Krohm, "Equivalence
Checking Using Cuts and Heaps", DAC 1997). `one_graph.py` is the case in which each block is a node.

Nothing is known of an operand of a block but its type in the rewrite. Where more is needed, the
models are compared as a whole.
"""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import onnx

from ...facts.types import FLOATS
from ...ir import Tensor
from .execution.compile_graph import ABSENT, Operation, Program, Step
from .execution.symbolic_execution import is_function
from .full_check import Kinds, kinds_of, type_of_weight
from .sides import ModelSide
from .terms.constants import key_of
from .terms.exact_operators import READS_BITS

_COPIES = 32
"""The least nodes of the rewrite for each kind of block, on average."""
_NODES_OF_KIND = 8
"""The least nodes of the rewrite for each kind of node, of which onnx takes 30 us each."""
_SHARE = 4
"""Divisor of the nodes of a model, for those of a block."""
_NODES = 4
"""The most nodes of all blocks, as a multiple of those of the rewrite: blocks may share nodes."""
_CONTENT = 1 << 12
"""The most bytes of a constant in a block that is not a weight of both models."""
_ALONE = -1
"""Slot in the other model of a value that it does not have."""

Pair = tuple[onnx.ModelProto, onnx.ModelProto]


class _UnsuitedError(Exception):
    """Signal that blocks do not cover a rewrite, or spare nothing."""


def pairs_of(
    programs: Sequence[Program], sides: Sequence[ModelSide]
) -> tuple[Sequence[Pair], bool]:
    """Collect the kinds of blocks in which two models differ, each as two models.

    Args:
        programs: the main graphs, compiled over the same operations.

    Returns:
        the kinds, none where blocks do not cover the rewrite or spare nothing; and whether ONNX's
        full check accepts the rewrite, as far as that is known.
    """
    rewrite, operations = programs[1], [each for one in programs for each in one.operations]
    most = len(rewrite.steps) // _COPIES
    if len(operations) > 2 * most or not all(map(_is_plain, operations)) or rewrite.sizes:
        return (), False
    kinds = kinds_of(rewrite, sides[1].proto, len(rewrite.steps) // _NODES_OF_KIND)
    # A declaration is a promise of the caller, which a run may break.
    declared = {at for at, _, _ in rewrite.infos}
    if kinds is None or any(not declared.isdisjoint(step.inputs) for step in rewrite.steps):
        return (), kinds is not None
    contents: dict[Hashable, int] = {}
    before, after = [_Side(*one, contents) for one in zip(programs, sides, strict=True)]
    try:
        return [*_Blocks(before, after, kinds, declared).pairs(most)], True
    except _UnsuitedError:
        return (), True


def _is_plain(operation: Operation) -> bool:
    """Test for a function of its operands without bodies."""
    # Equal values may be NaNs of other bits: IEEE 754 leaves open which NaN an operation returns.
    if operation.head is None or operation.bodies or operation.op_type == READS_BITS:
        return False
    return is_function(operation.head)


class _Side:
    """Main graph of one model.

    Args:
        contents: numbers of the contents of constants, shared by both models.

    Attributes:
        outputs: the slots of its outputs.
        names: the names of the values that are not constants, by slot.
        makers: the indices of the nodes that compute them; None for others.
        constants: the constants by slot, with the numbers of their contents.
    """

    def __init__(self, program: Program, model: ModelSide, contents: dict[Hashable, int]) -> None:
        self.steps, self.outputs, self.proto = program.steps, program.outputs, model.proto
        self.names = [""] * program.size
        self.makers: list[int | None] = [None] * program.size
        self.constants: dict[int, tuple[onnx.TensorProto, int]] = {}
        for at, tensor in program.constants:
            assert isinstance(tensor, onnx.TensorProto)  # sparse ones have no kinds
            content = contents.setdefault(key_of(Tensor(tensor)), len(contents))
            self.constants[at] = tensor, content
        names, makers = self.names, self.makers
        for name, at in program.slots.items():
            names[at] = "" if at in self.constants else name
        for index, (operation, _, outputs, _) in enumerate(self.steps):
            for at in outputs:
                makers[at] = index
            # The content of a Constant is part of a block, as that of an initializer.
            if operation.op_type == "Constant":
                names[outputs[0]] = ""
        makers[ABSENT] = None

    def walk(
        self, outputs: Sequence[int], partners: Sequence[int]
    ) -> tuple[list[Hashable], list[int], set[int]]:
        """Walk from values back to shared ones and constants.

        Returns:
            the operations with numbers of their values, in the order of the walk; the slots that it
            ends at; and the indices of the nodes.

        Raises:
            _UnsuitedError: these are a large part of the model.
        """
        steps, makers, most = self.steps, self.makers, len(self.steps) // _SHARE
        words: list[Hashable] = []
        leaves: list[int] = []
        nodes: set[int] = set()
        numbers = {at: number for number, at in enumerate(outputs)}
        numbers[ABSENT] = -1
        stack = [makers[at] for at in outputs]
        while stack:
            index = stack.pop()
            if index is None or index in nodes:
                continue
            nodes.add(index)
            if len(nodes) > most + 1:
                raise _UnsuitedError
            operation, inputs, results, _ = steps[index]
            words.append(operation)
            for at in inputs:
                if at not in numbers:
                    numbers[at] = len(numbers)
                    maker = makers[at]
                    if partners[at] == _ALONE and maker is not None:
                        stack.append(maker)
                    else:
                        leaves.append(at)
                        words.append("leaf")
                words.append(numbers[at])
            if len(results) > 1:  # the walk came from a single one
                for at in results:
                    words.append(numbers.setdefault(at, len(numbers)))
        words.append("")
        return words, leaves, nodes

    def contents(self, slots: Iterable[int]) -> set[int]:
        """Numbers of the contents of constants."""
        return {self.constants[at][1] for at in slots if at in self.constants}


def _partners(before: _Side, after: _Side) -> tuple[list[int], list[int]]:
    """Slots of each model for those of the other: computed values and inputs of one name."""
    slots = {name: at for at, name in enumerate(after.names) if name}
    to_after, to_before = [_ALONE] * len(before.names), [_ALONE] * len(after.names)
    for at, name in enumerate(before.names):
        other = slots.get(name)
        if other is not None and (before.makers[at] is None) == (after.makers[other] is None):
            to_after[at], to_before[other] = other, at
    to_after[ABSENT] = to_before[ABSENT] = ABSENT
    return to_after, to_before


class _Block(NamedTuple):
    """Nodes of both models that compute the same values.

    Attributes:
        nodes: the indices of the nodes, by model.
        names: the names of the values that they read and compute, by model and slot.
        operands: the slots in the rewrite of computed values and inputs that they read.
        weights: the weights that both models read here, by the numbers of their contents.
        outputs: the slots of the values that they compute, by model.
    """

    nodes: tuple[list[int], list[int]]
    names: tuple[dict[int, str], dict[int, str]]
    operands: list[int]
    weights: dict[int, onnx.TensorProto]
    outputs: tuple[list[int], list[int]]


class _Blocks:
    """Blocks of two models.

    Args:
        kinds: the types of the values of the rewrite.
        declared: the slots of those that it declares.
    """

    def __init__(self, before: _Side, after: _Side, kinds: Kinds, declared: set[int]) -> None:
        self._sides = before, after
        self._kinds, self._declared = kinds, declared
        self._partners = _partners(before, after)
        self._weights: dict[int, tuple[int, ...] | None] = {}
        self._contents = {content for _, content in before.constants.values()}

    def pairs(self, most: int) -> Iterator[Pair]:
        """Yield the first block of each kind as two models.

        Raises:
            _UnsuitedError: a node of the rewrite is in no block, or there are many kinds.
        """
        before, after = self._sides
        to_after, to_before = self._partners
        if [to_after[at] for at in before.outputs] != after.outputs:
            raise _UnsuitedError
        kinds, covered, room = set[Hashable](), set[int](), _NODES * len(after.steps)
        alone = {at for at, other in enumerate(to_before) if other == _ALONE} | {ABSENT}
        for index, step in enumerate(after.steps):
            if alone.issuperset(step.outputs):
                continue
            if self._is_same(step):
                covered.add(index)
                continue
            outputs = [at for at in step.outputs if at not in alone]
            kind, originals, others = self._kind(index, outputs)
            covered |= others
            room -= len(originals) + len(others)
            if kind not in kinds:
                kinds.add(kind)
                block = self._block(sorted(originals), sorted(others), outputs)
                yield self._model(block, 0), self._model(block, 1)
            if room < 0 or len(kinds) > most:
                raise _UnsuitedError
        # A node that nothing reads may fail, too.
        if len(covered) < len(after.steps):
            raise _UnsuitedError

    def _is_same(self, step: Step) -> bool:
        """Test for a node that the original has, on the same values."""
        before, after = self._sides
        to_after, to_before = self._partners
        one = to_before[step.outputs[0]]
        maker = None if one == _ALONE else before.makers[one]
        if maker is None:
            return False
        operation, inputs, outputs, _ = before.steps[maker]
        if operation is not step.operation or [to_after[at] for at in outputs] != [*step.outputs]:
            return False
        for at, other in zip(inputs, step.inputs, strict=True):
            if to_after[at] != other:
                constant = before.constants.get(at)
                if constant is None or constant[1] != after.constants.get(other, (None, None))[1]:
                    return False
        return True

    def _kind(self, index: int, outputs: list[int]) -> tuple[Hashable, set[int], set[int]]:
        """Key of the block that ends in a node of the rewrite, and its nodes.

        Values have numbers in the order in which a walk from the outputs meets them.

        Raises:
            _UnsuitedError: it reads what is not known to be shared.
        """
        before, after = self._sides
        to_after, to_before = self._partners
        key, leaves, originals = before.walk([to_before[at] for at in outputs], to_after)
        words, reads, others = after.walk(outputs, to_before)
        key += words
        operands: dict[int, int] = {}
        weights: dict[int, int] = {}
        places = [(to_after[at], before.constants.get(at)) for at in leaves]
        later = [(at, after.constants.get(at)) for at in reads]
        in_both = {c[1] for _, c in places if c} & {c[1] for _, c in later if c}
        for at, constant in places + later:
            if constant is None:
                # The induction knows the types of what the rewrite computed up to here.
                maker = after.makers[at]
                is_early = at != _ALONE and (maker is None or maker < index)
                if not is_early or at in self._declared:
                    raise _UnsuitedError
                key += operands.setdefault(at, len(operands)), self._kinds.number_of(at)
                continue
            tensor, content = constant
            is_weight = content in in_both and self._varies(tensor, content)
            number = weights.setdefault(content, len(weights)) if is_weight else content
            key += number, self._weights[content] if is_weight else ""
        return tuple(key), originals, others

    def _block(self, originals: list[int], others: list[int], outputs: list[int]) -> _Block:
        """Block of a kind without one yet.

        Raises:
            _UnsuitedError: it reads a large constant.
        """
        before, after = self._sides
        to_after, to_before = self._partners
        firsts = [to_before[at] for at in outputs]
        leaves, reads = before.walk(firsts, to_after)[1], after.walk(outputs, to_before)[1]
        operands = {at for at in reads if at not in after.constants}
        operands |= {to_after[at] for at in leaves if at not in before.constants}
        own = before.contents(leaves)
        both = [after.constants[at] for at in reads if at in after.constants]
        weights = {n: tensor for tensor, n in both if n in own and self._varies(tensor, n)}
        block = _Block((originals, others), ({}, {}), sorted(operands), weights, (firsts, outputs))
        for number, (side, slots) in enumerate(((before, leaves), (after, reads))):
            self._name(block, number, side, slots)
        return block

    def _varies(self, tensor: onnx.TensorProto, content: int) -> bool:
        """Test for a weight, whose content decides no shape and, most often, no form."""
        if content not in self._weights:
            kind, is_one = (tensor.data_type, *tensor.dims), math.prod(tensor.dims) <= 1
            self._weights[content] = None if kind[0] not in FLOATS or is_one else kind
            if self._weights[content]:  # infinities of a mask are not numbers over the reals
                numbers = Tensor(tensor).numpy().astype(np.float64)
                self._weights[content] = kind if np.isfinite(numbers).all() else None
        return self._weights[content] is not None

    def _name(self, block: _Block, number: int, side: _Side, leaves: Iterable[int]) -> None:
        """Name the values of a block: those that both models share have one name."""
        names = block.names[number]
        for k, at in enumerate(block.operands):
            names[at if number else self._partners[1][at]] = f"i{k}"
        places = {content: k for k, content in enumerate(block.weights)}
        for at in leaves:
            if at in side.constants:
                tensor, content = side.constants[at]
                if content not in places and tensor.ByteSize() > _CONTENT:
                    raise _UnsuitedError
                names[at] = f"w{places[content]}" if content in places else f"c{content}"
        for k, at in enumerate(block.outputs[number]):
            names[at] = f"o{k}"
        for index in block.nodes[number]:
            for at in side.steps[index].outputs:
                if at not in names:
                    names[at] = f"v{len(names)}"
        names[ABSENT] = ""

    def _model(self, block: _Block, number: int) -> onnx.ModelProto:
        """Model of the nodes of a block in one of both models."""
        side, names = self._sides[number], block.names[number]
        proto = side.proto
        model = onnx.ModelProto(
            ir_version=proto.ir_version, opset_import=proto.opset_import, graph={"name": "block"}
        )
        graph = model.graph
        for k, at in enumerate(block.operands):
            graph.input.add(name=f"i{k}", type=self._kinds.type_of(at))
        for k, tensor in enumerate(block.weights.values()):
            graph.input.add(name=f"w{k}", type=type_of_weight(tensor))
        constants = {names[at]: side.constants[at][0] for at in names if at in side.constants}
        if side is not self._sides[1]:  # a constant of the original is not one that was rounded
            after, of_rewrite = self._sides[1].constants, block.names[1]
            others = [at for at in of_rewrite if at in after and after[at][1] in self._contents]
            constants |= {of_rewrite[at]: after[at][0] for at in others}
        for name, tensor in constants.items():
            if name.startswith("c"):
                graph.initializer.add().CopyFrom(tensor)
                graph.initializer[-1].name = name
        for index in block.nodes[number]:
            step = side.steps[index]
            node = graph.node.add()
            node.CopyFrom(step.node)
            node.input[:] = [names[at] for at in step.inputs]
            node.output[:] = [names[at] for at in step.outputs]
        for k in range(len(block.outputs[number])):
            graph.output.add(name=f"o{k}")
        return model
