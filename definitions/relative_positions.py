"""Biases of scores by relative positions, of com.microsoft."""

import math

from .case import Case
from .packing import restored
from .registry import defines

_DOC = {"source": "docs/ContribOperators.md"}


@defines(
    """(floats table, int64 queries, int64 keys) => (y) { y = com.microsoft.RelativePositionBias
    <is_bidirectional = @both ? 0, max_distance = @most int> (table, queries, keys) }""",
    differs="the memory of the table holds the buckets of one head after the other",
    **_DOC,
)
def relative_position_bias(case: Case) -> str:
    """Entries of a table by buckets of distances, wider the farther they are.

    The first half of the buckets are single distances, the others grow by their logarithm up to
    the largest distance. Without "both" a distance ahead counts as one behind.
    """
    buckets, heads = case.known_size("table", 0), case.known_size("table", 1)
    side = buckets // 2 if case["both"] else buckets
    exact = side // 2
    if exact < 1 or case["most"] <= exact:
        case.unfit("its distances are fewer than its buckets")
    factor = (side - exact) / math.log(case["most"] / exact)
    ahead = f"isAhead = Greater (way, 0)  shift = Where (isAhead, {side}, 0)"
    return f"""count = Squeeze (queries)  total = Squeeze (keys)
        rows = Range (0, count, 1)  row = Unsqueeze <axes = [1]> (rows)
        columns = Range (0, total, 1)  way = Sub (columns, row)
        {ahead if case["both"] else "shift = Sub (way, way)"}  far = Abs (way)
        isNear = Less (far, {exact})  least = Max (far, 1)  ratio = Cast <to = 1> (least)
        part = Div (ratio, {float(exact)})  log = Log (part)  scaled = Mul (log, {factor!r})
        whole = Cast <to = 7> (scaled)  large0 = Add (whole, {exact})
        large = Min (large0, {side - 1})  size = Where (isNear, far, large)
        bucket = Add (size, shift)  turned = Reshape <shape = [{heads}, {buckets}]> (table)
        bias = Gather <axis = 1> (turned, bucket)  y = Unsqueeze <axes = [0]> (bias)"""


@defines(
    """(floats query, floats queryBias, floats positions, floats weight, floats bias, floats eco,
    int32 offsets) => (y) { y = com.microsoft.GatedRelativePositionBias <num_heads = @heads int>
    (query, queryBias, positions, weight, bias, eco, offsets?) }""",
    **_DOC,
)
def gated_relative_position_bias(case: Case) -> str:
    """A bias by relative positions, times gates of the queries."""
    size, width = case.known_size("query", -1), case.known_size("weight", 1)
    heads = case["heads"]
    if size % heads or width % 2:
        case.unfit("its heads do not divide its queries, or it has an odd number of gates")
    whole = "all = Identity (query)"
    if case.has("offsets"):
        whole = f"{restored(case, 'query', 'query')} all = Identity (queryP)"
    return f"""{whole} moved = Add (all, queryBias)
        split = Reshape <shape = [0, 0, {heads}, {size // heads}]> (moved)
        q = Transpose <perm = [0, 2, 1, 3]> (split)  product = MatMul (q, weight)
        gates = Add (product, bias)
        pairs = Reshape <shape = [0, 0, 0, 2, {width // 2}]> (gates)
        sums = ReduceSum <axes = [4], keepdims = 0> (pairs)  gate = Sigmoid (sums)
        u, r = Split <axis = 3, split = [1, 1]> (gate)  scaled = Mul (r, eco)
        less = Sub (scaled, 1.0)  product2 = Mul (u, less)  factor = Add (product2, 2.0)
        y = Mul (factor, positions)"""
