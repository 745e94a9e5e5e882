"""Split: the lengths of its outputs.

https://onnx.ai/onnx/operators/onnx__Split.html

- 2: `split` is an attribute; without it, all are of one length.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Split-2
- 11: `axis` may be negative. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Split-11
- 13: `split` is an input; bfloat16.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Split-13
- 18: without it, `num_outputs` counts the parts, and the last may be shorter.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Split-18
"""

from __future__ import annotations

from ...ir import Value
from ..attribute_to_input import Move, moved
from ..negative_axes import Axis, negative_axes
from ..node_draft import Site
from ..registry import Outcome, downgrade, upgrade
from ..snippets import length_of

negative_axes("Split", axis=Axis("axis"))
moved(13, "Split", moves=[Move("split", 1, "ints")])


@upgrade(18, "Split")
def count_outputs(site: Site) -> Outcome:
    """Opset 18: an attribute counts equal parts."""
    if site.input(1) is None:
        shape, axis, count = site.shape() or [], site.attribute("axis"), len(site.node.outputs)
        length = shape[axis] if -len(shape) <= axis < len(shape) else None
        if length is not None and length % count:
            site.refuse(f"a length of {length} has no {count} equal parts")
        site.set("num_outputs", count)
    return None


@downgrade(18, "Split")
def spell_lengths(site: Site) -> Outcome:
    """Before opset 18: explicit lengths, if the last part is shorter."""
    count = site.attribute("num_outputs")
    site.drop("num_outputs")
    if count is None:
        return None
    if count != len(site.node.outputs) or site.input(1) is not None:
        site.refuse(f"num_outputs = {count} is not how many it has, or their lengths are said too")
    axis = site.attribute("axis")
    length = site.length(axis)
    if length is not None and length % count == 0:
        return None
    if length is None or length < (count - 1) * -(-length // count):
        # So few elements leave a negative rest, which no run reaches that the original survives.
        site.set_input(1, _lengths_at_run_time(site, count, axis))
        return None
    part = -(-length // count)
    site.set_input(1, site.ints([part] * (count - 1) + [length - part * (count - 1)], "split"))
    return None


def _lengths_at_run_time(site: Site, count: int, axis: int) -> Value:
    """The quotient, rounded up, for each part, and the rest for the last one."""
    shape = site.emit("Shape", [site.input(0)], "shape")
    whole = length_of(site, shape, axis, rank=1)
    rounded = site.emit("Add", [whole, site.ints([count - 1], "less_one")], "rounded")
    part = site.emit("Div", [rounded, site.ints([count], "count")], "part")
    before = site.emit("Mul", [part, site.ints([count - 1], "less_one")], "before")
    last = site.emit("Sub", [whole, before], "last")
    return site.emit("Concat", [part] * (count - 1) + [last], "split", axis=0)
