"""Convolutions and pools: attributes with the values that they have when absent."""

from collections.abc import Sequence

from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, canonical_form

_DEFAULTS = {"pads": 0, "strides": 1, "dilations": 1}


@canonical_form("Conv", "AveragePool", "LpPool", "MaxPool")
def defaults(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Omit attributes of windows that hold their defaults, or change nothing."""
    values = {name: head.attribute(name) for name in _DEFAULTS}
    changed: dict[str, int | None] = {
        name: None for name, listed in values.items() if listed and set(listed) == {_DEFAULTS[name]}
    }
    if head.text("auto_pad") not in ("", "NOTSET"):
        changed.pop("pads", None)
    if head.name == "Conv" and head.attribute("kernel_shape") and args[1] is not None:
        kernel = [dim.value for dim in args[1].fact.shape or ()][2:]
        if kernel and kernel == list(head.attribute("kernel_shape")):
            changed["kernel_shape"] = None
    if head.attribute("ceil_mode") and _fills_windows(head, args[0]):
        changed["ceil_mode"] = 0
    if not changed:
        return None
    return terms.apply(terms.heads.with_attributes(head, **changed), args, count)


def _fills_windows(head: Head, x: Term | None) -> bool:
    """Test whether whole windows reach the ends of all axes, and no size is rounded."""
    kernel, shape = head.attribute("kernel_shape"), None if x is None else x.fact.shape
    sizes = [dim.value for dim in shape[2:]] if shape is not None else []
    if head.attribute("count_include_pad"):
        return False  # Kernels of onnxruntime sum in another way where they round up.
    if not kernel or len(sizes) != len(kernel) or head.text("auto_pad") not in ("", "NOTSET"):
        return False
    pads = head.attribute("pads") or [0] * 2 * len(kernel)
    strides, dilations = (
        head.attribute(name) or [1] * len(kernel) for name in ("strides", "dilations")
    )
    for axis, size in enumerate(sizes):
        if size is None or strides[axis] < 1:
            return False
        window = (kernel[axis] - 1) * dilations[axis] + 1
        room = size + pads[axis] + pads[axis + len(kernel)] - window
        if room < 0 or room % strides[axis]:
            return False
    return True
