"""Normalizations of com.microsoft, and those that onnxruntime has in ONNX's own domain."""

from .case import Case
from .registry import defines

_FACTS = {"source": "docs/ContribOperators.md", "tried": "onnxruntime 1.32.0"}
_ORDER = "the kernel subtracts squares: rows far from 0 are off by up to 1e-2"
_AFFINE = "<axis = @axis ? -1, epsilon = @epsilon ? 1e-5, stash_type = @stash ? 1>"


def _widened(case: Case, *names: str) -> str:
    """Nodes that cast half-precision operands to floats, named with W behind."""
    halves = [name for name in names if case.has(name) and case.is_typed(name, "float16")]
    return " ".join(
        f"{name}W = {'Cast <to = 1>' if name in halves else 'Identity'} ({name})" for name in names
    )


def _narrowed(case: Case, name: str, like: str) -> str:
    """A node that rounds a result to half precision where an operand has that."""
    is_half = case.is_typed(like, "float16")
    return f"{name} = {'Cast <to = 10>' if is_half else 'Identity'} ({name}W)"


def _axes(case: Case, axis: int, operand: str) -> list[int]:
    """The axes from one on."""
    return [-1] if axis == -1 else list(range(axis % case.rank(operand), case.rank(operand)))


def _rows(case: Case) -> str:
    return "* x" if case["axis"] < 0 else ""


def _centered(axes: list[int], epsilon: str) -> str:
    """Nodes of a LayerNormalization of xW."""
    # The kernel subtracts squared means, which is 6e-3 off for rows of 1000 +- 0.01 (1.32).
    return f"""meanW = ReduceMean <axes = {axes}, keepdims = 1> (xW)  d = Sub (xW, meanW)
        square = Mul (d, d)  variance = ReduceMean <axes = {axes}, keepdims = 1> (square)
        e = Add (variance, {epsilon})  root = Sqrt (e)  invW = Reciprocal (root)
        n = Mul (d, invW)  scaled = Mul (n, gammaW)  yW = Add (scaled, betaW)
        mean = Cast <to = 1> (meanW)  inv = Cast <to = 1> (invW)"""


def _uncentered(axes: list[int], epsilon: str) -> str:
    """Nodes of an RMSNormalization of xW."""
    return f"""square = Mul (xW, xW)  m = ReduceMean <axes = {axes}, keepdims = 1> (square)
        e = Add (m, {epsilon})  root = Sqrt (e)  invW = Reciprocal (root)
        n = Mul (xW, invW)  yW = Mul (n, gammaW)  inv = Cast <to = 1> (invW)"""


_LAYER = f"""(floats x, floats gamma, floats beta) => (y, mean, inv) {{
    y, mean, inv = LayerNormalization {_AFFINE} (x, gamma, beta?) }}"""


def _layer(case: Case, nodes: str) -> str:
    return f"{_widened(case, 'x', 'gamma', 'beta')} {nodes} {_narrowed(case, 'y', 'x')}"


@defines(_LAYER, since=17, rows=_rows, **_FACTS)
def layer_normalization_17(case: Case) -> str:
    """LayerNormalization below opset 17."""
    if case.is_typed("x", "double"):
        return layer_normalization(case)  # ONNX's own computes in floats
    attributes = "<axis = @axis, epsilon = @epsilon>"
    return _layer(case, f"yW, mean, inv = LayerNormalization {attributes} (xW, gammaW, betaW)")


@defines(_LAYER, rows=_rows, **_FACTS)
def layer_normalization(case: Case) -> str:
    """LayerNormalization below opset 17."""
    return _layer(case, _centered(_axes(case, case["axis"], "x"), "@epsilon"))


# The result has the type of gamma, which may be wider than that of x.
_SIMPLIFIED = f"""(floats x, gamma) => (y, inv) {{
    y, inv = SimplifiedLayerNormalization {_AFFINE} (x, gamma) }}"""


@defines(_SIMPLIFIED, since=23, rows=_rows, **_FACTS)
def simplified_23(case: Case) -> str:
    """RMSNormalization."""
    if "inv" in case.outputs or case.is_typed("x", "double"):
        return simplified(case)
    attributes = "<axis = @axis, epsilon = @epsilon>"
    return _scaled(case, f"yW = RMSNormalization {attributes} (xW, gammaW)")


@defines(_SIMPLIFIED, rows=_rows, **_FACTS)
def simplified(case: Case) -> str:
    """RMSNormalization."""
    return _scaled(case, _uncentered(_axes(case, case["axis"], "x"), "@epsilon"))


