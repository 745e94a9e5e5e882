"""Mixtures of experts of com.microsoft: all compute, and a router's weights choose among them."""

from .case import Case
from .quantized_weights import unpack
from .registry import defines

_FACTS = {"source": "docs/ContribOperators.md", "tried": "onnxruntime 1.32.0"}
_COMMON = """activation_alpha = @alpha ? 1.0, activation_beta = @beta ? 0.0,
    activation_type = @activation ? "relu", k = @k ? 1, normalize_routing_weights = @normalize ? 0,
    swiglu_fusion = @fusion ? 0, swiglu_limit = @limit float ?,
    swiglu_limit_after_activation = @after ? 0, use_sparse_mixer = @sparse ? 0"""


def _activation(case: Case) -> str:
    """Nodes of the activation from h to a."""
    name = case["activation"].lower()
    if name == "relu":
        return "a = Relu (h)"
    if name == "identity":
        return "a = Identity (h)"
    if name == "silu":
        return "s = Sigmoid (h)  a = Mul (h, s)"
    # The form by tanh, although Gelu of the domain is that by erf.
    if name == "gelu":
        return """hSquare = Mul (h, h)  cubic = Mul (hSquare, h)  part = Mul (cubic, 0.044715)
            sum = Add (h, part)  scaled = Mul (sum, 0.7978845608028654)  t = Tanh (scaled)
            one = Add (t, 1.0)  half = Mul (h, 0.5)  a = Mul (half, one)"""
    if name != "swiglu" or case["fusion"] != 1 or case["after"]:
        case.unfit(f"its activation {case['activation']} has no definition in this form")
    low = high = ""
    gate, linear = "gateA", "linearA"
    if case["limit"] is not None:
        low = f"gateL = Min (gateA, {case['limit']!r})"
        high = f"linearL = Clip <min = {-case['limit']!r}, max = {case['limit']!r}> (linearA)"
        gate, linear = "gateL", "linearL"
    # Gate and linear part take turns in each row (fusion 1).
    return f"""gateA = Slice <starts = [0], ends = [{1 << 62}], axes = [2], steps = [2]> (h)
        linearA = Slice <starts = [1], ends = [{1 << 62}], axes = [2], steps = [2]> (h) {low} {high}
        scaled = Mul ({gate}, @alpha)  s = Sigmoid (scaled)  swish = Mul ({gate}, s)
        more = Add ({linear}, @beta)  a = Mul (swish, more)"""


def _mixture(case: Case, routed: str, weights: str) -> str:
    """Nodes of the mixture; w1 and w2 are [experts, out, in]."""
    if case["sparse"] or case.has("w3"):
        case.unfit("a sparse mixer and a third layer have no definition")
    bias1 = "bias1 = Unsqueeze <axes = [1]> (b1)  h = Add (h1, bias1)" if case.has("b1") else ""
    bias2 = "bias2 = Unsqueeze <axes = [1]> (b2)  o = Add (o1, bias2)" if case.has("b2") else ""
    # An expert that no row chose may overflow, and 0 times infinity is a NaN: it is selected out.
    return f"""shape = Shape (x)
        width = Slice <starts = [-1], ends = [{1 << 62}], axes = [0]> (shape)
        rowShape = Concat <axis = 0> ([-1], width)  rows = Reshape (x, rowShape) {routed}
        probShape = Shape (router)  count = Gather (probShape, [1])
        chosen = OneHot (index, count, [0.0, 1.0])  factor = Unsqueeze <axes = [2]> (value)
        is = Cast <to = {case.elem_type("x")}> (chosen)  share = Mul (is, factor)
        dense = ReduceSum <axes = [1], keepdims = 0> (share)
        any = ReduceMax <axes = [1], keepdims = 0> (chosen)
        turned = Transpose <perm = [1, 0]> (dense)  portion = Unsqueeze <axes = [2]> (turned)
        anyT = Transpose <perm = [1, 0]> (any)  anyU = Unsqueeze <axes = [2]> (anyT)
        takes = Greater (anyU, 0.0) {weights}
        w1T = Transpose <perm = [0, 2, 1]> (w1N)  w2T = Transpose <perm = [0, 2, 1]> (w2N)
        xU = Unsqueeze <axes = [0]> (rows)  h1 = MatMul (xU, w1T) {bias1 or "h = Identity (h1)"}
        {_activation(case)} o1 = MatMul (a, w2T) {bias2 or "o = Identity (o1)"}
        weighed = Mul (o, portion)  own = Where (takes, weighed, 0.0)
        flat = ReduceSum <axes = [0], keepdims = 0> (own)
        y = Reshape <allowzero = 1> (flat, shape)"""


