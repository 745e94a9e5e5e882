"""Pools and convolutions of com.microsoft with other layouts, masks or pads than ONNX's."""

from .case import Case
from .quantized import first_channels, last_channels
from .registry import defines

_DOC = {"source": "docs/ContribOperators.md"}
_FACTS = {**_DOC, "tried": "onnxruntime 1.32.0"}
_LAST = 1 << 62
LOWEST = "-3.4028234663852886e+38"


def _channels_last(case: Case, node: str) -> str:
    """A node from h to k, with channels at axis 1, between x and y."""
    rank = case.rank("x")
    return f"""h = Transpose <perm = {first_channels(rank)}> (x) {node}
        y = Transpose <perm = {last_channels(rank)}> (k)"""


_NHWC = """(byte x) => (y) { y = com.microsoft.NhwcMaxPool <auto_pad = @auto_pad ? "NOTSET",
    ceil_mode = @ceil ? 0, dilations = @dilations ints ?, kernel_shape = @kernel ints,
    pads = @pads ints ?, strides = @strides ints ?> (x) }"""
_POOL = """MaxPool <auto_pad = @auto_pad, ceil_mode = @ceil, dilations = @dilations,
    kernel_shape = @kernel, pads = @pads, strides = @strides>"""


@defines(_NHWC, since=12, exact=True, **_FACTS)
def nhwc_max_pool_12(case: Case) -> str:
    """MaxPool with channels last."""
    return _channels_last(case, f"k = {_POOL} (h)")


@defines(_NHWC, exact=True, **_FACTS)
def nhwc_max_pool(case: Case) -> str:
    """MaxPool with channels last, of floats."""
    kind = case.elem_type("x")
    return _channels_last(
        case, f"f = Cast <to = 1> (h)  g = {_POOL} (f)  k = Cast <to = {kind}> (g)"
    )


@defines(
    """(floats x, floats w, floats b) => (y) { y = com.microsoft.NhwcConv
    <auto_pad = @auto_pad ? "NOTSET", dilations = @dilations ints ?, group = @group ? 1,
    kernel_shape = @kernel ints ?, pads = @pads ints ?, strides = @strides ints ?> (x, w, b?) }""",
    **_DOC,
)
def nhwc_conv(case: Case) -> str:
    """Conv with channels last, in the weights, too."""
    return f"""v = Transpose <perm = {first_channels(case.rank("w"))}> (w)
        {
        _channels_last(
            case,
            '''k = Conv <auto_pad = @auto_pad, dilations = @dilations,
        group = @group, kernel_shape = @kernel, pads = @pads, strides = @strides> (h, v, b?)''',
        )
    }"""


