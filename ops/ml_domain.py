"""Operators of ai.onnx.ml that prepare features, as pipelines of scikit-learn begin with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from onnx import TensorProto

from ..facts.fact import Fact
from ..facts.polynomial import Dimension, product
from ..ir import Node
from .rules import OperatorRules, describes


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
