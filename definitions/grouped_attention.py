"""Grouped attention with a cache, of com.microsoft."""

from .attention import LOWEST, bias_of, from_heads, length_of, narrowed, scaled, to_heads, widened
from .case import Case
from .registry import defines
from .rotations import rotated

_FACTS = {"source": "docs/ContribOperators.md", "tried": "onnxruntime 1.32.0"}


def _operands(case: Case) -> tuple[str, int | None]:
    """Nodes of queries, keys and values with heads, and the size of a head."""
    heads, groups = case["heads"], case["groups"]
    if heads < 1 or groups < 1 or heads % groups:
        case.unfit("the heads of keys do not divide those of queries")
    size = case.size("query", 2)
    if case.has("key") != case.has("value"):
        case.unfit("it has keys without values, or values without keys")
    if case.has("key"):
        words = "q0 = Identity (query)  k0 = Identity (key)  v0 = Identity (value)"
        head = None if size is None else size // heads
    else:
        if size is None:
            case.unfit("the size of its packed input is not known")
        head = size // (heads + 2 * groups)
        sizes = [heads * head, groups * head, groups * head]
        words = f"q0, k0, v0 = Split <axis = 2, split = {sizes}> (query)"
    return (
        f"""{words} {to_heads("q0", heads, "qH", head)} {to_heads("k0", groups, "kH", head)}
        {to_heads("v0", groups, "newV", head)}""",
        head,
    )


def _is_full(case: Case) -> bool:
    """Test that all new rows stand behind a whole cache, in every sequence."""
    lengths, total = case.constant("lengths"), case.constant("total_length")
    count = case.size("query", 1)
    room = case.size("past_key", 2) if case.has("past_key") else 0
    if lengths is None or total is None or count is None or room is None:
        return False
    return bool((lengths == room + count - 1).all() and (total == room + count).all())


def _places(case: Case) -> str:
    """Nodes of the lengths of the past and of the positions of queries [B, S]."""
    # Lengths hold the last position of each row, T - 1; a prompt has no past, whatever they say.
    return f"""{length_of("q0", 1, "count")}
        lasts = Reshape <shape = [-1]> (lengths)  lastsL = Cast <to = 7> (lasts)
        ends = Add (lastsL, 1)  total0 = Reshape <shape = [1]> (total_length)
        totalV = Cast <to = 7> (total0)  total = Squeeze <axes = [0]> (totalV)
        isPrompt = Equal (total, count)  decoded = Sub (ends, count)  none = Sub (ends, ends)
        pasts = Where (isPrompt, none, decoded)  pastsC = Unsqueeze <axes = [1]> (pasts)
        each = Range (0, count, 1)  rows = Add (pastsC, each)"""


def _rotated(case: Case, head: int | None) -> str:
    """Nodes that rotate queries and keys."""
    if not case["rotary"]:
        return "q1 = Identity (qH)  newK = Identity (kH)"
    if not (case.has("cos") and case.has("sin")):
        case.unfit("it rotates without caches")
    size = 2 * case.known_size("cos", 1)
    # Rows behind the end of a sequence lie outside of the caches; nothing reads them.
    places = "places = Min (rows, lastPlace)"
    # Of a prompt the kernel reads the first position alone, and counts on (1.32).
    if case.has("positions"):
        places = """first = Slice (positions, [0, 0], [1, 1], [0, 1])  prompt = Add (first, each)
            noRow = Sub (rows, rows)  prompts = Add (noRow, prompt)
            places = Where (isPrompt, prompts, positions)"""
    interleaved = bool(case["interleaved"])
    return f"""{length_of("cos", 0, "cached")} lastPlace = Sub (cached, 1) {places}
        {widened(case, "query", "cos", "sin", "qH", "kH")}
        cosP = Gather <axis = 0> (cosW, places)  sinP = Gather <axis = 0> (sinW, places)
        cosH = Unsqueeze <axes = [1]> (cosP)  sinH = Unsqueeze <axes = [1]> (sinP)
        {rotated("qHW", "cosH", "sinH", size, interleaved, "q1W")} {narrowed(case, "query", "q1")}
        {rotated("kHW", "cosH", "sinH", size, interleaved, "newKW")}
        {narrowed(case, "query", "newK")}"""


