"""Pooling, sampling and products: attributes and inputs that have to be spelled another way."""

from __future__ import annotations

import numpy as np

from ..site import Site
from .registry import Outcome, downgrade, upgrade

_SAMPLING = {"bilinear": "linear", "bicubic": "cubic"}
"""The modes of GridSample before opset 20, and from it on."""


@upgrade(20, "GridSample")
def rename_mode(site: Site) -> Outcome:
    """Modes are no longer named for two dimensions."""
    mode = site.text("mode")
    site.set("mode", _SAMPLING.get(mode, mode))
    return None


@downgrade(20, "GridSample")
def rename_mode_back(site: Site) -> Outcome:
    """Before opset 20 the grid has two dimensions."""
    if site.required_rank("GridSample before opset 20") != 4:
        site.refuse("opset 19 samples inputs of rank 4 only")
    mode = site.text("mode")
    names = {new: old for old, new in _SAMPLING.items()}
    site.set("mode", names.get(mode, mode))
    return None


@downgrade(11, "Gemm")
def add_bias(site: Site) -> Outcome:
    """Before opset 11 the added matrix must be there."""
    if site.input(2) is None:
        dtype = site.required_dtype(0, "a bias of zeros")
        site.set_input(2, site.const(np.zeros(1, dtype), "bias"))
    return None


@downgrade(8, "MaxPool")
def row_major(site: Site) -> Outcome:
    """The storage order speaks of the indices only, which opset 7 does not give."""
    if not site.is_used(1):
        site.drop("storage_order")
    return None


@downgrade(8, "Sum", "Mean", "Max", "Min")
def same_shapes(site: Site) -> Outcome:
    """Before opset 8 these do not broadcast."""
    shapes = [site.shape(index) for index in range(len(site.inputs))]
    first = shapes[0]
    if len(shapes) > 1 and (first is None or None in first or any(s != first for s in shapes)):
        site.refuse("opset 7 does not broadcast here, and the shapes are not known to be equal")
    return None


_POOLS = ("AveragePool", "LpPool", "MaxPool")


@upgrade(22, *_POOLS)
@upgrade(19, "AveragePool")
@downgrade(19, "AveragePool")
@downgrade(22, *_POOLS)
def same_windows(site: Site) -> Outcome:
    """With ceil_mode the versions do not agree on a last window that starts in the padding."""
    if not site.attribute("ceil_mode") or _starts_inside(site):
        return None
    known = site.types.shape(site.node.output())
    if known is None or None in known:
        known = site.inferred_shape(site.source)
    other = site.inferred_shape(site.target)
    # The first two axes are not pooled, so batches and channels need not be known.
    if known is None or other is None or None in known[2:] or known[2:] != other[2:]:
        site.refuse(
            f"ceil_mode = 1 may count windows in another way in opset {site.target}: the output has"
            f" the shape {known} here and {other} there"
        )
    return None


def _starts_inside(site: Site) -> bool:
    """Whether no window starts in the padding at the end, whatever the size of the input.

    The last one starts before in + pad_end - reach + stride, counted from the first element; with
    pad_end + stride <= reach that is inside.
    """
    if site.text("auto_pad") not in ("", "NOTSET", "VALID"):
        return False
    kernel = site.attribute("kernel_shape")
    axes = len(kernel)
    strides = site.attribute("strides") or [1] * axes
    dilations = site.attribute("dilations") or [1] * axes
    ends = (site.attribute("pads") or [0] * 2 * axes)[axes:]
    return all(
        end + stride <= dilation * (size - 1) + 1
        for end, stride, dilation, size in zip(ends, strides, dilations, kernel, strict=True)
    )


@downgrade(28, "Mod")
def integers_only(site: Site) -> Outcome:
    """Before opset 28 the floored quotient is for integers."""
    dtype = site.required_dtype(0, "Mod")
    if not site.attribute("fmod") and dtype.kind not in "iu":
        site.refuse("fmod = 0 takes integers only in opset 27")
    return None
