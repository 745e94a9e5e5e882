"""Operators of com.microsoft that move or select elements."""

from .case import Case
from .quantized import scalars
from .registry import defines, ship

_FACTS = {"source": "docs/ContribOperators.md", "tried": "onnxruntime 1.32.0"}


def _same_everywhere(name: str, before: str, after: str) -> None:
    ship(before, after, exact=True, summary=name, **_FACTS)


_same_everywhere("Identity", "(T x) => (y) { y = com.microsoft.SampleOp (x) }", "y = Identity (x)")
_same_everywhere(
    "GatherND",
    "(T data, indices indices) => (y) { y = com.microsoft.GatherND (data, indices) }",
    "whole = Cast <to = 7> (indices)  y = GatherND (data, whole)",
)
ship(
    "(T x) => (y, index, count) { y, index, count = com.microsoft.Unique (x) }",
    "y, first, index, count = Unique <sorted = 0> (x)",
    summary="Unique in the order of first occurrence",
    differs="each NaN is a value of its own, which a NaN is not in Unique of onnxruntime",
    **_FACTS,
)
_TRILU = "(T x, int64 k) => (y) { y = com.microsoft.Trilu <upper = @upper ? 1> (x, k?) }"
_GRID = """(floats x, floats grid) => (y) { y = com.microsoft.GridSample
    <align_corners = @align ? 0, mode = @mode ? "bilinear", padding_mode = @padding ? "zeros">
    (x, grid) }"""


@defines(_TRILU, since=14, exact=True, **_FACTS)
def trilu_14(case: Case) -> str:
    """Trilu."""
    return f"{scalars(case, 'k')} y = Trilu <upper = @upper> (x{', kS' if case.has('k') else ''})"


@defines(_TRILU, exact=True, **_FACTS)
def trilu(case: Case) -> str:
    """Where a row number and a column number compare."""
    shift = (
        f"{scalars(case, 'k')} edge = Add (row, kS)" if case.has("k") else "edge = Identity (row)"
    )
    outside = "Less (column, edge)" if case["upper"] else "Greater (column, edge)"
    return f"""size = Shape (x)  height = Gather (size, -2)  width = Gather (size, -1)
        rows = Range (0, height, 1)  row = Unsqueeze <axes = [1]> (rows)
        columns = Range (0, width, 1)  column = Unsqueeze <axes = [0]> (columns) {shift}
        outside = {outside}  inside = Not (outside)  y = Where (inside, x, 0)"""


@defines(
    "(T start, T limit, T delta) => (y) { y = com.microsoft.Range (start, limit, delta?) }",
    exact=True,
    **_FACTS,
)
def range_(case: Case) -> str:
    """Range, by default in steps of one."""
    delta = "deltaS" if case.has("delta") else "1"
    return f"{scalars(case, 'start', 'limit', 'delta')} y = Range (startS, limitS, {delta})"


_EXPAND = "(T x, int32 axis) => (y) { y = com.microsoft.ExpandDims (x, axis) }"


@defines(_EXPAND, since=13, exact=True, **_FACTS)
def expand_dims_13(case: Case) -> str:
    """Unsqueeze."""
    # Axis -1 appends one at the end, as both operators count in the result.
    return (
        "wide = Cast <to = 7> (axis)  axes = Reshape <shape = [1]> (wide)  y = Unsqueeze (x, axes)"
    )


@defines(_EXPAND, exact=True, **_FACTS)
def expand_dims(case: Case) -> str:
    """Unsqueeze along an axis that is known."""
    axis = case.constant("axis")
    if axis is None:
        case.unfit("below opset 13 its axis must be a constant")
    return f"y = Unsqueeze <axes = [{int(axis.reshape(-1)[0])}]> (x)"


@defines(
    """(floats data, int64 pads, floats value) => (y) {
    y = com.microsoft.Pad <mode = @mode ? "constant"> (data, pads, value?) }""",
    exact=True,
    **_FACTS,
)
def pad(case: Case) -> str:
    """Pad."""
    # The pads may have an axis in front, [1, 2 r]; negative ones cut.
    value = ", valueS" if case.has("value") else ""
    return f"""flat = Reshape <shape = [-1]> (pads) {scalars(case, "value")}
        y = Pad <mode = @mode> (data, flat{value})"""


@defines(_GRID, since=20, **_FACTS)
def grid_sample_20(case: Case) -> str:
    """GridSample, whose modes have other names from opset 20 on."""
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(case["mode"], case["mode"])
    return f"""y = GridSample <align_corners = @align, mode = "{mode}", padding_mode = @padding>
        (x, grid)"""


@defines(_GRID, since=16, **_FACTS)
def grid_sample(case: Case) -> str:
    """GridSample."""
    return (
        "y = GridSample <align_corners = @align, mode = @mode, padding_mode = @padding> (x, grid)"
    )


@defines(
    """(T x) => (y) { y = com.microsoft.UnfoldTensor <dim = @dim ? -1, size = @size int,
    step = @step ? 1> (x) }""",
    exact=True,
    **_FACTS,
)
def unfold(case: Case) -> str:
    """Windows along an axis, in a new last one."""
    rank = case.rank("x")
    if not -rank <= case["dim"] < rank:
        case.unfit("its axis is not one of x")
    axis = case["dim"] % rank
    order = [*range(axis + 1), *range(axis + 2, rank + 1), axis + 1]
    size = case.size("x", axis)
    end = f"Identity ({0 if size is None else size - case['size'] + 1})"
    if size is None:
        end = f"Sub (length, {case['size'] - 1})"
    return f"""sizes = Shape (x)  length = Gather (sizes, {axis})
        end = {end}  starts = Range (0, end, {case["step"]})
        start = Unsqueeze <axes = [1]> (starts)  steps = Range (0, {case["size"]}, 1)
        places = Add (start, steps)  windows = Gather <axis = {axis}> (x, places)
        y = Transpose <perm = {order}> (windows)"""


@defines(
    """(int64 ids, float scores) => (y) {
    y = com.microsoft.NGramRepeatBlock <ngram_size = @n int> (ids, scores) }""",
    exact=True,
    **_FACTS,
)
def n_gram_repeat_block(case: Case) -> str:
    """-inf for each token that would end a repeated sequence of n tokens."""
    n, last = case["n"], (1 << 62)
    nodes, match = [], ""
    for place in range(n - 1):
        end = place - n + 2 or last
        nodes.append(f"""part{place} = Slice <starts = [{place}], ends = [{place - n + 1}],
            axes = [1]> (ids)  own{place} = Slice <starts = [{place - n + 1}], ends = [{end}],
            axes = [1]> (ids)  same{place} = Equal (part{place}, own{place})""")
        name = f"both{place}"
        nodes.append(
            f"{name} = And (same{place}, {match})" if match else f"{name} = Identity (same0)"
        )
        match = name
    nodes.append(f"following = Slice <starts = [{n - 1}], ends = [{last}], axes = [1]> (ids)")
    blocked = (
        f"place = Where ({match}, following, count)" if match else "place = Identity (following)"
    )
    # What is not blocked goes to a column more, which is cut off in the end.
    return f"""size = Shape (scores)  count = Gather (size, [1])  {" ".join(nodes)} {blocked}
        lengths = Shape (place)  updates = Expand (-inf, lengths)
        wide = Pad <pads = [0, 0, 0, 1]> (scores)
        all = ScatterElements <axis = 1> (wide, place, updates)
        y = Slice <starts = [0], ends = [-1], axes = [1]> (all)"""