@defines(
    """(float x, int32 mask) => (y) { y = com.microsoft.MaxpoolWithMask
    <auto_pad = @auto_pad ? "NOTSET", kernel_shape = @kernel ints, pads = @pads ints ?,
    storage_order = @order ? 0, strides = @strides ints ?> (x, mask) }""",
    differs="a masked element ends its row of the window; masks of later planes are read elsewhere",
    **_FACTS,
)
def masked_max_pool(case: Case) -> str:
    """The largest element of a window; in each of its rows those up to the first masked one."""
    if case["auto_pad"] not in ("NOTSET", "VALID"):
        case.unfit("the pads of its windows depend on sizes")
    rank, kernel = case.rank("x"), case["kernel"]
    spatial, axis = rank - 2, rank - 1
    lists = (kernel, 1), (case["strides"], 1), (case["pads"], 2)
    if spatial < 1 or any(len(one) != each * spatial for one, each in lists if one):
        case.unfit("its attributes do not fit the rank of its input")
    pads = case["pads"] or (0,) * 2 * spatial
    strides = case["strides"] or (1,) * spatial
    sides = [0] * (rank - 1) + [pads[spatial - 1]] + [0] * (rank - 1) + [pads[-1]]
    nodes, valid, best = [], "", ""
    for place in range(kernel[-1]):
        cut = f"""Slice <starts = [{place}], ends = [{place - kernel[-1] + 1 or _LAST}],
            axes = [{axis}], steps = [{strides[-1]}]>"""
        nodes.append(f"x{place} = {cut} (xP)  m{place} = {cut} (mP)")
        nodes.append(f"v{place} = " + (f"And ({valid}, m{place})" if valid else "Identity (m0)"))
        valid = f"v{place}"
        nodes.append(f"c{place} = Where ({valid}, x{place}, {LOWEST})")
        nodes.append(f"b{place} = " + (f"Max ({best}, c{place})" if best else "Identity (c0)"))
        best = f"b{place}"
    around = [*pads[: spatial - 1], 0, *pads[spatial:-1], 0]
    pool = f"""MaxPool <kernel_shape = {[*kernel[:-1], 1]}, pads = {around},
        strides = {[*strides[:-1], 1]}> ({best})"""
    first = "seen = Identity (own)"
    if spatial > 1:  # the kernel asks of no element before the second one
        first = "isFirst = Equal (places, 0)  seen = Or (own, isFirst)"
    return f"""isSome = Greater (x, {LOWEST})  open = Where (isSome, x, {LOWEST})
        shape = Shape (x)  planes = Slice <starts = [0], ends = [2], axes = [0]> (shape)
        rest = Slice <starts = [2], ends = [{_LAST}], axes = [0]> (shape)
        count = ReduceProd <keepdims = 0> (planes)  step = ReduceProd <keepdims = 0> (rest)
        maskShape = Shape (mask)  own2 = Slice <starts = [0], ends = [2], axes = [0]> (maskShape)
        total = ReduceProd <keepdims = 0> (own2)  numbers = Range (0, count, 1)
        far = Mul (numbers, step)  base = Mod (far, total)  baseU = Unsqueeze <axes = [1]> (base)
        places = Range (0, step, 1)  at = Add (baseU, places)
        flat = Reshape <shape = [-1]> (mask)  masks = Gather (flat, at)
        isMasked = Equal (masks, 0)  own = Not (isMasked) {first}  seenX = Reshape (seen, shape)
        xP = Pad <pads = {sides}, constant_value = {LOWEST}> (open)
        whole = Cast <to = 1> (seenX)  wholeP = Pad <pads = {sides}, constant_value = 1.0> (whole)
        mP = Cast <to = 9> (wholeP) {" ".join(nodes)}
        y = {pool if spatial > 1 else f"Identity ({best})"}"""


@defines(
    """(floats x, floats w, int64 pads, floats b) => (y) {
    y = com.microsoft.ConvTransposeWithDynamicPads <auto_pad = @auto_pad ? "NOTSET",
    dilations = @dilations ints ?, group = @group ? 1, kernel_shape = @kernel ints ?,
    output_padding = @output ints ?, strides = @strides ints ?> (x, w, pads?, b?) }""",
    **_FACTS,
)
def conv_transpose(case: Case) -> str:
    """ConvTranspose, cut by pads that are known at run time."""
    node = """ConvTranspose <auto_pad = @auto_pad, dilations = @dilations, group = @group,
        kernel_shape = @kernel, output_padding = @output, pads = @fixed, strides = @strides>
        (x, w, b?)"""
    pads = case.constant("pads")
    case.attributes["fixed"] = None if pads is None else tuple(pads.reshape(-1).tolist())
    if case.has("pads") and case["auto_pad"] != "NOTSET":
        case.unfit("pads stand beside auto_pad")
    if pads is not None or not case.has("pads"):
        return f"y = {node}"
    axes = list(range(2, case.rank("x")))
    return f"""full = {node}  shape = Shape (full)
        sizes = Slice <starts = [2], ends = [{_LAST}], axes = [0]> (shape)
        before, after = Split <axis = 0, split = {[len(axes)] * 2}> (pads)
        ends = Sub (sizes, after)  y = Slice (full, before, ends, {axes})"""