def _scaled(case: Case, nodes: str) -> str:
    if case.is_typed("x", "double") != case.is_typed("gamma", "double"):
        case.unfit("'gamma' is of another type than 'x'")
    return f"{_widened(case, 'x', 'gamma')} {nodes} {_narrowed(case, 'y', 'gamma')}"


_SKIP = """(floats input, floats skip, floats gamma, floats beta, floats bias)
    => (y, mean, inv, sum) {
    y, mean, inv, sum = com.microsoft.SkipLayerNormalization <epsilon = @epsilon ? 1e-12>
        (input, skip, gamma, beta?, bias?) }"""
_SKIP_SIMPLIFIED = """(floats input, floats skip, floats gamma, floats bias)
    => (y, mean, inv, sum) {
    y, mean, inv, sum = com.microsoft.SkipSimplifiedLayerNormalization
        <epsilon = @epsilon ? 1e-12> (input, skip, gamma, bias?) }"""


def _rows_of_sum(case: Case) -> str:
    """Rows of the input, with those of a skip that has as many."""
    if case.rank("skip") < case.rank("input"):
        return "input"
    return "input; input skip" if case.size("skip", 0) == 1 else "input skip"


def _skipping(case: Case, nodes: str) -> str:
    """Nodes that add skip and bias in floats, before nodes on xW."""
    # In this order, in floats, and rounded once: 2048 + 1 + 1 of halves gives 2050.
    names = [name for name in case.operands if name != "input"]
    rounding = "Cast <to = 10>" if case.is_typed("input", "float16") else "Identity"
    return f"""{_widened(case, "input", *names)}
        s = Add (inputW, skipW)  xW = Add (s, biasW)  sum = {rounding} (xW)
        {nodes} {_narrowed(case, "y", "input")}"""


@defines(_SKIP, since=17, rows=_rows_of_sum, differs=_ORDER, **_FACTS)
def skip_17(case: Case) -> str:
    """LayerNormalization of input + skip + bias."""
    return _skipping(
        case, "yW, mean, inv = LayerNormalization <epsilon = @epsilon> (xW, gammaW, betaW)"
    )


@defines(_SKIP, rows=_rows_of_sum, differs=_ORDER, **_FACTS)
def skip(case: Case) -> str:
    """LayerNormalization of input + skip + bias."""
    return _skipping(case, _centered([-1], "@epsilon"))


@defines(_SKIP_SIMPLIFIED, since=23, rows=_rows_of_sum, **_FACTS)
def skip_simplified_23(case: Case) -> str:
    """RMSNormalization of input + skip + bias."""
    if "inv" in case.outputs:
        return skip_simplified(case)
    return _skipping(case, "yW = RMSNormalization <epsilon = @epsilon> (xW, gammaW)")


@defines(_SKIP_SIMPLIFIED, rows=_rows_of_sum, **_FACTS)
def skip_simplified(case: Case) -> str:
    """RMSNormalization of input + skip + bias."""
    return _skipping(case, _uncentered([-1], "@epsilon"))


@defines(
    """(integers ids, integers segments, floats words, floats places, floats kinds, floats gamma,
    floats beta, integers mask, integers positions) => (y, mask_index, sum) {
    y, mask_index, sum = com.microsoft.EmbedLayerNormalization <epsilon = @epsilon ? 1e-12,
    mask_index_type = @type int ?>
    (ids, segments?, words, places, kinds?, gamma, beta, mask?, positions?) }""",
    differs="mask_index is the number of ones of a mask, not the first zero",
    **_FACTS,
)
def embed(case: Case) -> str:
    """LayerNormalization of the sum of embeddings of words, positions and segments."""
    rounding = "Cast <to = 10>" if case.is_typed("words", "float16") else "Identity"
    return f"""{_widened(case, "words", "places", "kinds", "gamma", "beta")} {embeddings(case)}
        sum = {rounding} (xW) {_narrowed(case, "y", "words")}"""


def embeddings(case: Case) -> str:
    """Nodes of yW and mask_index from tables wordsW, placesW, kindsW, gammaW, betaW."""
    if case.has("positions"):
        rows = "rows = Gather <axis = 0> (placesW, positions)"
    else:
        rows = """sizes = Shape (ids)  length = Slice (sizes, [1], [2], [0])
            rows = Slice (placesW, [0], length, [0])"""
    if case.has("mask"):
        ones = "isOne = Equal (mask, 1)  ones = Cast <to = 6> (isOne)"
    else:
        ones = "same = Equal (ids, ids)  isNone = Not (same)  ones = Cast <to = 6> (isNone)"
    kinds = "kindRows = Gather <axis = 0> (kindsW, segments)" if case.has("segments") else ""
    added = "Add (both, kindRows)" if kinds else "Identity (both)"
    return f"""wordRows = Gather <axis = 0> (wordsW, ids) {rows} both = Add (wordRows, rows) {kinds}
        xW = {added}  {ones} mask_index = ReduceSum <axes = [1], keepdims = 0> (ones)
        {_centered([-1], "@epsilon")}"""


