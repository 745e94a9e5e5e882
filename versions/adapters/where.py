"""Where: elements of one tensor or the other.

https://onnx.ai/onnx/operators/onnx__Where.html

- 9: the operator appears. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Where-9
- 16: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Where-16
"""

from __future__ import annotations

import numpy as np
import onnx

from ..registry import Outcome, downgrade
from ..site import Site


@downgrade(9, "Where")
def choose_by_gathering(site: Site) -> Outcome:
    """Opset 8: lay both tensors end to end and gather from the one or the other half.

    This takes a known shape, and moves elements as they are, whatever their type.
    """
    shape = site.types.shape(site.node.output())
    if shape is None or None in shape:
        site.refuse_unknown(
            "Where exists from opset 9 on, and a way around needs the shape of its output, which"
        )
    dims = [dim or 0 for dim in shape]
    size = int(np.prod(dims))
    target, flat = site.ints(dims, "shape"), site.ints([size], "size")
    full = [site.emit("Expand", [value, target]) for value in site.inputs]
    condition, *halves = [site.emit("Reshape", [value, flat]) for value in full]
    both = site.emit("Concat", halves, "both", axis=0)
    chosen = site.emit("Cast", [site.emit("Not", [condition])], to=onnx.TensorProto.INT64)
    offset = site.emit("Mul", [chosen, flat], "offset")
    places = site.emit("Add", [offset, site.const(np.arange(size), "places")])
    return [site.emit("Reshape", [site.emit("Gather", [both, places], axis=0), target])]
