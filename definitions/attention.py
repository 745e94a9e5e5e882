"""Attention operators of com.microsoft.

Scores are products of queries and keys, by heads. Masks are added to them: lengths and flags as the
filter value, the future as the lowest float, so that a row that is masked whole has the mean of all
values.
"""

import math
from collections.abc import Sequence

from .case import Case
from .registry import defines

_FACTS = {"source": "docs/ContribOperators.md", "tried": "onnxruntime 1.32.0"}
LOWEST = "-3.4028234663852886e38"


def to_heads(name: str, heads: int, result: str, head: int | None = None) -> str:
    """Nodes that give a value [B, S, N D] an axis of heads: [B, N, S, D].

    An open size of a head is -1, which an empty batch does not decide.
    """
    return f"""{result}Split = Reshape <shape = [0, 0, {heads}, {head or -1}]> ({name})
        {result} = Transpose <perm = [0, 2, 1, 3]> ({result}Split)"""


def from_heads(name: str, result: str, size: int | None = None) -> str:
    """Nodes that merge the axis of heads again, into one of a size."""
    return f"""{result}Moved = Transpose <perm = [0, 2, 1, 3]> ({name})
        {result} = Reshape <shape = [0, 0, {size or -1}]> ({result}Moved)"""


def length_of(name: str, axis: int, result: str) -> str:
    """Nodes of the length of an axis: a scalar, and a vector with V behind its name."""
    return f"""{result}All = Shape ({name})
        {result}V = Slice ({result}All, [{axis}], [{axis + 1}], [0])
        {result} = Squeeze <axes = [0]> ({result}V)"""


def widened(case: Case, like: str, *names: str) -> str:
    """Nodes that cast values of half precision to floats, with W behind their names."""
    cast = "Cast <to = 1>" if case.is_typed(like, "float16") else "Identity"
    return " ".join(f"{name}W = {cast} ({name})" for name in names)


def narrowed(case: Case, like: str, name: str) -> str:
    """A node that rounds nameW to half precision where an operand has that."""
    cast = "Cast <to = 10>" if case.is_typed(like, "float16") else "Identity"
    return f"{name} = {cast} ({name}W)"


def scaled(case: Case, size: int | None) -> str:
    """Nodes of scaled, the scores times an attribute, or over the root of a size.

    Args:
        size: the size of a head of q; None where it is open.
    """
    if case["scale"]:
        return "scaled = Mul (plain, @scale)"
    if size is not None:
        return f"scaled = Mul (plain, {1 / math.sqrt(size)!r})"
    return f"""{length_of("q", 3, "width")} widthF = Cast <to = 1> (width)
        root = Sqrt (widthF)  scaled = Div (plain, root)"""


def head_size(case: Case, name: str, heads: int) -> int | None:
    """The size of a head of a value [B, S, N D]; None where it is open."""
    size = case.size(name, 2)
    if heads < 1 or (size or 0) % heads:
        case.unfit(f"the heads do not divide '{name}'")
    return None if size is None else size // heads


def bias_of(case: Case) -> str:
    """The operand that is added to scores; empty for none."""
    return "bias" if case.has("bias") else ""


def _by_lengths(mask: str, value: str, has_starts: bool) -> str:
    """Nodes of a mask by lengths [B], also of ends and starts [2 B].

    Lengths and offsets [3 B + 2] are read as lengths: the kernel on a CPU reads no offsets.
    """
    words = [
        f"""{length_of("q", 0, "batch")}  ends = Slice ({mask}, [0], batchV, [0])
        endsL = Cast <to = 7> (ends)  endsC = Unsqueeze <axes = [1]> (endsL)
        isInside = Less (columns, endsC)"""
    ]
    if has_starts:
        words.append(
            f"""{length_of(mask, 0, "maskSize")}  two = Add (batch, batch)
            isPair = Equal (maskSize, two)  rest = Slice ({mask}, batchV, [{2**31 - 1}], [0])
            none = Sub (ends, ends)  padded = Concat <axis = 0> (rest, none)
            starts = Slice (padded, [0], batchV, [0])  offsets = Where (isPair, starts, none)
            startsL = Cast <to = 7> (offsets)  startsC = Unsqueeze <axes = [1]> (startsL)
            isEarly = Less (columns, startsC)  isBehind = Not (isInside)
            isMasked = Or (isBehind, isEarly)  chosen = Where (isMasked, {value}, 0.0)"""
        )
    else:
        words.append(f"chosen = Where (isInside, 0.0, {value})")
    return " ".join([*words, "maskValues = Unsqueeze <axes = [1, 2]> (chosen)"])


