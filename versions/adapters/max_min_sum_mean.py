"""Max, Min, Sum and Mean: of any number of tensors.

https://onnx.ai/onnx/operators/onnx__Max.html
https://onnx.ai/onnx/operators/onnx__Min.html
https://onnx.ai/onnx/operators/onnx__Sum.html
https://onnx.ai/onnx/operators/onnx__Mean.html

- 6: floats, all of one shape. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Max-6
- 8: the shapes are broadcast. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Max-8
- 12: Max and Min of integers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Max-12
- 13: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Max-13
"""

from __future__ import annotations

import functools

from ..phrases import is_float, pick
from ..registry import Outcome, downgrade
from ..site import Site


@downgrade(8, "Sum", "Mean", "Max", "Min")
def same_shapes(site: Site) -> Outcome:
    """Before opset 8 these do not broadcast."""
    shapes = [site.shape(index) for index in range(len(site.inputs))]
    first = shapes[0]
    if len(shapes) > 1 and (first is None or None in first or any(s != first for s in shapes)):
        site.refuse("opset 7 does not broadcast here, and the shapes are not known to be equal")
    return None


@downgrade(12, "Max", "Min")
def extreme_of_integers(site: Site) -> Outcome:
    """Before opset 12 Max and Min take floats only."""
    if is_float(site):
        return None
    test = "Greater" if site.op_type == "Max" else "Less"
    values = [value for value in site.inputs if value is not None]
    if len(values) == 1:
        return [site.emit("Identity", values)]
    return [functools.reduce(lambda a, b: pick(site, test, a, b), values)]