_SOFTMAX = """{0}Max = ReduceMax <axes = [1], keepdims = 1> ({0})  {0}D = Sub ({0}, {0}Max)
    {0}E = Exp ({0}D)  {0}Sum = ReduceSum <axes = [1], keepdims = 1> ({0}E)
    {1} = Div ({0}E, {0}Sum)"""


@defines(
    f"""(floats x, floats router, floats w1, floats b1, floats w2, floats b2, floats w3, floats b3)
    => (y) {{ y = com.microsoft.MoE <{_COMMON}> (x, router, w1, b1?, w2, b2?, w3?, b3?) }}""",
    **_FACTS,
)
def mixture(case: Case) -> str:
    """Two layers of the best experts, by the softmax over all of them."""
    # Over all experts, and only on request divided by the sum of the best.
    top = "best, index = TopK <k = [@k]> (probs)".replace("@k", str(case["k"]))
    norm = "value = Identity (best)"
    if case["normalize"]:
        norm = """total = ReduceSum <axes = [1], keepdims = 1> (best)  value = Div (best, total)"""
    routed = f"{_SOFTMAX.format('router', 'probs')} {top} {norm}"
    return _mixture(case, routed, "w1N = Identity (w1)  w2N = Identity (w2)")


@defines(
    f"""(floats x, floats router, uint8 w1, scales s1, floats b1, uint8 w2, scales s2, floats b2,
    uint8 w3, scales s3, floats b3, uint8 z1, uint8 z2, uint8 z3) => (y) {{
    y = com.microsoft.QMoE <{_COMMON}, accuracy_level = @level ? 0, block_size = @block int ?,
    expert_weight_bits = @bits ? 4, fc1_expert_weight_bits = @bits1 int ?,
    fc2_expert_weight_bits = @bits2 int ?, fc3_expert_weight_bits = @bits3 int ?,
    quant_type = @type ? "int",
    weights_prepacked = @packed ? -1>
    (x, router, w1, s1, b1?, w2, s2, b2?, w3?, s3?, b3?, z1?, z2?, z3?) }}""",
    differs="the weights of the chosen experts are their own softmax",
    **_FACTS,
)
def quantized_mixture(case: Case) -> str:
    """Two layers of the best experts, of packed weights, by the softmax over these."""
    if case["type"] != "int":
        case.unfit(f"weights of type {case['type']} have no definition")
    # Over the best alone, even without normalize_routing_weights (1.32): MoE differs.
    routed = f"""best, index = TopK <k = [{case["k"]}]> (router)
        {_SOFTMAX.format("best", "value")}"""
    return _mixture(case, routed, f"{_weights(case, 1)} {_weights(case, 2)}")


def _weights(case: Case, layer: int) -> str:
    """Nodes that compute the numbers of one layer's weights."""
    bits = case[f"bits{layer}"] or case["bits"]
    w, s, z = f"w{layer}", f"s{layer}", f"z{layer}"
    if bits not in (2, 4, 8):
        case.unfit(f"codes of {bits} bits are not known")
    width = case.known_size(w, 2) * 8 // bits
    rows = case.known_size(w, 1)
    kind, block = case.elem_type("x"), case["block"] or width
    blocks = -(-width // block)
    # Without zero points codes are centred at half of their range.
    zero = f"{float(1 << (bits - 1))}"
    nodes = [unpack(w, bits, 3, f"[0, {rows}, {width}]", f"{w}C")]
    if case.has(z):
        each = 8 // bits
        nodes.append(f"""{z}P = Reshape <shape = [0, {rows}, {-(-blocks // each)}]> ({z})
            {unpack(f"{z}P", bits, 3, f"[0, {rows}, {-(-blocks // each) * each}]", f"{z}C")}
            {z}S = Slice <starts = [0], ends = [{blocks}], axes = [2]> ({z}C)
            {z}F = Cast <to = {kind}> ({z}S)  {z}U = Unsqueeze <axes = [3]> ({z}F)""")
        zero = f"{z}U"
    if width % block:
        case.unfit("its rows are not whole blocks")
    return f"""{" ".join(nodes)} {w}F = Cast <to = {kind}> ({w}C)
        {w}B = Reshape <shape = [0, {rows}, {blocks}, {block}]> ({w}F)
        {s}F = Cast <to = {kind}> ({s})  {s}U = Reshape <shape = [0, {rows}, {blocks}, 1]> ({s}F)
        {w}D = Sub ({w}B, {zero})  {w}M = Mul ({w}D, {s}U)
        {w}N = Reshape <shape = [0, {rows}, {width}]> ({w}M)"""
