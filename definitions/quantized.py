"""Quantized operators of com.microsoft, element by element, pools and products.

Where the kernel rounds as ONNX's QuantizeLinear does, the graph has that; sums and products round
after the zero point is added, which differs where a number stands in the middle.
"""

from .case import Case
from .products import rows_of_pair
from .registry import defines

_FACTS = {"source": "docs/ContribOperators.md", "tried": "onnxruntime 1.32.0"}
_LIMITS = {"uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767)}
_RUNS = "com.microsoft.QLinear"


def scalars(case: Case, *names: str) -> str:
    """Nodes that make scalars of operands with one element, named with S behind."""
    nodes = []
    for name in names:
        if case.has(name):
            cut = "Squeeze <axes = [0]>" if case.rank(name) else "Identity"
            nodes.append(f"{name}S = {cut} ({name})")
    return " ".join(nodes)


def numbers_of(case: Case, value: str, scale: str, zero: str, result: str) -> str:
    """Nodes that compute the number of a quantized value by a scalar scale."""
    operands = f"{value}, {scale}S, {zero}S" if case.has(zero) else f"{value}, {scale}S"
    return f"{scalars(case, scale, zero)} {result} = DequantizeLinear ({operands})"


def quantize_to(case: Case, value: str, scale: str, zero: str, result: str) -> str:
    """Nodes that quantize a number by a scalar scale, as QuantizeLinear does."""
    operands = f"{value}, {scale}S, {zero}S" if case.has(zero) else f"{value}, {scale}S"
    return f"{scalars(case, scale, zero)} {result} = QuantizeLinear ({operands})"


def saturate(case: Case, value: str, like: str, result: str) -> str:
    """Nodes that cast whole numbers to the type of an operand, saturated."""
    # Cast of a float out of range is undefined in ONNX (Cast, opset 13), so Clip comes first.
    for name, (low, high) in _LIMITS.items():
        if case.is_typed(like, name):
            return f"""{result}C = Clip <min = {low}.0, max = {high}.0> ({value})
                {result} = Cast <to = {case.elem_type(like)}> ({result}C)"""
    case.unfit(f"the element type of '{like}' is not of 8 or 16 bits")


def round_to(case: Case, value: str, like: str, result: str) -> str:
    """Nodes that round a number to the integers of an operand's type, and saturate."""
    return f"{result}R = Round ({value}) {saturate(case, f'{result}R', like, result)}"


def _binary(name: str) -> str:
    return f"""(byte a, float aScale, byte aZero, byte b, float bScale, byte bZero, float cScale,
        byte cZero) => (c) {{
        c = {_RUNS}{name} (a, aScale, aZero?, b, bScale, bZero?, cScale, cZero?) }}"""


def _floats(case: Case, *names: str) -> str:
    """Nodes that cast operands to floats, named with F behind."""
    return " ".join(f"{name}F = Cast <to = 1> ({name})" for name in names if case.has(name))


def _zero(case: Case, name: str) -> str:
    return f"{name}F" if case.has(name) else "0.0"


@defines(_binary("Add"), rows=rows_of_pair, **_FACTS)
def add(case: Case) -> str:
    """The sum of the numbers, rounded after the zero point is added."""
    zeros = {name: _zero(case, name) for name in ("aZero", "bZero", "cZero")}
    return f"""{_floats(case, "a", "b", *zeros)}
        aRatio = Div (aScale, cScale)  bRatio = Div (bScale, cScale)
        p = Mul (aRatio, {zeros["aZero"]})  q = Mul (bRatio, {zeros["bZero"]})  r = Add (p, q)
        fixed = Sub ({zeros["cZero"]}, r)  s = Mul (bF, bRatio)  t = Add (s, fixed)
        u = Mul (aF, aRatio)  sum = Add (u, t) {round_to(case, "sum", "a", "c")}"""


@defines(_binary("Mul"), rows=rows_of_pair, **_FACTS)
def mul(case: Case) -> str:
    """The product of the numbers, rounded after the zero point is added."""
    zeros = {name: _zero(case, name) for name in ("aZero", "bZero", "cZero")}
    return f"""{_floats(case, "a", "b", *zeros)}
        s = Mul (aScale, bScale)  scale = Div (s, cScale)
        p = Sub (aF, {zeros["aZero"]})  q = Sub (bF, {zeros["bZero"]})  r = Mul (p, q)
        t = Mul (r, scale)  sum = Add (t, {zeros["cZero"]}) {round_to(case, "sum", "a", "c")}"""


def _unary(name: str, attributes: str = "") -> str:
    return f"""(byte x, float xScale, byte xZero, float yScale, byte yZero) => (y) {{
        y = {_RUNS}{name} {attributes} (x, xScale, xZero?, yScale, yZero?) }}"""


def _between(case: Case, nodes: str) -> str:
    """Nodes from the number f of x to the number g of y, quantized."""
    if not case.has("yZero") and not case.is_typed("x", "uint8"):
        case.unfit("without a zero point its result is uint8")
    return f"{_number(case)} {nodes} {quantize_to(case, 'g', 'yScale', 'yZero', 'y')}"


def _number(case: Case) -> str:
    return numbers_of(case, "x", "xScale", "xZero", "f")


@defines(_unary("Sigmoid"), rows="* x", **_FACTS)
def sigmoid(case: Case) -> str:
    """Sigmoid of the numbers."""
    return _between(case, "g = Sigmoid (f)")


@defines(_unary("LeakyRelu", "<alpha = @alpha ? 0.01>"), rows="* x", **_FACTS)
def leaky_relu(case: Case) -> str:
    """LeakyRelu of the numbers."""
    return _between(case, "g = LeakyRelu <alpha = @alpha> (f)")


_SOFTMAX = _unary("Softmax", "<axis = @axis ? -1, opset = @opset int>")


def _weights(case: Case, nodes: str) -> str:
    """Nodes of weights of x, and of their codes as in onnxruntime 1.32.

    1 has a whole number of steps there: the inverse of the scale without its fraction.
    """
    if not case.has("yZero") and not case.is_typed("x", "uint8"):
        case.unfit("without a zero point its result is uint8")
    zero = "t = Identity (r)"
    if case.has("yZero"):
        zero = "yZeroF = Cast <to = 1> (yZeroS)  t = Add (r, yZeroF)"
    return f"""{_number(case)} {nodes} {scalars(case, "yScale", "yZero")}
        inverse = Div (1.0, yScaleS)  steps = Floor (inverse)  p = Mul (g, steps)  r = Round (p)
        {zero} {saturate(case, "t", "x", "y")}"""


_STEPS = "1 has a whole number of steps, the inverse of the scale without its fraction"


@defines(_SOFTMAX, since=13, differs=_STEPS, **_FACTS)
def softmax_13(case: Case) -> str:
    """Softmax of the numbers."""
    if case["opset"] < 13:
        return softmax(case)
    return _weights(case, "g = Softmax <axis = @axis> (f)")


@defines(_SOFTMAX, differs=_STEPS, **_FACTS)
def softmax(case: Case) -> str:
    """Softmax of the numbers; below opset 13 along all axes from one on."""
    axes = [case["axis"]]
    if case["opset"] < 13:
        rank = case.rank("x")
        if not -rank <= case["axis"] < rank:
            case.unfit("its axis is not one of x")
        # Softmax before opset 13 flattens all axes from `axis` on into one row.
        axes = list(range(case["axis"] % rank, rank))
    return _weights(
        case,
        f"""m = ReduceMax <axes = {axes}, keepdims = 1> (f)  d = Sub (f, m)  e = Exp (d)
        s = ReduceSum <axes = {axes}, keepdims = 1> (e)  g = Div (e, s)""",
    )


def first_channels(rank: int) -> list[int]:
    """The permutation that brings the last axis to the place of channels."""
    return [0, rank - 1, *range(1, rank - 1)]


def last_channels(rank: int) -> list[int]:
    """The permutation that brings the channels to the last axis."""
    return [0, *range(2, rank), 1]


def _by_channels(case: Case, value: str, node: str) -> str:
    """A node from h to k, with channels at axis 1, before g."""
    if not case["last"]:
        return f"h = Identity ({value}) {node} g = Identity (k)"
    rank = case.rank("x")
    return f"""h = Transpose <perm = {first_channels(rank)}> ({value}) {node}
        g = Transpose <perm = {last_channels(rank)}> (k)"""


@defines(_unary("GlobalAveragePool", "<channels_last = @last ? 0>"), **_FACTS)
def global_average_pool(case: Case) -> str:
    """GlobalAveragePool of the numbers."""
    return _between(case, _by_channels(case, "f", "k = GlobalAveragePool (h)"))


@defines(
    _unary("ReduceMean", "<axes = @axes ints, keepdims = @keepdims int>"),
    source="docs/ContribOperators.md",
)
def reduce_mean(case: Case) -> str:
    """ReduceMean of the numbers."""
    return _between(case, "g = ReduceMean <axes = @axes, keepdims = @keepdims> (f)")


_WINDOW = """auto_pad = @auto_pad ? "NOTSET", kernel_shape = @kernel ints, pads = @pads ints ?,
    strides = @strides ints ?"""


@defines(
    _unary(
        "AveragePool",
        f"<{_WINDOW}, ceil_mode = @ceil ? 0, channels_last = @last ? 0, "
        "count_include_pad = @c ? 0>",
    ),
    differs="a mean halfway between two steps may go to either",
    **_FACTS,
)
def average_pool(case: Case) -> str:
    """AveragePool of the numbers, rounded after the zero point is added."""
    window = "auto_pad = @auto_pad, kernel_shape = @kernel, pads = @pads, strides = @strides"
    node = f"k = AveragePool <{window}, ceil_mode = @ceil, count_include_pad = @c> (h)"
    return f"""{_number(case)} {_by_channels(case, "f", node)} {_floats(case, "yZero")}
        q = Div (g, yScale)  t = Add (q, {_zero(case, "yZero")}) {round_to(case, "t", "x", "y")}"""


@defines(
    """(bool condition, byte x, float xScale, byte xZero, byte y, float yScale, byte yZero,
    float zScale, byte zZero) => (z) {
    z = com.microsoft.QLinearWhere (condition, x, xScale, xZero, y, yScale, yZero, zScale, zZero) }
    """,
    **_FACTS,
)
def where(case: Case) -> str:
    """One of two numbers, quantized anew."""
    return f"""{numbers_of(case, "x", "xScale", "xZero", "f")}
        {numbers_of(case, "y", "yScale", "yZero", "g")} h = Where (condition, f, g)
        {quantize_to(case, "h", "zScale", "zZero", "z")}"""


_MOST_PARTS = 32
_PARTS = [(f"x{i}", f"s{i}", f"z{i}") for i in range(_MOST_PARTS)]
_PART_TYPES = ", ".join(f"byte{i} x{i}, float s{i}, byte{i} z{i}" for i in range(_MOST_PARTS))
_PART_NAMES = ", ".join(f"x{i}?, s{i}?, z{i}?" for i in range(_MOST_PARTS))


@defines(
    f"""(float yScale, byte yZero, {_PART_TYPES}) => (y) {{
    y = com.microsoft.QLinearConcat <axis = @axis int> (yScale, yZero, {_PART_NAMES}) }}""",
    **_FACTS,
)
def concat(case: Case) -> str:
    """The numbers in a row, quantized anew."""
    parts = [part for part in _PARTS if case.has(part[0])]
    nodes = " ".join(numbers_of(case, x, s, z, f"f{x}") for x, s, z in parts)
    names = ", ".join(f"f{x}" for x, _, _ in parts)
    return f"""{nodes} f = Concat <axis = @axis> ({names})
        {quantize_to(case, "f", "yScale", "yZero", "y")}"""


@defines(
    """(byteX x, float xScale, byteX xZero, byteW w, float wScale, byteW wZero, float yScale,
    byteY yZero, int32 bias) => (y) { y = com.microsoft.QLinearConv
    <auto_pad = @auto_pad ? "NOTSET",
    channels_last = @last ? 0, dilations = @dilations ints ?, group = @group ? 1,
    kernel_shape = @kernel ints ?, pads = @pads ints ?, strides = @strides ints ?>
    (x, xScale, xZero, w, wScale, wZero, yScale, yZero, bias?) }""",
    **_FACTS,
)
def conv(case: Case) -> str:
    """QLinearConv."""
    node = """k = QLinearConv <auto_pad = @auto_pad, dilations = @dilations, group = @group,
        kernel_shape = @kernel, pads = @pads, strides = @strides>
        (h, xScale, xZero, w, wScale, wZero, yScale, yZero, bias?)"""
    return f"{_by_channels(case, 'x', node)} y = Identity (g)"


_AXIS = """({types}) => (y) {{ y = com.microsoft.{name} <axis = @axis int ?> (x, scale, zero?) }}"""
_QUANTIZE = _AXIS.format(types="number x, number scale, whole zero", name="QuantizeLinear")
_DEQUANTIZE = _AXIS.format(types="whole x, floats scale, whole zero", name="DequantizeLinear")


def _axis(case: Case) -> int:
    """The axis of scales; 1 where no attribute has it."""
    return 1 if case["axis"] is None else case["axis"]


def _along(case: Case, value: str, result: str) -> str:
    """A node that puts the axis of scales at its place beside x."""
    # A scale of rank 0 is per tensor, whatever the axis says.
    if case.rank("scale") == 0:
        return f"{result} = Identity ({value})"
    rank = case.rank("x")
    if not -rank <= _axis(case) < rank:
        case.unfit("its axis is not one of x")
    axes = [axis for axis in range(rank) if axis != _axis(case) % rank]
    return f"{result} = Unsqueeze <axes = {axes}> ({value})"


@defines(_QUANTIZE, since=21, **_FACTS)
def quantize_21(case: Case) -> str:
    """QuantizeLinear."""
    return f"y = QuantizeLinear <axis = {_axis(case)}> (x, scale, zero?)"


@defines(_QUANTIZE, since=13, **_FACTS)
def quantize_13(case: Case) -> str:
    """QuantizeLinear of floats to 8 bits."""
    if not case.is_typed("x", "float") or (
        case.has("zero") and not case.is_typed("zero", "uint8", "int8")
    ):
        return quantize(case)
    return f"y = QuantizeLinear <axis = {_axis(case)}> (x, scale, zero?)"


@defines(_QUANTIZE, **_FACTS)
def quantize(case: Case) -> str:
    """The quotient by the scale, rounded to even, plus the zero point."""
    like = "zero" if case.has("zero") else ""
    limits = [_LIMITS[n] for n in _LIMITS if like and case.is_typed(like, n)] or [(0, 255)]
    kind = case.elem_type("zero") if like else 2
    if like and not case.is_typed("zero", *_LIMITS):
        case.unfit("integers of 4 bits need opset 21")
    ((low, high),) = limits
    zero = f"zeroF = Cast <to = 1> (zero) {_along(case, 'zeroF', 'zeroA')}" if like else ""
    return f"""xF = Cast <to = 1> (x)  scaleF = Cast <to = 1> (scale)
        {_along(case, "scaleF", "scaleA")} q = Div (xF, scaleA)  r = Round (q)
        {zero} t = Add (r, {"zeroA" if like else "0.0"})
        c = Clip <min = {low}.0, max = {high}.0> (t)  y = Cast <to = {kind}> (c)"""


@defines(_DEQUANTIZE, since=21, **_FACTS)
def dequantize_21(case: Case) -> str:
    """DequantizeLinear."""
    return f"y = DequantizeLinear <axis = {_axis(case)}> (x, scale, zero?)"


@defines(_DEQUANTIZE, since=13, **_FACTS)
def dequantize_13(case: Case) -> str:
    """DequantizeLinear of 8 or 32 bits to floats."""
    if not case.is_typed("scale", "float") or not case.is_typed("x", "uint8", "int8", "int32"):
        return dequantize(case)
    return f"y = DequantizeLinear <axis = {_axis(case)}> (x, scale, zero?)"


@defines(_DEQUANTIZE, **_FACTS)
def dequantize(case: Case) -> str:
    """The difference to the zero point, times the scale."""
    if not case.is_typed("x", *_LIMITS, "int32"):
        case.unfit("integers of 4 bits need opset 21")
    zero = ""
    if case.has("zero"):
        zero = f"zeroW = Cast <to = 6> (zero) {_along(case, 'zeroW', 'zeroA')}"
    return f"""xW = Cast <to = 6> (x) {zero}
        d = {"Sub (xW, zeroA)" if zero else "Identity (xW)"}
        dF = Cast <to = 1> (d)  scaleF = Cast <to = 1> (scale) {_along(case, "scaleF", "scaleA")}
        p = Mul (dF, scaleA)  y = Cast <to = {case.elem_type("scale")}> (p)"""


def _require_columns(case: Case, *operands: str) -> None:
    """Require that operands have one element, or one for each column of b."""
    for name in filter(case.has, operands):
        if case.rank(name) == 0 or (case.rank(name) == 1 and case.size(name, 0) == 1):
            continue
        is_row = case.rank(name) == 1 or case.size(name, -2) == 1
        if not is_row or case.rank("b") < 2 or case.rank(name) > case.rank("b"):
            case.unfit(f"'{name}' is not one number for each column of 'b'")


def _rows_of_integers(case: Case) -> str:
    is_plain = min(case.rank("a"), case.rank("b")) > 1 and case.rank("b") == 2
    return "* a" if is_plain and not (case.has("aZero") and case.rank("aZero")) else ""


@defines(
    """(byteA a, byteB b, floats aScale, floats bScale, byteA aZero, byteB bZero, floats bias)
    => (y) { y = com.microsoft.MatMulIntegerToFloat
        (a, b, aScale, bScale, aZero?, bZero?, bias?) }""",
    rows=_rows_of_integers,
    **_FACTS,
)
def matmul_integer_to_float(case: Case) -> str:
    """The product of the integers, times both scales, plus the bias."""
    _require_columns(case, "bScale", "bZero", "bias")
    return f"""i = MatMulInteger (a, b, aZero?, bZero?)
        f = Cast <to = {case.elem_type("aScale")}> (i)  scale = Mul (aScale, bScale)
        p = Mul (f, scale)  y = Add (p, bias)"""


@defines(
    """(floats a, byteB b, floats bScale, byteB bZero, floats bias) => (y) {
    y = com.microsoft.DynamicQuantizeMatMul (a, b, bScale, bZero?, bias?) }""",
    **_FACTS,
)
def dynamic_quantize_matmul(case: Case) -> str:
    """The product with a, quantized over the whole tensor to 8 bits."""
    _require_columns(case, "bScale", "bZero", "bias")
    # One scale for the whole tensor: rows of several calls may not become one call.
    return """q, aScale, aZero = DynamicQuantizeLinear (a)  i = MatMulInteger (q, b, aZero, bZero?)
        f = Cast <to = 1> (i)  scale = Mul (aScale, bScale)  p = Mul (f, scale)
        y = Add (p, bias)"""


@defines(
    "(int16 a, int16 b) => (y) { y = com.microsoft.MatMulInteger16 (a, b) }", exact=True, **_FACTS
)
def matmul_integer_16(case: Case) -> str:
    """The product of the integers in 32 bits."""
    return "aW = Cast <to = 6> (a)  bW = Cast <to = 6> (b)  y = MatMul (aW, bW)"


@defines(
    """(byteA a, float aScale, byteA aZero, byteB b, float bScale, byteB bZero, int32 c,
    float yScale, byteY yZero) => (y) {
    y = com.microsoft.QGemm <alpha = @alpha ? 1.0, transA = @transA ? 0, transB = @transB ? 0>
        (a, aScale, aZero, b, bScale, bZero, c?, yScale?, yZero?) }""",
    **_FACTS,
)
def gemm(case: Case) -> str:
    """The product of the integers plus c, times both scales and alpha."""
    turned = {name: "Transpose <perm = [1, 0]>" for name in "AB" if case[f"trans{name}"]}
    # c joins the integers, so that alpha scales it as well, and beta does not exist.
    product = f"""aT = {turned.get("A", "Identity")} (a)  bT = {turned.get("B", "Identity")} (b)
        i = MatMulInteger (aT, bT, aZero, bZero)  j = Add (i, c)  f = Cast <to = 1> (j)
        s = Mul (aScale, bScale)  scale = Mul (s, @alpha)"""
    if not case.has("yScale"):
        return f"{product} y = Mul (f, scale)"
    if not case.has("yZero"):
        case.unfit("a scale of its result needs a zero point")
    return f"""{product} {_floats(case, "yZero")} ratio = Div (scale, yScale)  g = Mul (f, ratio)
        r = Round (g)  t = Add (r, yZeroF) {saturate(case, "t", "yZero", "y")}"""
