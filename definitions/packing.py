"""Operators of com.microsoft for sequences without padding.

Tokens [T, H] stand for a batch [B, S, H] of sequences of several lengths; offsets [B, S] list the
places of the tokens in the batch, then those of its padding. Attention restores the batch, so that
its heads attend within a sequence:

    lengths 1 and 3 of S = 3:   offsets = 0 3 4 5 | 1 2,   ends = 0 1 4
"""

from .attention import (
    LOWEST,
    bias_of,
    from_heads,
    mask_of_lengths,
    scaled,
    self_attention,
    to_heads,
    weighted,
)
from .case import Case
from .registry import defines

_DOC = {"source": "docs/ContribOperators.md"}


@defines(
    """(floats x, int32 counts) => (y, offsets, ends, longest) {
    y, offsets, ends, longest = com.microsoft.RemovePadding (x, counts) }""",
    exact=True,
    **_DOC,
)
def remove_padding(case: Case) -> str:
    """The tokens of a batch of sequences, and their places."""
    return """sizes = Shape (x)  length = Gather (sizes, 1)  columns = Range (0, length, 1)
        wide = Cast <to = 7> (counts)  countsC = Unsqueeze <axes = [1]> (wide)
        isToken = Less (columns, countsC)  flags = Reshape <shape = [-1]> (isToken)
        tokens2 = NonZero (flags)  tokens = Squeeze <axes = [0]> (tokens2)
        isPadding = Not (flags)  padding2 = NonZero (isPadding)
        padding = Squeeze <axes = [0]> (padding2)  order = Concat <axis = 0> (tokens, padding)
        order32 = Cast <to = 6> (order)  grid = Slice (sizes, [0], [2], [0])
        offsets = Reshape <allowzero = 1> (order32, grid)  width = Slice (sizes, [2], [3], [0])
        flatShape = Concat <axis = 0> ([-1], width)  rows = Reshape (x, flatShape)
        y = Gather <axis = 0> (rows, tokens)  sums = CumSum (counts, 0)
        ends = Concat <axis = 0> ([0], sums)
        longest = ReduceMax <axes = [0], keepdims = 1> (counts)"""


def restored(case: Case, like: str, *names: str) -> str:
    """Nodes of batches [B, S, H] from tokens [T, H], with P behind their names.

    Padding is zeros. The offsets of the tokens are tokens.
    """
    words = [
        f"""tokenCount0 = Shape ({names[0]})  tokenCount = Slice (tokenCount0, [0], [1], [0])
        places = Reshape <shape = [-1]> (offsets)  tokens32 = Slice (places, [0], tokenCount, [0])
        tokens = Cast <to = 7> (tokens32)  tokensC = Unsqueeze <axes = [1]> (tokens)
        room = Shape (places)  grid = Shape (offsets)"""
    ]
    for name in names:
        words.append(
            f"""{name}Sizes = Shape ({name})  {name}Width = Slice ({name}Sizes, [1], [2], [0])
            {name}Room = Concat <axis = 0> (room, {name}Width)
            {name}None = Expand (0.0, {name}Room)
            {name}Zeros = Cast <to = {case.elem_type(like)}> ({name}None)
            {name}Rows = ScatterND ({name}Zeros, tokensC, {name})
            {name}Shape = Concat <axis = 0> (grid, {name}Width)
            {name}P = Reshape <allowzero = 1> ({name}Rows, {name}Shape)"""
        )
    return " ".join(words)


def _tokens_of(value: str, result: str) -> str:
    """Nodes of the tokens of a batch, in the order of offsets."""
    return f"""{result}Sizes = Shape ({value})  {result}Width = Slice ({result}Sizes, [2], [3], [0])
        {result}Flat = Concat <axis = 0> ([-1], {result}Width)
        {result}Rows = Reshape ({value}, {result}Flat)
        {result} = Gather <axis = 0> ({result}Rows, tokens)"""


def _mask() -> str:
    """Nodes of allMasks, without the keys behind the end of a sequence."""
    return f"""sumsB = Slice (sums, [1], [{2**31 - 1}], [0])  sumsA = Slice (sums, [0], [-1], [0])
        lengths = Sub (sumsB, sumsA)  {mask_of_lengths("lengths", LOWEST)}"""


@defines(
    """(floats x, int32 offsets) => (y) { y = com.microsoft.RestorePadding (x, offsets) }""",
    exact=True,
    **_DOC,
)
def restore_padding(case: Case) -> str:
    """A batch of sequences from its tokens, with zeros for padding."""
    return f"{restored(case, 'x', 'x')} y = Identity (xP)"


@defines(
    """(float input, float w, float b, int32 offsets, int32 sums, float bias) => (y) {
    y = com.microsoft.PackedAttention <num_heads = @heads int, scale = @scale float ?,
    qkv_hidden_sizes = @sizes ints ?> (input, w, b, offsets, sums, bias?) }""",
    **_DOC,
)
def packed_attention(case: Case) -> str:
    """Self-attention within each sequence of tokens."""
    sizes = case["sizes"] or (case.known_size("w", 1) // 3,) * 3
    return f"""{restored(case, "input", "input")} x = Identity (inputP)
        {self_attention(case, sizes, bias_of(case), _mask(), "padded")}
        {_tokens_of("padded", "y")}"""


@defines(
    """(float query, float key, float value, float b, int32 offsets, int32 sums, float bias)
    => (y) { y = com.microsoft.PackedMultiHeadAttention <num_heads = @heads int,
    scale = @scale float ?,
    mask_filter_value = @filter ? -10000.0> (query, key?, value?, b?, offsets, sums, bias?) }""",
    **_DOC,
)
def packed_multi_head_attention(case: Case) -> str:
    """Attention of projected queries, keys and values within each sequence of tokens."""
    if not (case.has("key") and case.has("value")):
        case.unfit("its keys and values are packed with its queries")
    heads, names = case["heads"], ("query", "key", "value")
    sizes = [case.known_size(name, 1) for name in names]
    words = "queryB = Identity (query)  keyB = Identity (key)  valueB = Identity (value)"
    if case.has("b"):
        words = f"queryC, keyC, valueC = Split <axis = 0, split = {sizes}> (b) " + " ".join(
            f"{name}B = Add ({name}, {name}C)" for name in names
        )
    split = " ".join(
        to_heads(f"{name}BP", heads, name[0], size // heads)
        for name, size in zip(names, sizes, strict=True)
    )
    return f"""{words} {restored(case, "query", "queryB", "keyB", "valueB")} {split}
        {weighted(scaled(case, sizes[0] // heads), bias_of(case), _mask())}
        {from_heads("heads", "padded", sizes[2])} {_tokens_of("padded", "y")}"""
