"""Conversion of Scan between opsets 8 and 9."""

from __future__ import annotations

from ..analysis.shapes.inference import ShapeInference
from ..ir import Function, Model
from ..passes.scans import opset
from .types import Types


def crosses(source: int, target: int) -> bool:
    """Test whether a step adds or removes the batch axis of Scans."""
    return {source, target} == {8, 9}


class Crossing(opset.Crossing):
    """Scans of a model or function during the step between opsets 8 and 9.

    Create it before the step begins. Run it when everything else, the bodies included, is in the
    other version.
    """

    def __init__(self, root: Model | Function, model: Model, source: int, types: Types) -> None:
        self.root = root
        inference = ShapeInference(model)
        for value in root.graph.inputs if isinstance(root, Function) else ():
            type_ = types.of(value)
            if type_ is not None:
                inference.assume(value, inference.symbols.fact(type_))
        super().__init__([root], source, inference)
