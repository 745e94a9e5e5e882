"""Rotary embeddings of com.microsoft."""

from collections.abc import Sequence

from .attention import length_of, narrowed, widened
from .case import Case
from .registry import defines

_FACTS = {"source": "docs/ContribOperators.md", "tried": "onnxruntime 1.32.0"}


def rotated(x: str, cos: str, sin: str, size: int, interleaved: bool, result: str) -> str:
    """Nodes that rotate the first elements of the last of four axes.

    Args:
        x: the value.
        cos: the cosines, which broadcast to its halves.
        size: the number of elements to rotate.
        interleaved: the pairs are neighbours, not the two halves.
        result: the name of the result.
    """
    r = result
    step, middle = (2, 1) if interleaved else (1, size // 2)
    ends = (size, size) if interleaved else (middle, size)
    parts = f"""{r}A = Slice ({x}, [0], [{ends[0]}], [3], [{step}])
        {r}B = Slice ({x}, [{middle}], [{ends[1]}], [3], [{step}])
        {r}Rest = Slice ({x}, [{size}], [{2**31 - 1}], [3])
        {r}AC = Mul ({r}A, {cos}) {r}BS = Mul ({r}B, {sin}) {r}Real = Sub ({r}AC, {r}BS)
        {r}AS = Mul ({r}A, {sin}) {r}BC = Mul ({r}B, {cos}) {r}Imag = Add ({r}AS, {r}BC)"""
    if not interleaved:
        return f"{parts} {r} = Concat <axis = 3> ({r}Real, {r}Imag, {r}Rest)"
    return f"""{parts} {r}Re = Unsqueeze <axes = [4]> ({r}Real)
        {r}Im = Unsqueeze <axes = [4]> ({r}Imag) {r}Pairs = Concat <axis = 4> ({r}Re, {r}Im)
        {r}Flat = Reshape <shape = [0, 0, 0, {size}]> ({r}Pairs)
        {r} = Concat <axis = 3> ({r}Flat, {r}Rest)"""


def _size_of_head(case: Case) -> int:
    """The size of a head of the input."""
    if case.rank("x") == 4:
        return case.known_size("x", 3)
    if case["heads"]:
        return case.known_size("x", 2) // case["heads"]
    # Without a count of heads the caches are half as wide as a head.
    return 2 * case.known_size("cos", 1)


def _turned(case: Case, angles: str) -> str:
    """Nodes that rotate x by cosines c and sines s."""
    head = _size_of_head(case)
    size = case["size"] or head
    is_4d = case.rank("x") == 4
    whole = None if is_4d else case.size("x", 2)  # -1 is not decided where an axis is empty
    heads = -1 if whole is None or whole % head else whole // head
    split = "Identity (xW)" if is_4d else f"Reshape <shape = [0, 0, {heads}, {head}]> (xW)"
    axis = -3 if is_4d else -2
    joined = "yW = Identity (r)" if is_4d else f"yW = Reshape <shape = [0, 0, {whole or -1}]> (r)"
    return f"""{widened(case, "x", "x", "cos", "sin")} heads = {split} {angles}
        cosH = Unsqueeze <axes = [{axis}]> (c)  sinH = Unsqueeze <axes = [{axis}]> (s)
        {rotated("heads", "cosH", "sinH", size, bool(case["interleaved"]), "r")}
        {joined} {narrowed(case, "x", "y")}"""


_ROTARY = """(floats x, int64 positions, floats cos, floats sin) => (y) { y =
    com.microsoft.RotaryEmbedding <interleaved = @interleaved ? 0, is_packed_batching = @packed ? 0,
    num_heads = @heads ? 0, rotary_embedding_dim = @size ? 0, scale = @scale ? 1.0>
    (x, positions, cos, sin) }"""


def _rows(case: Case) -> str:
    return "x positions" if case.rank("positions") == 2 else ""


@defines(_ROTARY, rows=_rows, differs="scale is ignored", **_FACTS)
def rotary_embedding(case: Case) -> str:
    """Rotation of pairs of elements by the angles of their positions."""
    places = "places = Identity (positions)"
    # One position is an offset, from which the tokens count on.
    if case.rank("positions") < 2:
        axis = 2 if case.rank("x") == 4 else 1
        places = f"""{length_of("x", axis, "count")} first = Reshape <shape = [1]> (positions)
            each = Range (0, count, 1)  places = Add (each, first)"""
    angles = f"{places} c = Gather <axis = 0> (cosW, places)  s = Gather <axis = 0> (sinW, places)"
    return _turned(case, angles)


_STREAMS = ("t", "h", "w")


def _columns(section: Sequence[int], layout: int) -> list[int]:
    """The stream of positions of each column of the caches."""
    if not layout:
        return [stream for stream, count in enumerate(section) for _ in range(count)]
    # Height and width have every third column, as far as their sections go; time has the rest.
    total, columns = sum(section), [0] * sum(section)
    for stream in (1, 2):
        for column in range(stream, min(3 * section[stream], total), 3):
            columns[column] = stream
    return columns


@defines(
    """(floats x, int64 positions, floats cos, floats sin) => (y) { y =
    com.microsoft.MRotaryEmbedding <interleaved = @interleaved ? 0,
    is_packed_batching = @packed ? 0, num_heads = @heads ? 0, rotary_embedding_dim = @size ? 0,
    scale = @scale ? 1.0, mrope_section = @section ints, mrope_layout = @layout ? 0>
    (x, positions, cos, sin) }""",
    differs="scale is ignored",
    **_FACTS,
)
def multi_rotary_embedding(case: Case) -> str:
    """RotaryEmbedding with positions in time, height and width, each for some columns."""
    columns, words = _columns(case["section"], case["layout"]), []
    for stream, name in enumerate(_STREAMS):
        words.append(f"{name} = Gather <axis = 0> (positions, {stream})")
        words += [f"{kind}{name} = Gather <axis = 0> ({kind}W, {name})" for kind in ("cos", "sin")]
    for kind, result in (("cos", "c"), ("sin", "s")):
        parts, start = [], 0
        for column in range(1, len(columns) + 1):
            if column == len(columns) or columns[column] != columns[start]:
                part, name = f"{result}{start}", _STREAMS[columns[start]]
                words.append(f"{part} = Slice ({kind}{name}, [{start}], [{column}], [2])")
                parts.append(part)
                start = column
        words.append(f"{result} = Concat <axis = 2> ({', '.join(parts)})")
    return _turned(case, " ".join(words))
