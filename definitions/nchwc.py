"""Operators in blocks of channels, which onnxruntime writes into models that it has optimized.

    x [n, c, h, w] in the order n, c / block, h, w, block

The shapes of values and weights are those without blocks; the order of their elements is not. The
size of a block depends on the processor: the file does not say it.
"""

import functools
from importlib import import_module
from typing import Any

from .case import Case
from .fused_activations import activation
from .registry import defines

_FACTS = {
    "source": "core/graph/contrib_ops/nchwc_schema_defs.cc",
    "tried": "onnxruntime 1.32.0",
    "differs": "the order of elements is that of this machine's processor",
}


@functools.cache
def block_size() -> int:
    """The channels of a block in onnxruntime on this machine."""
    # A file does not say for which block it was written: 16 with AVX-512, else 8.
    for name in ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath"):
        try:
            module: Any = import_module(name)
        except ImportError:
            continue
        features: dict[str, bool] = getattr(module, "__cpu_features__", {})
        return 16 if features.get("AVX512F") else 8
    return 8


def _plain(case: Case, value: str, result: str, channels: int) -> str:
    """Nodes that bring the elements of a value into the order of its shape."""
    block = block_size()
    if channels % block:
        case.unfit(f"its channels are not in blocks of {block}, as this machine's are")
    return f"""{result}Size = Shape ({value})
        {result}B = Reshape <shape = [0, {channels // block}, -1, {block}]> ({value})
        {result}T = Transpose <perm = [0, 1, 3, 2]> ({result}B)
        {result} = Reshape ({result}T, {result}Size)"""


def _blocked(value: str, result: str, channels: int) -> str:
    """Nodes that bring the elements of a value into blocks."""
    block = block_size()
    return f"""{result}Size = Shape ({value})
        {result}B = Reshape <shape = [0, {channels // block}, {block}, -1]> ({value})
        {result}T = Transpose <perm = [0, 1, 3, 2]> ({result}B)
        {result} = Reshape ({result}T, {result}Size)"""


def _by_channel(case: Case, node: str) -> str:
    """A node from h to k between values in blocks, which keeps the channels."""
    channels = case.known_size("x", 1)
    return f"{_plain(case, 'x', 'h', channels)} {node} {_blocked('k', 'y', channels)}"


def _before(name: str, attributes: str, more: str = "") -> str:
    inputs, types = (
        ("x", "float x") if not more else (f"x, {more}", "float x, float w, float b, float z")
    )
    return f"({types}) => (y) {{ y = com.microsoft.nchwc.{name} {attributes} ({inputs}) }}"


@defines(_before("ReorderInput", "<channels_last = @last ? 0>"), exact=True, **_FACTS)
def reorder_input(case: Case) -> str:
    """Elements in blocks of channels, with zeros for missing ones."""
    channels = case.known_size("x", -1 if case["last"] else 1)
    more = -channels % block_size()
    first = "Transpose <perm = [0, 3, 1, 2]>" if case["last"] else "Identity"
    return f"""f = {first} (x)  g = Pad <pads = [0, 0, 0, 0, 0, {more}, 0, 0]> (f)
        {_blocked("g", "y", channels + more)}"""


@defines(
    _before("ReorderOutput", "<channels = @channels ? 0, channels_last = @last ? 0>"),
    exact=True,
    **_FACTS,
)
def reorder_output(case: Case) -> str:
    """Elements in the order of the shape, of so many channels."""
    last = "Transpose <perm = [0, 2, 3, 1]>" if case["last"] else "Identity"
    return f"""{_plain(case, "x", "f", case.known_size("x", 1))}
        g = Slice <starts = [0], ends = [@channels], axes = [1]> (f)  y = {last} (g)""".replace(
        "@channels", str(case["channels"])
    )


_WINDOW = """auto_pad = @auto_pad ? "NOTSET", dilations = @dilations ints ?,
    kernel_shape = @kernel ints{},
    pads = @pads ints ?, strides = @strides ints ?"""
_SAME = """auto_pad = @auto_pad, dilations = @dilations, kernel_shape = @kernel, pads = @pads,
    strides = @strides"""


@defines(
    _before(
        "MaxPool", f"<{_WINDOW.format('')}, ceil_mode = @ceil ? 0, storage_order = @order ? 0>"
    ),
    exact=True,
    **_FACTS,
)
def max_pool(case: Case) -> str:
    """MaxPool."""
    return _by_channel(case, f"k = MaxPool <{_SAME}, ceil_mode = @ceil> (h)")


