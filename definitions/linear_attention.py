"""Recurrent attention of com.microsoft: a state that each token updates."""

import math

from .attention import length_of
from .case import Case
from .registry import defines

_FACTS = {"source": "docs/ContribOperators.md", "tried": "onnxruntime 1.32.0"}


def _step(rule: str) -> str:
    """The body of a Scan over tokens: the state [B, H, K, V] after one, and its output."""
    operands = ["float state", "float q", "float k", "float v"]
    words, state = [], "state"
    if rule.startswith("gated"):
        operands.append("float g")
        words.append("decayed = Mul (state, g)")
        state = "decayed"
    value = "v"
    if rule.endswith("delta"):
        operands.append("float beta")
        words.append(
            f"found = MatMul (k, {state})  missing = Sub (v, found)  update = Mul (missing, beta)"
        )
        value = "update"
    return f"""({", ".join(operands)}) => (after, row) {{ {" ".join(words)}
        kT = Transpose <perm = [0, 1, 3, 2]> (k)  product = MatMul (kT, {value})
        after = Add ({state}, product)  row = MatMul (q, after) }}"""


def recurrence(rule: str, first: str) -> str:
    """Nodes of the last state, and of rows [T, B, H, G, V]."""
    names = ["q", "k", "v", *["g"] * rule.startswith("gated"), *["beta"] * rule.endswith("delta")]
    scanned = ", ".join(f"{name}Tokens" for name in names)
    return f"""last, rows = Scan <num_scan_inputs = {len(names)}, body = {_step(rule)}>
        ({first}, {scanned})"""


def _tokens(name: str, shape: str, result: str) -> str:
    """Nodes that split the heads of a value [B, T, ..] and put tokens first."""
    return f"""{result}F = Cast <to = 1> ({name})  {result}H = Reshape <shape = {shape}> ({result}F)
        {result}Tokens = Transpose <perm = [1, 0, 2, 3, 4]> ({result}H)"""


RULES = ("linear", "gated", "delta", "gated_delta")


@defines(
    """(floats query, floats key, floats value, past, floats decay, floats beta) => (y, present) {
    y, present = com.microsoft.LinearAttention <q_num_heads = @heads int,
    kv_num_heads = @groups int,
    scale = @scale ? 0.0, update_rule = @rule ? "gated_delta", chunk_size = @chunk ? 64,
    state_window = @window ? 0> (query, key, value, past?, decay?, beta?) }""",
    rows="query key value past decay beta",
    differs="keys that are not unit vectors may overflow",
    **_FACTS,
)
def linear_attention(case: Case) -> str:
    """Attention by a decaying state of products of keys and values."""
    rule, heads, groups = case["rule"], case["heads"], case["groups"]
    needed = ["decay"] * rule.startswith("gated") + ["beta"] * rule.endswith("delta")
    if rule not in RULES or case["window"] or not all(map(case.has, needed)):
        case.unfit("its rule is unknown or lacks an operand, or it keeps several states")
    if heads < 1 or groups < 1 or (heads % groups and groups % heads):
        case.unfit("the heads of keys and queries do not divide each other")
    keys, values = case.known_size("key", 2) // groups, case.known_size("value", 2) // groups
    words = []
    if groups > heads:  # each query is read by several states
        copies = groups // heads
        words.append(
            f"""qSplit = Reshape <shape = [0, 0, {heads}, 1, {keys}]> (query)
            qCopies = Tile <repeats = [1, 1, 1, {copies}, 1]> (qSplit)
            qAll = Reshape <shape = [0, 0, {groups * keys}]> (qCopies)"""
        )
    else:
        words.append("qAll = Identity (query)")
    shared = max(1, heads // groups)
    words.append(_tokens("qAll", f"[0, 0, {groups}, {shared}, {keys}]", "q"))
    words.append(_tokens("key", f"[0, 0, {groups}, 1, {keys}]", "k"))
    words.append(_tokens("value", f"[0, 0, {groups}, 1, {values}]", "v"))
    if "decay" in needed:
        width = 1 if case.known_size("decay", 2) == groups else keys
        words.append(_tokens("decay", f"[0, 0, {groups}, {width}, 1]", "d"))
        words.append("gTokens = Exp (dTokens)")
    if "beta" in needed:
        count = case.size("beta", 2)  # -1 is not decided where no token is
        words.append(_tokens("beta", f"[0, 0, {-1 if count is None else count}, 1, 1]", "beta"))
    if case.has("past"):
        words.append("first = Cast <to = 1> (past)")
    else:
        words.append(
            f"""{length_of("query", 0, "batch")}
            sizes = Concat <axis = 0> (batchV, [{groups}, {keys}, {values}])
            first = ConstantOfShape (sizes)"""
        )
    kind = case.elem_type("past" if case.has("past") else "query")
    if case.size("query", 1) == 0:  # onnxruntime refuses a Scan without a step (1.32)
        return f"""{words[-1]} {length_of("query", 0, "rowsBatch")}
            present = Cast <to = {kind}> (first)
            none = Concat <axis = 0> (rowsBatchV, [0, {groups * shared * values}])
            empty = ConstantOfShape (none)  y = Cast <to = {case.elem_type("query")}> (empty)"""
    scale = case["scale"] or 1 / math.sqrt(keys)
    return f"""{" ".join(words)} {recurrence(rule, "first")}
        present = Cast <to = {kind}> (last)  scaled = Mul (rows, {scale!r})
        ordered = Transpose <perm = [1, 0, 2, 3, 4]> (scaled)
        flat = Reshape <shape = [0, 0, {groups * shared * values}]> (ordered)
        y = Cast <to = {case.elem_type("query")}> (flat)"""


@defines(
    """(floats x, floats w, floats b, floats past) => (y, present) { y, present =
    com.microsoft.CausalConvWithState <activation = @activation ? "none", ndim = @ndim ? 1,
    dilation = @dilation ? 1, channels_last = @last ? 0, state_window = @window ? 0,
    state_update_capacity = @capacity ? 0> (x, w, b?, past?) }""",
    rows="x past",
    **_FACTS,
)
def causal_convolution(case: Case) -> str:
    """Depthwise convolution of the present and of the last inputs, which are kept."""
    if case["ndim"] != 1 or case["window"] or case["capacity"] or case.rank("x") != 3:
        case.unfit("it has more than one axis, or keeps several states")
    if case["activation"] not in ("none", "silu", "swish"):
        case.unfit(f"its activation '{case['activation']}' is unknown")
    channels = case.known_size("w", 0)
    count = (case.known_size("w", 2) - 1) * case["dilation"]
    moved = "Transpose <perm = [0, 2, 1]>" if case["last"] else "Identity"
    if case.has("past"):
        joined = f"pastC = {moved} (past)  all = Concat <axis = 2> (pastC, xC)"
    else:
        joined = f"all = Pad <pads = [0, 0, {count}, 0, 0, 0]> (xC)"
    # onnxruntime divides by zero channels (1.32), and convolves no input shorter than the taps.
    is_empty = 0 in (channels, case.size("x", 1 if case["last"] else 2))
    filtered = f"Conv <group = {channels}, dilations = [{case['dilation']}]> (all, w, b)"
    active = "active = Identity (c)"
    if case["activation"] != "none":
        active = "gate = Sigmoid (c)  active = Mul (c, gate)"
    return f"""xC = {moved} (x)  {joined}
        c = {"Identity (xC)" if is_empty else filtered} {active}
        y = {moved} (active)  total = Shape (all)  end = Slice (total, [2], [3], [0])
        start = Sub (end, [{count}])  kept = Slice (all, start, end, [2])
        present = {moved} (kept)"""
