"""Operators with a cost estimate only: layers, functions, texts, wrappers of tensors."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from onnx import TensorProto

from ..facts.fact import Fact, Shape
from ..facts.polynomial import Dimension, product
from ..facts.safety_context import Premises, at_least, require, same, same_shape, shown
from ..ir import Node
from .cost_estimates import EACH, elements, matching
from .elementwise import OfEach
from .rules import KeepsShape, OperatorRules, describes

_NODES = 20
"""Nodes that a definition runs, roughly."""


@describes("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
@describes("SwiGLU", "TensorScatter")
class Combined(OperatorRules):
    """Operator defined by a few nodes that each work on every element."""

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        return float(_NODES * EACH * (10 + elements(arrays)))


@describes("RotaryEmbedding")
class RotaryEmbedding(Combined):
    """RotaryEmbedding, from opset 23 on."""

    def prove_safe(self, premises: Premises) -> None:
        """Caches must have a row for each place, without broadcasting."""
        node = premises.node
        require(not premises.has(3), "positions may be out of range")
        require(not node.attribute("rotary_embedding_dim", 0), "it rotates a part")
        batch, _, places, size = _with_heads(premises, 0, int(node.attribute("num_heads", 0)))
        half = size.divided_by(2)
        require(half is not None, "the size of a head may be odd")
        for index in (1, 2):
            same_shape(premises.shape(index), (batch, places, half or size), premises.name(index))


@describes("MeanVarianceNormalization")
class MeanVarianceNormalization(KeepsShape, Combined):
    """MeanVarianceNormalization."""

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """A variance that is nearly zero may be negative by the rounding of one definition."""
        return False


@describes("Attention")
class Attention(OperatorRules):
    """Attention, from opset 23 on: a product for each pair of places."""

    def prove_safe(self, premises: Premises) -> None:
        """Sizes must fit without broadcasting, and onnxruntime refuses empty tensors."""
        node = premises.node
        if not (premises.has(4) or premises.has(5)):
            premises.require_rank(1, (3, 4))
            premises.at_least(premises.shape(1)[-2], 1, "the keys")
        require(not premises.has(6), "it has lengths of rows")
        counts = [int(node.attribute(f"{name}_num_heads", 0)) for name in ("q", "kv")]
        operands = zip((0, 1, 2), (counts[0], counts[1], counts[1]), strict=True)
        queries, keys, values = (_with_heads(premises, *operand) for operand in operands)
        for dim in (*queries, *keys, *values):
            at_least(dim, 1, "an operand")
        groups = queries[1].divided_by(keys[1])
        require(
            groups is not None, "the number of key heads may not divide the number of query heads"
        )
        same_shape(keys, (queries[0], keys[1], keys[2], queries[3]), premises.name(1))
        same_shape(values[:3], keys[:3], premises.name(2))
        places = keys[2]
        if premises.has(4) or premises.has(5):
            past, other = premises.shape(4, 4), premises.shape(5, 4)
            same_shape(past, (*keys[:2], past[2], keys[3]), premises.name(4))
            same_shape(other, (*values[:2], past[2], values[3]), premises.name(5))
            places = past[2] + places
        if premises.has(3):
            mask = premises.shape(3)
            require(2 <= len(mask) <= 4, "the mask has a rank outside 2 to 4")
            scores = (*queries[:3], places)
            same_shape(mask[-2:], scores[-2:], premises.name(3))
            # Only axes before the last two may broadcast, and the mask may have fewer of them.
            for dim, size in zip(mask[-3::-1], scores[-3::-1], strict=False):
                require(dim in (1, size), "the mask may not broadcast")

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        pairs = math.prod(array.size for array in arrays[:2] if array is not None)
        return float(_NODES * EACH * (10 + elements(arrays)) + EACH * pairs)

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """Runtimes round on the way, each in its own places."""
        return False


def _with_heads(premises: Premises, index: int, count: int) -> Shape:
    """Shape of an operand of Attention with an axis of heads before the sequence."""
    shape = premises.shape(index)
    require(len(shape) in (3, 4), f"{premises.name(index)} has a rank other than 3 or 4")
    if len(shape) == 4:
        return shape
    size = shape[2].divided_by(count) if count > 0 else None
    require(size is not None, f"the heads may not divide {premises.name(index)}")
    assert size is not None
    return shape[0], Dimension.constant(count), shape[1], size


@describes(*("ConcatFromSequence", "Optional", "OptionalGetElement", "OptionalHasElement"))
class Wrapper(OperatorRules):
    """Constructor of, or access to, a container of tensors."""

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        return float(EACH * (1 + elements(arrays)))


GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
"""The number of gates of each recurrent operator."""

ACTIVATIONS = {"GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh"), "RNN": ("Tanh",)}
"""The default activations of one direction."""

PARAMETERS: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(("Sigmoid", "Tanh", "Relu", "Softsign", "Softplus"), ()),
    "Affine": (1.0, 0.0),
    "ScaledTanh": (1.0, 1.0),
    "LeakyRelu": (0.01,),
    "ThresholdedRelu": (1.0,),
    "Elu": (1.0,),
    "HardSigmoid": (0.2, 0.5),
}
"""The activations of the operators, with the defaults of their parameters."""

DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
"""For each direction, true if it runs from the last element to the first."""


def text_of(value: str | bytes) -> str:
    """The text of an attribute."""
    return value.decode() if isinstance(value, bytes) else value


@describes("LSTM", "GRU", "RNN")
class Recurrent(OperatorRules):
    """LSTM, GRU and RNN: one step after the other."""

    def prove_safe(self, premises: Premises) -> None:
        """Sizes must fit, and there must be a step: runtimes refuse an empty sequence."""
        node = premises.node
        gates, functions = GATES[node.op_type], len(ACTIVATIONS[node.op_type])
        direction = text_of(node.attribute("direction", "forward"))
        require(direction in DIRECTIONS, "its direction is unknown")
        directions = len(DIRECTIONS[direction])
        require(node.input(4) is None, "lengths of rows may be out of range")
        require(node.attribute("clip") is None, "its clip may not be positive")
        names = [text_of(name) for name in node.attribute("activations") or ()]
        require(set(names) <= set(PARAMETERS), "it has unknown activations")
        # The default of RNN names two activations, whatever its directions.
        counts = {0, functions * directions, 2 if node.op_type == "RNN" else 0}
        require(len(names) in counts, "it has activations for another number of directions")
        first, second, width = premises.shape(0, 3)
        hidden = premises.shape(2, 3)[2]
        same(hidden, node.attribute("hidden_size", 0), "hidden_size")
        count, by_batch = Dimension.constant(directions), bool(node.attribute("layout", 0))
        steps = second if by_batch else first
        require(premises.is_at_least(steps, 1), f"{shown(steps)} steps may be less than 1")
        same_shape(premises.shape(1), (count, hidden * gates, width), "W")
        same_shape(premises.shape(2), (count, hidden * gates, hidden), "R")
        state = (first, count, hidden) if by_batch else (count, second, hidden)
        shapes = {3: (count, hidden * (2 * gates)), 5: state, 6: state, 7: (count, hidden * 3)}
        for index, shape in shapes.items():
            if node.input(index) is not None:
                same_shape(premises.shape(index), shape, premises.name(index))

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        states = float(arrays[2].size) / max(1, arrays[2].shape[1])
        return float(states * math.prod((*arrays[0].shape, 1, 1)[:2]))

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        """Each step is a matrix product and the calls around it."""
        steps, batch = (*arrays[0].shape, 1, 1)[:2]
        return float(steps * (200_000 + 4 * (elements(arrays[1:3]) + EACH * 4) * batch))


@describes("RegexFullMatch")
class RegexFullMatch(OfEach):
    """RegexFullMatch, from opset 20 on: runtimes match in time linear in the text, the reference
    tries one way after the other."""

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        return matching(node.attribute("pattern", b"").decode(), arrays[0])


@describes("StringSplit")
class StringSplit(OperatorRules):
    """StringSplit, from opset 20 on: each text gets as many places as the one with most parts, and
    as many letters as the longest."""

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        longest = max((len(str(text)) for text in arrays[0].reshape(-1)), default=0)
        return float(arrays[0].size) * (1 + longest)

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """With `maxsplit`, what stays of the blanks around a text is open; so are the parts of an
        empty one."""
        return node.attribute("maxsplit") is None and all(arrays[0].reshape(-1))


@describes("StringNormalizer")
class StringNormalizer(OperatorRules):
    """StringNormalizer: each letter and each stopword is looked at; stopwords are dropped."""

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        letters = sum(1 + len(str(text)) for text in arrays[0].reshape(-1))
        return float(EACH * (letters + 1) * (1 + len(node.attribute("stopwords", []))))

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """The locale says what case letters are in, but for those of ASCII."""
        return all(str(text).isascii() for text in arrays[0].reshape(-1))


@describes("TfIdfVectorizer")
class TfIdfVectorizer(OperatorRules):
    """TfIdfVectorizer: each token begins a gram for each length and each skip."""

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        wide = 1 + max(node.attribute("ngram_indexes", [0]), default=0)
        return float(wide) * (arrays[0].shape[0] if arrays[0].ndim > 1 else 1)

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        grams = node.attribute("max_gram_length", 1) * (1 + node.attribute("max_skip_count", 0))
        pool = len(node.attribute("ngram_indexes", [0]))
        return EACH * (elements(arrays) * float(grams) * pool + self.growth(node, arrays))


@describes("ai.onnx.ml::Imputer")
@describes("ai.onnx.ml::Normalizer", "ai.onnx.ml::Scaler", elem_type=TensorProto.FLOAT)
class OfEachElement(OperatorRules):
    """Each element becomes another one: of the same type, or a float."""

    elem_type: ClassVar[int] = 0

    def facts(self, node: Node, inputs: Sequence[Fact]) -> list[Fact]:
        return [Fact(self.elem_type or inputs[0].elem_type, inputs[0].shape)]


@describes("ai.onnx.ml::ArrayFeatureExtractor")
class ArrayFeatureExtractor(OperatorRules):
    """Elements of the last axis at some places; the result has rank 2 at least."""

    def facts(self, node: Node, inputs: Sequence[Fact]) -> list[Fact]:
        data, places = inputs[0].shape, inputs[1].shape
        if not data or places is None:
            return [Fact(inputs[0].elem_type)]
        rows = data[:-1] or (Dimension.constant(1),)
        return [Fact(inputs[0].elem_type, (*rows, product(places)))]