_AVERAGE = _before(
    "AveragePool",
    f"<{_WINDOW.format('')}, ceil_mode = @ceil ? 0, count_include_pad = @include ? 0>",
)


@defines(_AVERAGE, **_FACTS)
def average_pool(case: Case) -> str:
    """AveragePool."""
    if any(one != 1 for one in case["dilations"] or ()):
        case.unfit("below opset 19 AveragePool has no dilations")
    window = _SAME.replace("dilations = @dilations, ", "")
    ceil = "ceil_mode = @ceil"
    if case["ceil"] and case["include"]:  # the kernel counts what a window has beyond the pads
        window, ceil = window.replace("@pads", str(_whole_pads(case))), "ceil_mode = 0"
    return _by_channel(
        case, f"k = AveragePool <{window}, {ceil}, count_include_pad = @include> (h)"
    )


def _whole_pads(case: Case) -> list[int]:
    """Pads with which the last windows end where the padded input does."""
    if case["auto_pad"] not in ("NOTSET", "VALID"):
        case.unfit("the pads of its windows depend on sizes")
    kernel, strides = case["kernel"], case["strides"] or (1, 1)
    pads = list(case["pads"] or (0, 0, 0, 0))
    if (len(kernel), len(strides), len(pads)) != (2, 2, 4):
        case.unfit("its attributes do not fit an image")
    for axis in (0, 1):
        room = case.known_size("x", 2 + axis) + pads[axis] + pads[2 + axis] - kernel[axis]
        pads[2 + axis] += -room % strides[axis]
    return pads


@defines(_before("GlobalMaxPool", ""), exact=True, **_FACTS)
def global_max_pool(case: Case) -> str:
    """GlobalMaxPool."""
    return _by_channel(case, "k = GlobalMaxPool (h)")


@defines(_before("GlobalAveragePool", ""), **_FACTS)
def global_average_pool(case: Case) -> str:
    """GlobalAveragePool."""
    return _by_channel(case, "k = GlobalAveragePool (h)")


@defines(
    _before(
        "Upsample",
        """<coordinate_transformation_mode = @how ? "asymmetric", mode = @mode ? "nearest",
        scales = @scales ints ?>""",
    ),
    **_FACTS,
)
def upsample(case: Case) -> str:
    """Resize by whole numbers."""
    if case["scales"] is None:
        case.unfit("it has no scales")
    numbers = ", ".join(f"{scale}.0" for scale in case["scales"])
    return _by_channel(
        case,
        f"""k = Resize <coordinate_transformation_mode = @how, mode = @mode,
        nearest_mode = "floor"> (h, [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0], [{numbers}])""",
    )


@defines(
    _before(
        "Conv",
        f"""<{_WINDOW.format(" ?")}, group = @group ? 1, activation = @activation text ?,
        activation_params = @parameters floats ?>""",
        "w, b?, z?",
    ),
    **_FACTS,
)
def conv(case: Case) -> str:
    """Conv, a sum, and an activation."""
    block, group = block_size(), case["group"]
    outs, ins = case.known_size("w", 0), case.known_size("w", 1)
    height, width = case.known_size("w", 2), case.known_size("w", 3)
    channels = case.known_size("x", 1)
    if outs % block:
        case.unfit(f"its channels are not in blocks of {block}, as this machine's are")
    is_blocked = ins % block == 0 and not (group == 1 and channels < block)
    if is_blocked:
        weights = f"""wB = Reshape <shape = [{outs // block}, {ins // block}, {height}, {width},
            {block}, {block}]> (w)  wT = Transpose <perm = [0, 5, 1, 4, 2, 3]> (wB)"""
    else:
        weights = f"""wB = Reshape
            <shape = [{outs // block}, {ins}, {height}, {width}, {block}]> (w)
            wT = Transpose <perm = [0, 4, 1, 2, 3]> (wB)"""
    reads_plain = group == 1 and channels < block
    data = "h = Identity (x)" if reads_plain else _plain(case, "x", "h", channels)
    addend = _plain(case, "z", "s", outs) if case.has("z") else ""
    return f"""{data} {weights} v = Reshape <shape = [{outs}, {ins}, {height}, {width}]> (wT)
        c = Conv <{_SAME}, group = @group> (h, v, b?) {addend}
        t = {"Add (c, s)" if addend else "Identity (c)"}
        {activation(case["activation"], case["parameters"] or (), "t", "k")}
        {_blocked("k", "y", outs)}"""
