"""GatedDeltaNet of com.microsoft."""

import math

from .attention import length_of
from .case import Case
from .linear_attention import RULES, recurrence
from .registry import defines

_FACTS = {"source": "docs/ContribOperators.md", "tried": "onnxruntime 1.32.0"}


@defines(
    """(floats query, floats key, floats value, cu, decay, beta, past, a_log, dt_bias)
    => (y, last_state) { y, last_state = com.microsoft.GatedDeltaNet <scale = @scale ? 0.0,
    update_rule = @rule ? "gated_delta", qk_l2_norm = @norm ? 0, chunk_size = @chunk ? 64,
    gate_activation = @gate ? "none", beta_activation = @beta_activation ? "none",
    gate_lower_bound = @bound ? -5.0, state_update_capacity = @capacity ? 0>
    (query, key?, value?, cu?, decay?, beta?, past?, a_log?, dt_bias?) }""",
    **_FACTS,
)
def gated_delta_net(case: Case) -> str:
    """LinearAttention of tokens [T, H, D] or [B, T, H, D], with the state transposed."""
    rule, tokens = case["rule"], case.rank("query") - 2
    needed = ["decay"] * rule.startswith("gated") + ["beta"] * rule.endswith("delta")
    if rule not in RULES or not all(map(case.has, ("key", "value", *needed))):
        case.unfit("its rule is unknown or lacks an operand, or its input is packed")
    plain = case["gate"] in ("none", "softplus") and case["beta_activation"] in ("none", "sigmoid")
    if case["capacity"] or not plain:
        case.unfit("it records updates, or an activation is unknown")
    heads, states = case.known_size("key", -2), case.known_size("value", -2)
    keys, values = case.known_size("key", -1), case.known_size("value", -1)
    if case.known_size("query", -2) != heads or states % heads:
        case.unfit("the heads of queries are not those of keys, or do not divide those of values")
    scale = case["scale"] or 1 / math.sqrt(keys)
    shape = f"{'0, ' * (tokens - 1)}-1, {states}, {values}"
    return f"""{_first_state(case, [states, keys, values])} {_PLACES if case.has("cu") else ""}
        {_of_unit_length(case, "query", heads, states, keys, "q")}
        {_of_unit_length(case, "key", heads, states, keys, "k")}
        {_in_rows(case, "value")} {_per_state("valueF", states, states, 1, values, "v")}
        {_gates(case, states, keys) if "decay" in needed else ""}
        {_rates(case, states) if "beta" in needed else ""}
        {recurrence(rule, "first")}
        moved = Transpose <perm = [0, 1, 3, 2]> (last)
        last_state = Cast <to = {case.elem_type("past" if case.has("past") else "query")}> (moved)
        scaled = Mul (rows, {scale!r})  ordered = Transpose <perm = [1, 0, 2, 3, 4]> (scaled)
        {"flat" if case.has("cu") else "tokens"} = Reshape <shape = [{shape}]> (ordered)
        {"tokens = Gather <axis = 0> (flat, back)" if case.has("cu") else ""}
        y = Cast <to = {case.elem_type("query")}> (tokens)"""


def _first_state(case: Case, sizes: list[int]) -> str:
    """Nodes of the state at the beginning, and of the number of sequences."""
    if case.has("past"):
        return f"""{length_of("past", 0, "batch")}  pastF = Cast <to = 1> (past)
            first = Transpose <perm = [0, 1, 3, 2]> (pastF)"""
    if case.has("cu") or case.rank("query") != 4 or not case.is_typed("query", "float"):
        case.unfit("it has no state at the beginning")
    return f"""{length_of("query", 0, "batch")}  stateShape = Concat <axis = 0> (batchV, {sizes})
        first = ConstantOfShape (stateShape)"""


# Sequences of several lengths become rows of the longest one. A key of zeros with a decay of e^0
# leaves the state as it is, so that only they are masked behind the end of a sequence.
_PLACES = f"""cuL = Cast <to = 7> (cu)  starts = Slice (cuL, [0], [-1], [0])
    ends = Slice (cuL, [1], [{2**31 - 1}], [0])  lengths = Sub (ends, starts)
    longest = ReduceMax <keepdims = 0> (lengths)  each = Range (0, longest, 1)
    startsC = Unsqueeze <axes = [1]> (starts)  endsC = Unsqueeze <axes = [1]> (ends)
    positions = Add (startsC, each)  isToken = Less (positions, endsC)
    flags = Cast <to = 1> (isToken)  kept = Reshape <shape = [-1]> (flags)
    {length_of("query", 0, "count")}  lastToken = Sub (count, 1)
    bounded = Min (positions, lastToken)  places = Reshape <shape = [-1]> (bounded)
    numbers = Range (0, count, 1)  numbersC = Unsqueeze <axes = [1]> (numbers)
    isBehind = LessOrEqual (ends, numbersC)  counted = Cast <to = 7> (isBehind)
    sequences = ReduceSum <axes = [1], keepdims = 0> (counted)
    begins = Gather <axis = 0> (starts, sequences)  offsets = Sub (numbers, begins)
    rowsBefore = Mul (sequences, longest)  back = Add (rowsBefore, offsets)"""