_DOCUMENTED = {"source": "docs/ContribOperators.md"}


def _grouped(case: Case, nodes: str) -> str:
    """Nodes that normalize groups of channels of an image that nodes name image."""
    groups, is_last = case["groups"], case["last"]
    channels, first = ([0, 3, 1, 2], [0, 2, 3, 1]) if is_last else ([0, 1, 2, 3], [0, 1, 2, 3])
    active = "active = Identity (shifted)"
    if case["activation"]:
        active = "gate = Sigmoid (shifted)  active = Mul (shifted, gate)"
    return f"""{nodes} imageF = Cast <to = 1> (image)
        inner = Transpose <perm = {channels}> (imageF)
        sizes = Shape (inner)  parts = Reshape <shape = [0, {groups}, -1]> (inner)
        mean = ReduceMean <axes = [2], keepdims = 1> (parts)  d = Sub (parts, mean)
        square = Mul (d, d)  variance = ReduceMean <axes = [2], keepdims = 1> (square)
        e = Add (variance, @epsilon)  root = Sqrt (e)  n = Div (d, root)
        normal = Reshape <allowzero = 1> (n, sizes)
        gammaF = Cast <to = 1> (gamma)  betaF = Cast <to = 1> (beta)
        scale = Reshape <shape = [1, -1, 1, 1]> (gammaF)
        bias1 = Reshape <shape = [1, -1, 1, 1]> (betaF)
        scaled = Mul (normal, scale)  shifted = Add (scaled, bias1) {active}
        outer = Transpose <perm = {first}> (active)
        y = Cast <to = {case.elem_type("x")}> (outer)"""


_GROUPS = """<epsilon = @epsilon ? 1e-5, groups = @groups int, activation = @activation int,
    channels_last = @last ? 1>"""


@defines(
    f"""(floats x[n, a, b, c], gamma, beta) => (y) {{
    y = com.microsoft.GroupNorm {_GROUPS} (x, gamma, beta) }}""",
    **_DOCUMENTED,
)
def group_norm(case: Case) -> str:
    """GroupNormalization of an image, with an activation."""
    return _grouped(case, "image = Identity (x)")


@defines(
    f"""(floats x[n, a, b, c], gamma, beta, floats skip, floats bias) => (y, sum) {{
    y, sum = com.microsoft.SkipGroupNorm {_GROUPS} (x, gamma, beta, skip, bias?) }}""",
    **_DOCUMENTED,
)
def skip_group_norm(case: Case) -> str:
    """GroupNormalization of the sum of an image, a skip and a bias."""
    if not case["last"]:
        case.unfit("its channels are not last")
    axes = "Unsqueeze <axes = [1, 2]>" if case.rank("skip") == 2 else "Identity"
    return _grouped(
        case, f"wide = {axes} (skip) s = Add (x, wide) image = Add (s, bias) sum = Identity (image)"
    )


@defines(
    """(floats x, scale, gate) => (y) { y = com.microsoft.GatedRMSNorm
    <activation = @activation ? "silu", epsilon = @epsilon ? 1e-5> (x, scale, gate) }""",
    **_FACTS,
)
def gated_rms_norm(case: Case) -> str:
    """RMSNormalization of groups of the last axis, times an activation of a gate."""
    if case["activation"] not in ("silu", "swish", "sigmoid"):
        case.unfit(f"its activation '{case['activation']}' is unknown")
    act = "act = Identity (s)" if case["activation"] == "sigmoid" else "act = Mul (gateF, s)"
    return f"""xF = Cast <to = 1> (x)  sizes = Shape (x)
        xW = Reshape <shape = [-1, {case.known_size("scale", 0)}]> (xF)
        gammaW = Cast <to = 1> (scale) {_uncentered([-1], "@epsilon")}
        whole = Reshape <allowzero = 1> (yW, sizes)
        gateF = Cast <to = 1> (gate)  s = Sigmoid (gateF) {act}
        product = Mul (whole, act)  y = Cast <to = {case.elem_type("x")}> (product)"""