def _cached(case: Case) -> str:
    """Nodes of the present keys and values, and of those up to the total length."""
    if _is_full(case):
        joined = "Concat <axis = 2> (past_{0}, {1})" if case.has("past_key") else "Identity ({1})"
        return " ".join(
            f"present_{kind} = {joined.format(kind, new)}  {kind[0]} = Identity (present_{kind})"
            for kind, new in (("key", "newK"), ("value", "newV"))
        )
    if not case.has("past_key"):
        return """present_key = Identity (newK)  k = Slice (newK, [0], totalV, [2])
            present_value = Identity (newV)  v = Slice (newV, [0], totalV, [2])"""
    # A new row goes behind the past of its own sequence, so rows are gathered, not joined.
    words = [
        f"""{length_of("past_key", 2, "room")}  missing = Sub (total, room)
        more = Max (missing, 0)  moreV = Reshape <shape = [1]> (more)
        length = Add (room, more)  columnsAll = Range (0, length, 1)
        offsets = Sub (columnsAll, pastsC)  lastRow = Sub (count, 1)  low = Max (offsets, 0)
        chosen = Min (low, lastRow)  isSame = Equal (chosen, offsets)
        isBefore = Less (columnsAll, pastsC)  isOld = Unsqueeze <axes = [1, 3]> (isBefore)
        isNew = Unsqueeze <axes = [1, 3]> (isSame)  source = Unsqueeze <axes = [1, 3]> (chosen)"""
    ]
    for kind, new in (("key", "newK"), ("value", "newV")):
        words.append(
            f"""{kind}Sizes = Shape ({new})  {kind}Outer = Slice ({kind}Sizes, [0], [2], [0])
            {kind}Inner = Slice ({kind}Sizes, [3], [4], [0])
            {kind}Pad = Concat <axis = 0> ({kind}Outer, moreV, {kind}Inner)
            {kind}Zero = Slice ({new}, [0], [1], [2])  {kind}None = Sub ({kind}Zero, {kind}Zero)
            {kind}Zeros = Expand ({kind}None, {kind}Pad)
            {kind}Past = Concat <axis = 2> (past_{kind}, {kind}Zeros)
            {kind}Full = Shape ({kind}Past)  {kind}Index = Expand (source, {kind}Full)
            {kind}New = GatherElements <axis = 2> ({new}, {kind}Index)
            {kind}Old = Where (isOld, {kind}Past, 0.0)
            present_{kind} = Where (isNew, {kind}New, {kind}Old)
            {kind[0]} = Slice (present_{kind}, [0], totalV, [2])"""
        )
    return " ".join(words)


def _scores(case: Case, scaling: str, blocks: str) -> str:
    """Nodes of the masked scores of queries and cached keys.

    Args:
        scaling: nodes of scaled.
        blocks: nodes of isOpen [B, N, S, T], the keys that are not masked besides; empty for all.
    """
    heads, groups = case["heads"], case["groups"]
    copies = heads // groups
    repeats = " ".join(
        f"""{name}C = Cast <to = 1> ({name})  {name}U = Unsqueeze <axes = [2]> ({name}C)
        {name}T = Tile <repeats = [1, 1, {copies}, 1, 1]> ({name}U)
        {name}Shape = Shape ({name}C)  {name}Ends = Slice ({name}Shape, [2], [4], [0])
        {name}Batch = Slice ({name}Shape, [0], [1], [0])
        {name}Sizes = Concat <axis = 0> ({name}Batch, [{heads}], {name}Ends)
        {name}R = Reshape ({name}T, {name}Sizes)"""
        for name in ("k", "v")
    )
    capped = "capped = Identity (scaled)"
    # The cap comes before bias and mask.
    if case["softcap"]:
        capped = """lowered = Div (scaled, @softcap)  bounded = Tanh (lowered)
            capped = Mul (bounded, @softcap)"""
    bias = "biasW = Cast <to = 1> (bias)" if bias_of(case) else ""
    limits = ["isInside = Less (columns, endsC)"]
    if case["causal"]:
        limits.append("isPast = LessOrEqual (columns, rowsC)  isKnown = And (isInside, isPast)")
    else:
        limits.append("isKnown = Identity (isInside)")
    window = case["window"]
    if window > 0:
        limits.append(
            f"""oldest = Sub (rowsC, {window})  isRecent = Greater (columns, oldest)
            isSeen = And (isKnown, isRecent)"""
        )
    else:
        limits.append("isSeen = Identity (isKnown)")
    raw = f"""{repeats} q = Cast <to = 1> (q1)  kX = Transpose <perm = [0, 1, 3, 2]> (kR)
        plain = MatMul (q, kX) {scaling} {capped} {bias}
        biased = {"Add (capped, biasW)" if bias else "Identity (capped)"}"""
    sees_all = _is_full(case) and not (case["causal"] or window > 0 or blocks)
    if sees_all and "scored" not in case.outputs:
        return f"{raw} scores = Identity (biased)"
    return f"""{raw} columns = Range (0, total, 1)  endsC = Unsqueeze <axes = [1, 2]> (ends)
        rowsC = Unsqueeze <axes = [2]> (rows)  {" ".join(limits)}
        isSeenU = Unsqueeze <axes = [1]> (isSeen)  {blocks}
        isSeenH = {"And (isSeenU, isOpen)" if blocks else "Identity (isSeenU)"}
        scores = Where (isSeenH, biased, {LOWEST})"""