def _in_rows(case: Case, name: str, is_masked: bool = False) -> str:
    """Nodes of tokens as floats, named with F behind, in rows of one length."""
    if not case.has("cu"):
        return f"{name}F = Cast <to = 1> ({name})"
    moved = f"{name}C = Cast <to = 1> ({name})  {name}G = Gather <axis = 0> ({name}C, places)"
    axes = list(range(1, case.rank(name)))
    return f"""{moved}  {name}M = Unsqueeze <axes = {axes}> (kept)
        {name}F = {f"Mul ({name}G, {name}M)" if is_masked else f"Identity ({name}G)"}"""


def _of_unit_length(case: Case, name: str, heads: int, states: int, size: int, result: str) -> str:
    """Nodes of queries or keys, which may be brought to length 1."""
    unit = f"{name}N = Identity ({name}F)"
    if case["norm"]:
        unit = f"""{name}Q = Mul ({name}F, {name}F)
            {name}S = ReduceSum <axes = [-1], keepdims = 1> ({name}Q)
            {name}E = Add ({name}S, 1e-6)  {name}R = Sqrt ({name}E)
            {name}N = Div ({name}F, {name}R)"""
    rows = _per_state(f"{name}N", heads, states, 1, size, result)
    return f"{_in_rows(case, name, name == 'key')} {unit} {rows}"


def _rates(case: Case, states: int) -> str:
    """Nodes of the rates of updates."""
    rate = "Sigmoid" if case["beta_activation"] == "sigmoid" else "Identity"
    rows = _per_state("rate", states, states, 1, 1, "beta")
    return f"{_in_rows(case, 'beta')} rate = {rate} (betaF) {rows}"


def _gates(case: Case, states: int, keys: int) -> str:
    """Nodes of the factors of decays."""
    width = keys if case.rank("decay") == case.rank("query") else 1
    rows = _per_state("gate", states, states, width, 1, "log")
    masked = "gate = Identity (gateF)"
    if case.has("cu"):
        masked = f"""keptD = Unsqueeze <axes = {list(range(1, case.rank("decay")))}> (kept)
            gate = Mul (gateF, keptD)"""
    return f"""{_in_rows(case, "decay")} {_gate(case, width)} {masked} {rows}
        gTokens = Exp (logTokens)"""


def _gate(case: Case, width: int) -> str:
    """Nodes of the logarithms of decays."""
    if case["gate"] == "none":
        return "gateF = Identity (decayF)"
    if not (case.has("a_log") and case.has("dt_bias")):
        case.unfit("its gate lacks an operand")
    shape = "[1, -1, 1]" if width > 1 else "[1, -1]"
    bias = f"[1, -1, {width}]" if width > 1 and case.rank("dt_bias") > 1 else shape
    return f"""bias = Reshape <shape = {bias}> (dt_bias)  biasF = Cast <to = 1> (bias)
        shifted = Add (decayF, biasF)  soft = Softplus (shifted)
        a = Reshape <shape = {shape}> (a_log)  aF = Cast <to = 1> (a)  rise = Exp (aF)
        steps = Mul (rise, soft)  gateF = Neg (steps)"""


def _per_state(name: str, heads: int, states: int, rows: int, width: int, result: str) -> str:
    """Nodes that make [T, B, states, rows, width] of tokens [B T, heads, ..]."""
    copies = states // heads
    split = f"{result}Copies = Identity ({name})"
    if copies > 1:
        split = f"""{result}One = Reshape <shape = [-1, {heads}, 1, {rows * width}]> ({name})
            {result}Copies = Tile <repeats = [1, 1, {copies}, 1]> ({result}One)"""
    return f"""{split} {result}Shape = Concat <axis = 0> (batchV, [-1, {states}, {rows}, {width}])
        {result}Rows = Reshape ({result}Copies, {result}Shape)
        {result}Tokens = Transpose <perm = [1, 0, 2, 3, 4]> ({result}Rows)"""