def mask_of_lengths(lengths: str, value: str) -> str:
    """Nodes of allMasks, which is a value for the keys from a length [B] on."""
    return f"""{length_of("k", 2, "total")} columns = Range (0, total, 1)
        {_by_lengths(lengths, value, False)} allMasks = Identity (maskValues)"""


def _by_flags(mask: str, rank: int, value: str) -> str:
    """Nodes of a mask of rank 4 by flags [B, T] or [B, S, T]."""
    axes = [1, 2] if rank == 2 else [1]
    return f"""isSeen = Greater ({mask}, 0)  chosen = Where (isSeen, 0.0, {value})
        maskValues = Unsqueeze <axes = {axes}> (chosen)"""


def masked(case: Case, operand: str, is_causal: bool, has_starts: bool = False) -> str:
    """Nodes of allMasks, which is added to scores of q and k.

    Args:
        operand: the operand with lengths or flags.
        is_causal: mask the future.
        has_starts: the lengths may be ends and starts.
    """
    # It is added, not put in place: a row that is masked whole keeps the order of its scores.
    value = repr(case["filter"])
    words = [length_of("k", 2, "total"), "columns = Range (0, total, 1)"]
    if case.has(operand):
        rank = case.rank(operand)
        if rank not in (1, 2, 3):
            case.unfit(f"'{operand}' has rank {rank}")
        words.append(
            _by_lengths(operand, value, has_starts)
            if rank == 1
            else _by_flags(operand, rank, value)
        )
    if is_causal:
        # The future gets the lowest float, whatever the filter value is.
        base = "maskValues" if case.has(operand) else "0.0"
        words += [
            length_of("q", 2, "count"),
            "earlier = Sub (total, count)  firstRows = Range (0, count, 1)",
            "rows = Add (firstRows, earlier)  rowsC = Unsqueeze <axes = [1]> (rows)",
            f"isFuture = Greater (columns, rowsC)  allMasks = Where (isFuture, {LOWEST}, {base})",
        ]
    elif case.has(operand):
        words.append("allMasks = Identity (maskValues)")
    else:
        return ""
    return " ".join(words)


def weighted(scaling: str, bias: str, masks: str) -> str:
    """Nodes of heads, the weighted mean of v, and of qk, the masked scores.

    Args:
        scaling: nodes of scaled.
        bias: an operand that is added to them; empty for none.
        masks: nodes of allMasks, which is added, too; empty for none.
    """
    scores = ["kT = Transpose <perm = [0, 1, 3, 2]> (k)  plain = MatMul (q, kT)"]
    scores.append(f"{scaling} {masks}")
    scores.append(f"biased = Add (scaled, {bias})" if bias else "biased = Identity (scaled)")
    scores.append("scores = Add (biased, allMasks)" if masks else "scores = Identity (biased)")
    scores.append("qk = Identity (scores)  weights = Softmax <axis = -1> (scores)")
    return " ".join([*scores, "heads = MatMul (weights, v)"])


def _rows_of_attention(case: Case) -> str:
    stays = any(map(case.has, ("mask_index", "past", "bias", "past_length")))
    return "" if stays or "present" in case.outputs else "x"