def _weights(case: Case) -> str:
    """Nodes of the weights, whose denominator may have one more summand for each head."""
    # Smoothing adds exp(0) to the denominator, a sink the exponential of its head's number.
    if not (case["smooth"] or case.has("sink")):
        return "weights = Softmax <axis = -1> (scores)"
    extra = "more0 = Identity (noScore)"
    if case.has("sink"):
        extra = f"""sinkW = Cast <to = 1> (sink)
            sinkH = Reshape <shape = [1, {case["heads"]}, 1, 1]> (sinkW)
            more0 = Add (noScore, sinkH)"""
    return f"""oneScore = Slice (q, [0], [1], [3])  noScore = Sub (oneScore, oneScore) {extra}
        longer = Concat <axis = 3> (scores, more0)  all = Softmax <axis = -1> (longer)
        weights = Slice (all, [0], [-1], [3])"""


def _scored(case: Case) -> str:
    """Nodes of the scores, 0 where they are masked, or of the weights."""
    if "scored" not in case.outputs:
        return ""
    if case["qk"] not in (1, 2):
        case.unfit(f"there are no scores of kind {case['qk']}")
    values = "Where (isSeenH, biased, 0.0)" if case["qk"] == 1 else "Identity (weights)"
    return f"scoredW = {values}  {narrowed(case, 'query', 'scored')}"


def _rows(case: Case) -> str:
    stays = case.has("positions") or case.has("bias")
    return "" if stays else "query key value past_key past_value lengths"


@defines(
    """(floats query, floats key, floats value, floats past_key, floats past_value, int32 lengths,
    int32 total_length, floats cos, floats sin, int64 positions, floats bias, floats sink)
    => (y, present_key, present_value, scored) { y, present_key, present_value, scored =
    com.microsoft.GroupQueryAttention <num_heads = @heads int, kv_num_heads = @groups int,
    do_rotary = @rotary ? 0, rotary_interleaved = @interleaved ? 0, scale = @scale float ?,
    softcap = @softcap ? 0.0, local_window_size = @window ? -1, causal = @causal ? 1,
    smooth_softmax = @smooth ? 0, qk_output = @qk ? 0, sliding_window_cache = @sliding ? 0,
    kv_cache_bit_width = @bits ? 0, k_quant_type = @k_type ? "NONE",
    v_quant_type = @v_type ? "NONE", qk_norm_epsilon = @epsilon float ?>
    (query, key?, value?, past_key?, past_value?, lengths, total_length, cos?, sin?, positions?,
    bias?, sink?) }""",
    rows=_rows,
    differs="a first prompt reads the first of its positions only; rows of the cache behind the"
    " last one are zeros",
    **_FACTS,
)
def group_query_attention(case: Case) -> str:
    """Attention with fewer heads of keys than of queries, and a cache."""
    quantized = case["bits"] or "NONE" not in (case["k_type"] or "NONE", case["v_type"] or "NONE")
    # Of a sliding cache the kernel leaves rows as they were in memory (1.32).
    if case["sliding"] or quantized or case.has("past_key") != case.has("past_value"):
        case.unfit("its cache slides or is quantized")
    return grouped(case)


def grouped(case: Case, blocks: str = "") -> str:
    """Nodes of attention with a cache.

    Args:
        case: the case, with the operands and attributes of GroupQueryAttention.
        blocks: nodes of isOpen [B, N, S, T], the keys that are not masked besides; empty for all.
    """
    operands, head = _operands(case)
    scaling = scaled(case, head)
    return f"""{operands} {_places(case)} {_rotated(case, head)} {_cached(case)}
        {_scores(case, scaling, blocks)} {_weights(case)} {_scored(case)}
        heads = MatMul (weights, vR)  {from_heads("heads", "yW", head and head * case["heads"])}
        {narrowed(case, "query", "y")}"""
