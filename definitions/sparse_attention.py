"""Attention of com.microsoft with blocks of keys that no query of some blocks sees.

Row r of a layout lists the blocks of keys that its queries see: columns[rows[r] : rows[r + 1]].

    rows 0 1 3, columns 0 0 1   ->   1 .     blocks of a causal layout, each of some tokens
                                     1 1
"""

from .case import Case
from .grouped_attention import grouped
from .registry import defines


@defines(
    """(floats query, floats key, floats value, floats past_key, floats past_value,
    int32 block_rows, int32 block_columns, int32 total_length, int32 key_lengths, floats cos,
    floats sin) => (y, present_key, present_value) { y, present_key, present_value =
    com.microsoft.SparseAttention <num_heads = @heads int, kv_num_heads = @groups int,
    scale = @scale float ?,
    do_rotary = @rotary ? 0, rotary_interleaved = @interleaved ? 0, sparse_block_size = @block int>
    (query, key?, value?, past_key, past_value, block_rows, block_columns, total_length,
    key_lengths, cos?, sin?) }""",
    source="docs/ContribOperators.md",
    tried="onnxruntime 1.32.0",
    differs="it writes the new keys and values into the buffers of the past",
)
def sparse_attention(case: Case) -> str:
    """GroupQueryAttention with a mask of blocks, whose heads take the layouts in turn."""
    # A total length of this file includes the new token; that operator's does not.
    case.attributes |= {"softcap": 0.0, "window": -1, "causal": 1, "smooth": 0}
    blocks = f"""firsts = Slice (block_rows, [0], [-1], [1])
        lastsR = Slice (block_rows, [1], [{2**31 - 1}], [1])
        firstU = Unsqueeze <axes = [2]> (firsts)  lastU = Unsqueeze <axes = [2]> (lastsR)
        allSizes = Shape (block_columns)  most = Gather (allSizes, 1)
        numbers = Range (0, most, 1)  numbers32 = Cast <to = 6> (numbers)
        isBehind = Less (numbers32, firstU)  isAfter = Not (isBehind)
        isAhead = Less (numbers32, lastU)  isOfRow = And (isAfter, isAhead)
        ofRow = Cast <to = 1> (isOfRow)  rowSizes = Shape (firsts)  side = Gather (rowSizes, 1)
        blockNumbers = Range (0, side, 1)  blockNumbers32 = Cast <to = 6> (blockNumbers)
        columnU = Unsqueeze <axes = [2]> (block_columns)
        isColumn = Equal (columnU, blockNumbers32)  ofColumn = Cast <to = 1> (isColumn)
        counts = MatMul (ofRow, ofColumn)  queryBlocks = Div (rows, {case["block"]})
        keyBlocks = Div (columns, {case["block"]})
        layout = Gather <axis = 2> (counts, keyBlocks)
        layoutQ = Gather <axis = 1> (layout, queryBlocks)
        layoutB = Transpose <perm = [1, 0, 2, 3]> (layoutQ)
        headNumbers = Range (0, {case["heads"]}, 1)  layouts = Gather (rowSizes, 0)
        ofHeads = Mod (headNumbers, layouts)  open = Gather <axis = 1> (layoutB, ofHeads)
        isOpen = Greater (open, 0.5)"""
    return f"lengths = Sub (key_lengths, 1)  {grouped(case, blocks)}"