@defines(
    """(float x, float w, float b, int32 mask_index, float past, float bias, int32 past_length)
    => (y, present) { y, present = com.microsoft.Attention <num_heads = @heads int,
    scale = @scale float ?, mask_filter_value = @filter ? -10000.0, unidirectional = @causal ? 0,
    do_rotary = @rotary ? 0,
    past_present_share_buffer = @shares ? 0, qkv_hidden_sizes = @sizes ints ?,
    rotary_embedding_dim = @rotary_size ? 0>
    (x, w, b?, mask_index?, past?, bias?, past_length?) }""",
    rows=_rows_of_attention,
    differs="a row that is masked whole by the default filter value is as if it was not masked",
    **_FACTS,
)
def attention(case: Case) -> str:
    """Self-attention with the three projections in one product."""
    # A shared buffer is written in place, which a graph without side effects cannot express.
    if case["rotary"] or case["shares"]:
        case.unfit("it rotates, or shares the buffer of past and present")
    # Without sizes of its own the product holds three parts of one width.
    sizes = case["sizes"] or (case.known_size("w", 1) // 3,) * 3
    masks = masked(case, "mask_index", case["causal"], True)
    return self_attention(case, sizes, bias_of(case), masks)


def self_attention(
    case: Case, sizes: Sequence[int], bias: str, masks: str, result: str = "y"
) -> str:
    """Nodes of attention of x, whose product with w has queries, keys and values.

    Args:
        sizes: the sizes of queries, keys and values.
        bias: an operand that is added to scores; empty for none.
        masks: nodes of allMasks, which is added, too; empty for none.
        result: the name of the result.
    """
    heads = case["heads"]
    scale = scaled(case, sizes[0] // heads)
    # The first axis of past and present holds keys and values.
    if case.has("past"):
        pasts = """pastK = Gather <axis = 0> (past, 0)  pastV = Gather <axis = 0> (past, 1)
            k = Concat <axis = 2> (pastK, newK)  v = Concat <axis = 2> (pastV, newV)"""
    else:
        pasts = "k = Identity (newK)  v = Identity (newV)"
    return f"""product = MatMul (x, w)  all = Add (product, b)
        qFlat, kFlat, vFlat = Split <axis = 2, split = {list(sizes)}> (all)
        {to_heads("qFlat", heads, "q", sizes[0] // heads)}
        {to_heads("kFlat", heads, "newK", sizes[1] // heads)}
        {to_heads("vFlat", heads, "newV", sizes[2] // heads)} {pasts}
        keys = Unsqueeze <axes = [0]> (k)  values = Unsqueeze <axes = [0]> (v)
        present = Concat <axis = 0> (keys, values)
        {weighted(scale, bias, masks)}
        {from_heads("heads", result, sizes[2])}"""


def _projected(case: Case, name: str, result: str) -> str:
    """Nodes of a key or value with heads, which a cross attention may have already."""
    if case.rank(name) == 4:
        if case.has("b"):
            case.unfit("it adds a bias to keys that have heads")
        return f"{result} = Identity ({name})"
    head = head_size(case, name, case["heads"])
    return to_heads(f"{name}B", case["heads"], result, head)


def _biased(case: Case) -> str:
    """Nodes that add the parts of the bias to queries, keys and values."""
    names = [name for name in ("query", "key", "value") if case.rank(name) == 3]
    if not case.has("b"):
        return " ".join(f"{name}B = Identity ({name})" for name in names)
    # The bias is one vector of three parts; that of keys is in the present keys, too.
    return f"""{length_of("query", 2, "qSize")} {length_of("key", 2, "kSize")}
        bothSizes = Add (qSizeV, kSizeV)
        queryPart = Slice (b, [0], qSizeV, [0])  queryB = Add (query, queryPart)
        keyPart = Slice (b, qSizeV, bothSizes, [0])  keyB = Add (key, keyPart)
        valuePart = Slice (b, bothSizes, [{2**31 - 1}], [0])  valueB = Add (value, valuePart)"""


_MULTI_HEAD = """(float query, float key, float value, float b, int32 mask, float bias,
    float past_key, float past_value, int32 past_length, int32 indirection)
    => (y, present_key, present_value, qk) {
    y, present_key, present_value, qk = com.microsoft.MultiHeadAttention <num_heads = @heads int,
    scale = @scale float ?, mask_filter_value = @filter ? -10000.0, unidirectional = @causal ? 0>
    (query, key?, value?, b?, mask?, bias?, past_key?, past_value?, past_length?, indirection?) }"""


def _rows_of_heads(case: Case) -> str:
    stays = any(map(case.has, ("mask", "bias", "past_length")))
    return "" if stays else "query key value past_key past_value"


@defines(
    _MULTI_HEAD,
    rows=_rows_of_heads,
    differs="unidirectional with more keys than queries and no past: the last row sees all keys",
    **_FACTS,
)
def multi_head_attention(case: Case) -> str:
    """Attention of projected queries, keys and values."""
    if not (case.has("key") and case.has("value")) or case.has("indirection"):
        case.unfit("its keys or values are packed, or read through beams")
    if case["causal"] and not case.has("past_key"):
        axis = 1 if case.rank("key") == 3 else 2
        counts = case.size("query", 1), case.size("key", axis)
        if None not in counts and counts[0] != counts[1]:
            case.unfit("onnxruntime 1.32 does not mask the last row of fewer queries than keys")
    heads = case["heads"]
    head = head_size(case, "query", heads)
    scale, masks = scaled(case, head), masked(case, "mask", case["causal"])
    size = case.size("value", case.rank("value") - 1)
    if size is not None and case.rank("value") == 4:
        size *= heads
    return f"""{_biased(case)} {to_heads("queryB", heads, "q", head)}
        {_projected(case, "key", "newK")} {_projected(case, "value", "newV")}
        k = Concat <axis = 2> (past_key, newK)  v = Concat <axis = 2> (past_value, newV)
        present_key = Identity (k)  present_value = Identity (v)
        {weighted(scale, bias_of(case), masks)}
        {from_heads("heads", "y", size)}"""


@defines(
    """(float query, float key, float value, int32 mask, float bias, float past_key,
    float past_value, int32 past_length, int32 beams, int32 indirection, float b)
    => (y, present_key, present_value, qk) { y, present_key, present_value, qk =
    com.microsoft.DecoderMaskedMultiHeadAttention <num_heads = @heads int, scale = @scale float ?,
    mask_filter_value = @filter ? -10000.0, past_present_share_buffer = @shares ? 0,
    output_qk = @output_qk ? 0>
    (query, key?, value?, mask?, bias?, past_key?, past_value?, past_length?, beams?, indirection?,
    b?) }""",
    **_FACTS,
)
def decoder_masked_attention(case: Case) -> str:
    """Attention of one token, whose key and value go to their row of the past."""
    if not (case.has("key") and case.has("value")) or case.has("indirection"):
        case.unfit("its keys or values are packed, or read through beams")
    scale = scaled(case, head_size(case, "query", case["heads"]))
    masks = masked(case, "mask", False)
    if case.rank("key") == 4 and not case.has("b"):  # those of a cross attention
        return f"""{to_heads("query", case["heads"], "q")}
            k = Identity (key)  v = Identity (value)
            {weighted(scale, bias_of(case), masks)} {from_heads("heads", "y")}"""
    if not all(map(case.has, ("past_key", "past_value", "past_length"))) or not case["shares"]:
        case.unfit("it has no buffer of past and present of its own")
    rows = " ".join(
        f"""{to_heads(f"{name}B", case["heads"], f"{name}New")}
        present_{name} = Where (isNew, {name}New, past_{name})
        {name[0]} = Slice (present_{name}, [0], seen, [2])"""
        for name in ("key", "value")
    )
    return f"""{_biased(case)} {to_heads("queryB", case["heads"], "q")}
        {length_of("past_key", 2, "room")}  places = Range (0, room, 1)
        wide = Cast <to = 7> (past_length)  row = Reshape <shape = [1]> (wide)
        seen = Add (row, 1)  isRow = Equal (places, row)
        isNew = Unsqueeze <axes = [0, 1, 3]> (isRow)  {rows}
        {weighted(scale, bias_of(case), masks)}
        {from_heads("heads", "y")}"""
