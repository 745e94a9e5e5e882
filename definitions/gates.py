"""Gates, norms of branches and mixtures of streams, which com.microsoft computes in floats."""

from .case import Case
from .registry import defines

_DOC = {"source": "docs/ContribOperators.md"}
_FACTS = {**_DOC, "tried": "onnxruntime 1.32.0"}


def _floats(case: Case, *names: str) -> str:
    """Nodes that cast operands to floats, named with F behind."""
    return " ".join(f"{name}F = Cast <to = 1> ({name})" for name in names if case.has(name))


def _norm(value: str, axis: int, result: str) -> str:
    """Nodes that divide by the root of the mean square along an axis."""
    return f"""{result}Q = Mul ({value}, {value})
        {result}M = ReduceMean <axes = [{axis}], keepdims = 1> ({result}Q)
        {result}E = Add ({result}M, @epsilon)  {result}R = Sqrt ({result}E)
        {result} = Div ({value}, {result}R)"""


@defines(
    "(floats x, floats z, floats gate) => (y) { y = com.microsoft.GatedAdd (x, z, gate) }", **_FACTS
)
def gated_add(case: Case) -> str:
    """A sum with a product."""
    return "p = Mul (z, gate)  y = Add (x, p)"


@defines(
    """(floats a, float bias, float scale, floats b) => (decay, beta) {
    decay, beta = com.microsoft.LinearAttentionGate (a, bias, scale, b?) }""",
    **_FACTS,
)
def linear_attention_gate(case: Case) -> str:
    """The decay and the rate of the gated delta rule."""
    kind = case.elem_type("a")
    nodes = f"""{_floats(case, "a", "b")} t = Add (aF, bias)  s = Softplus (t)
        d = Mul (s, scale)  decay = Cast <to = {kind}> (d)"""
    return f"{nodes} u = Sigmoid (bF)  beta = Cast <to = {kind}> (u)" if case.has("b") else nodes


def _branches(case: Case, value: str, result: str) -> str:
    """A node that gives flat streams an axis of branches, second to last."""
    count, rank = case["count"], case.rank("x")
    if not count:
        return f"{result} = Identity ({value})"
    width = case.size("x", -1)  # -1 is not decided where an axis is empty
    sizes = [*[0] * (rank - 1), count, -1 if width is None else width // count]
    return f"{result} = Reshape <shape = {sizes}> ({value})"


@defines(
    """(floats x, scales scale) => (y) { y = com.microsoft.BranchwiseRMSNorm
    <epsilon = @epsilon ? 1e-5, num_branches = @count ? 0> (x, scale?) }""",
    **_FACTS,
)
def branchwise_rms_norm(case: Case) -> str:
    """RMSNormalization of each branch."""
    scale = "m = Identity (n)"
    if case.has("scale"):
        grouped = "scaleG = Identity (scaleF)"
        if case.rank("scale") == 1:
            width = case.known_size("x", -1) // (case["count"] or 1)
            grouped = f"scaleG = Reshape <shape = [-1, {width}]> (scaleF)"
        scale = f"{grouped} m = Mul (n, scaleG)"
    return f"""shape = Shape (x) {_floats(case, "x", "scale")} {_branches(case, "xF", "g")}
        {_norm("g", -1, "n")} {scale} flat = Reshape <allowzero = 1> (m, shape)
        y = Cast <to = {case.elem_type("x")}> (flat)"""


def _mix(case: Case, name: str, result: str) -> str:
    """Nodes that give gates [.., c] an axis behind; flat ones get one of branches."""
    extra = case.rank("x") + (1 if case["count"] else 0) - case.rank(name)
    if case["count"] and case.rank(name) == case.rank("x"):
        branches = case["count"]
        if case.known_size(name, -1) != branches:
            shape = [0] * (case.rank(name) - 1) + [branches, -1]
            return f"{result} = Reshape <shape = {shape}> ({name}F)"
    return f"{result} = " + (
        f"Unsqueeze <axes = [-1]> ({name}F)" if extra else f"Identity ({name}F)"
    )


@defines(
    """(floats x, mixes mix) => (y) { y = com.microsoft.HyperConnectionPreMix
    <num_branches = @count ? 0, reduction_scale = @scale ? 1.0> (x, mix) }""",
    **_FACTS,
)
def pre_mix(case: Case) -> str:
    """The sum of streams times gates."""
    return f"""{_floats(case, "x", "mix")} {_branches(case, "xF", "g")} {_mix(case, "mix", "w")}
        p = Mul (g, w)  s = ReduceSum <axes = [-2], keepdims = 0> (p)  t = Mul (s, @scale)
        y = Cast <to = {case.elem_type("x")}> (t)"""


@defines(
    """(floats x, floats block, mixes post, mixes mix) => (y) {
    y = com.microsoft.HyperConnectionPostMix <num_branches = @count ? 0>
    (x, block, post, mix?) }""",
    **_FACTS,
)
def post_mix(case: Case) -> str:
    """A mixture of streams plus a block's output times gates."""
    mixture = "s = Identity (g)"
    if case.has("mix"):
        order = [*range(case.rank("mix") - 2), case.rank("mix") - 1, case.rank("mix") - 2]
        mixture = f"turned = Transpose <perm = {order}> (mixF)  s = MatMul (turned, g)"
    return f"""shape = Shape (x) {_floats(case, "x", "block", "post", "mix")}
        {_branches(case, "xF", "g")} {_mix(case, "post", "w")} {mixture}
        b = Unsqueeze <axes = [-2]> (blockF)  p = Mul (b, w)  t = Add (s, p)
        flat = Reshape <allowzero = 1> (t, shape)  y = Cast <to = {case.elem_type("x")}> (flat)"""


@defines(
    """(floats key, floats query, floats value, floats keyScale, floats queryScale, floats scale)
    => (y, normal) { y, normal = com.microsoft.EngramGate <epsilon = @epsilon ? 1e-5>
    (key, query, value, keyScale, queryScale, scale?) }""",
    **_FACTS,
)
def engram_gate(case: Case) -> str:
    """A value times a sigmoid of how normalized keys and queries agree."""
    size, kind = case.known_size("key", 3), case.elem_type("key")
    names = "key", "query", "value", "keyScale", "queryScale", "scale"
    normal = ""
    if case.has("scale"):
        normal = f"""{_norm("t", -1, "tN")} tS = Mul (tN, scaleF)
            normal = Cast <to = {kind}> (tS)"""
    return f"""{_floats(case, *names)} {_norm("keyF", -1, "kN")} {_norm("queryF", -1, "qN")}
        kS = Mul (kN, keyScaleF)  qS = Mul (qN, queryScaleF)  p = Mul (kS, qS)
        dot = ReduceSum <axes = [-1], keepdims = 1> (p)  d = Div (dot, {size**0.5!r})
        side = Sign (d)  size = Abs (d)  least = Max (size, 1e-6)  root = Sqrt (least)
        z = Mul (side, root)  gate = Sigmoid (z)  v = Unsqueeze <axes = [2]> (valueF)
        t = Mul (gate, v)  y = Cast <to = {kind}> (t) {normal}"""
