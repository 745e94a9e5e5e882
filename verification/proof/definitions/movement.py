"""Operators that move elements, or choose one: their definitions hold bit for bit."""

import math

import onnx

from ....facts.types import INTEGER_BITS
from .functions import FLOATS, Application, defined, defined_by_onnx

defined_by_onnx("CenterCropPad", types=None, is_exact=True, fails_alike=True)

_FROM_DEPTH = {"DCR": ("B, B, C", [0, 3, 4, 1, 5, 2]), "CRD": ("C, B, B", [0, 1, 4, 2, 5, 3])}
"""Parts of the channels and order of the axes, by mode of DepthToSpace."""

_TO_DEPTH = {"DCR": [0, 3, 5, 1, 2, 4], "CRD": [0, 1, 3, 5, 2, 4]}
"""Order of the axes, by mode of SpaceToDepth (28)."""

_BOOL = onnx.TensorProto.BOOL

_NUMBERS = FLOATS | INTEGER_BITS.keys()
"""Element types that have a zero."""

_LEAST = -(2**63)
"""End of a Slice that goes back to the first element."""

_PARTS = """
    B = Constant <value_ints = [{blocksize}]> ()
    BB = Constant <value_ints = [{area}]> ()
    N = Shape <start = 0, end = 1> (X)
    Depth = Shape <start = 1, end = 2> (X)
    Height = Shape <start = 2, end = 3> (X)
    Width = Shape <start = 3, end = 4> (X)
"""


def _parts(application: Application) -> str:
    blocksize = application.attribute("blocksize", 0)
    return _PARTS.format(blocksize=blocksize, area=blocksize**2)


@defined("Tile", types=None, attributes=(), is_exact=True, fails_alike=True)
def tile(application: Application) -> str | None:
    """Copies along axes of their own, joined to those of the data."""
    rank = application.rank()
    # With another number of repeats, our reference computes what the definition refuses.
    if not rank or _numbers(application, 1) != [rank]:
        return None
    ones, axes = ", ".join(["1"] * rank), list(range(0, 2 * rank, 2))
    return f"""(X, R) => (Y) {{
        Column = Constant <value_ints = [{rank}, 1]> ()
        Flat = Constant <value_ints = [{2 * rank}]> ()
        Ones = Constant <value = int64[{rank}, 1] {{{ones}}}> ()
        Axes = Constant <value_ints = {axes}> ()  Counts = Reshape (R, Column)
        Pairs = Concat <axis = 1> (Counts, Ones)  Wide = Reshape (Pairs, Flat)
        Apart = Unsqueeze (X, Axes)  Copies = Expand (Apart, Wide)
        Shape = Shape (X)  Sizes = Mul (Shape, R)
        Y = Reshape <allowzero = 1> (Copies, Sizes)
    }}"""


@defined("DepthToSpace", types=None, attributes=("blocksize", "mode"), is_exact=True)
def depth_to_space(application: Application) -> str | None:
    """Reshape, Transpose and Reshape, as the specification writes them."""
    parts = _FROM_DEPTH.get(application.head.text("mode") or "DCR")
    if application.rank() != 4 or application.attribute("blocksize", 0) < 1 or parts is None:
        return None
    channels, perm = parts
    return f"""(X) => (Y) {{
        {_parts(application)}
        C = Div (Depth, BB)
        H = Mul (Height, B)
        W = Mul (Width, B)
        Blocks = Concat <axis = 0> (N, {channels}, Height, Width)
        Split = Reshape (X, Blocks)
        Turned = Transpose <perm = {perm}> (Split)
        Sizes = Concat <axis = 0> (N, C, H, W)
        Y = Reshape (Turned, Sizes)
    }}"""


@defined("SpaceToDepth", types=None, attributes=("blocksize", "mode"), is_exact=True)
def space_to_depth(application: Application) -> str | None:
    """Reshape, Transpose and Reshape: the reverse of DepthToSpace."""
    perm = _TO_DEPTH.get(application.head.text("mode") or "DCR")
    if application.rank() != 4 or application.attribute("blocksize", 0) < 1 or perm is None:
        return None
    return f"""(X) => (Y) {{
        {_parts(application)}
        C = Mul (Depth, BB)
        H = Div (Height, B)
        W = Div (Width, B)
        Blocks = Concat <axis = 0> (N, Depth, H, B, W, B)
        Split = Reshape (X, Blocks)
        Turned = Transpose <perm = {perm}> (Split)
        Sizes = Concat <axis = 0> (N, C, H, W)
        Y = Reshape (Turned, Sizes)
    }}"""


_ONE_INDEX = """
    Column{axis} = Constant <value_int = {axis}> ()
    Length{axis} = Gather <axis = 0> (Sizes, Column{axis})
    Part{axis} = Gather <axis = -1> (Indices, Column{axis})
    Behind{axis} = Less (Part{axis}, Zero)
    Around{axis} = Add (Part{axis}, Length{axis})
    Index{axis} = Where (Behind{axis}, Around{axis}, Part{axis})
"""
_FLAT = """
    Rows{axis} = Mul ({before}, Length{axis})
    Flat{axis} = Add (Rows{axis}, Index{axis})
"""


@defined("GatherND", types=None, attributes=("batch_dims",), is_exact=True, fails_alike=True)
def gather_nd(application: Application) -> str | None:
    """Gather along the first axes as one. An index tuple counts elements of these axes."""
    rank, depth = application.rank(), _depth(application)
    row = [] if rank is None or not depth else _numbers(application)[depth:rank]
    if rank is None or not depth or depth > rank or application.attribute("batch_dims", 0):
        return None
    is_within = _is_within(application, depth)
    if not all(row) and not is_within:
        return None  # runtimes do not look at the indices of empty rows
    if depth == 1:
        return """(X, Indices) => (Y) {
            Axes = Constant <value_ints = [-1]> ()
            Places = Squeeze (Indices, Axes)
            Y = Gather <axis = 0> (X, Places)
        }"""
    first = math.prod(size or 0 for size in _numbers(application)[:depth]) if is_within else -1
    return f"""(X, Indices) => (Y) {{
        Sizes = Shape (X)
        Zero = Constant <value_int = 0> ()
        {_flat_index(depth)}
        First = Constant <value_ints = [{first}]> ()
        Rest = Shape <start = {depth}> (X)
        Merged = Concat <axis = 0> (First, Rest)
        Rows = Reshape <allowzero = 1> (X, Merged)
        Y = Gather <axis = 0> (Rows, Flat)
    }}"""


@defined("ScatterND", types=None, attributes=("reduction",), is_exact=True, fails_alike=True)
def scatter_nd(application: Application) -> str | None:
    """ScatterElements along the first axes as one: updates are rows of a table."""
    rank, depth, places = application.rank(), _depth(application), application.rank(1)
    replaces = application.attribute("reduction") in (None, b"none", "none")
    if rank is None or places is None or not depth or depth > rank or not replaces:
        return None
    return f"""(X, Indices, Updates) => (Y) {{
        Sizes = Shape (X)
        Zero = Constant <value_int = 0> ()
        {_flat_index(depth)}
        Table = Flatten <axis = {depth}> (X)
        Rows = Flatten <axis = {places - 1}> (Updates)
        Column = Constant <value_ints = [-1, 1]> ()
        Single = Reshape (Flat, Column)
        Spread = Shape (Rows)
        Targets = Expand (Single, Spread)
        Changed = ScatterElements <axis = 0> (Table, Targets, Rows)
        Y = Reshape <allowzero = 1> (Changed, Sizes)
    }}"""


def _is_within(application: Application, depth: int) -> bool:
    """Test whether constant index tuples are positions in the first axes."""
    tensor = application.tensor(1)
    places = [] if tensor is None else tensor.numpy().reshape(-1, depth).T.tolist()
    sizes = _numbers(application)[: len(places)]
    return bool(places) and all(
        size is not None and -size <= min(column, default=0) and max(column, default=0) < size
        for column, size in zip(places, sizes, strict=True)
    )


def _flat_index(depth: int) -> str:
    """Nodes that count the elements of the first axes by an index tuple."""
    flat, nodes = "Index0", ""
    for axis in range(depth):
        nodes += _ONE_INDEX.format(axis=axis)
        if axis:
            nodes += _FLAT.format(axis=axis, before=flat)
            flat = f"Flat{axis}"
    return f"{nodes} Flat = Identity ({flat})"


def _depth(application: Application) -> int | None:
    """Number of indices for an element; None if unknown."""
    sizes = _numbers(application, 1)
    return sizes[-1] if sizes else None


def _numbers(application: Application, index: int = 0) -> list[int | None]:
    """Sizes of an input, None for unknown ones; none for an unknown rank."""
    arg = application.args[index] if application.has(index) else None
    return [] if arg is None else [size.value for size in arg.fact.shape or ()]


@defined("Pad", types=None, attributes=("mode",), is_exact=True)
def pad(application: Application) -> str | None:
    """Concat with a constant before and after each axis, for known widths."""
    rank, tensor = application.rank(), application.tensor(1)
    widths = [] if tensor is None else [int(width) for width in tensor.numpy().reshape(-1)]
    is_constant = (application.head.text("mode") or "constant") == "constant"
    # A negative width removes elements, which no Concat does.
    if not rank or len(widths) != 2 * rank or min(widths) < 0 or not is_constant:
        return None
    if application.has(3) or (not application.has(2) and application.elem_type() not in _NUMBERS):
        return None
    value = "Identity (Value)" if application.has(2) else "CastLike (Zero, X)"
    nodes, padded = f"Zero = Constant <value_int = 0> () Filling = {value}", "X"
    for axis, sides in enumerate(zip(widths[:rank], widths[rank:], strict=True)):
        pieces = [padded]
        for name, width in zip((f"Before{axis}", f"After{axis}"), sides, strict=True):
            if width:
                nodes += f"""
                {name}First = Shape <start = 0, end = {axis}> ({padded})
                {name}Width = Constant <value_ints = [{width}]> ()
                {name}Rest = Shape <start = {axis + 1}> ({padded})
                {name}Sizes = Concat <axis = 0> ({name}First, {name}Width, {name}Rest)
                {name} = Expand (Filling, {name}Sizes)"""
                pieces.insert(0 if name.startswith("Before") else len(pieces), name)
        if len(pieces) > 1:
            nodes += f" Padded{axis} = Concat <axis = {axis}> ({', '.join(pieces)})"
            padded = f"Padded{axis}"
    return f"(X, Widths, Value) => (Y) {{ {nodes} Y = Identity ({padded}) }}"


@defined(
    "Trilu",
    types=FLOATS | INTEGER_BITS.keys() | {_BOOL},
    attributes=("upper",),
    is_exact=True,
    fails_alike=True,
)
def trilu(application: Application) -> str | None:
    """Where, by the distance of each element from the diagonal."""
    if (application.rank() or 0) < 2:
        return None
    side = "GreaterOrEqual" if application.attribute("upper", 1) else "LessOrEqual"
    has_diagonal = application.has(1)
    operands = "Distance, Diagonal" if has_diagonal else "Columns, RowsDown"
    return f"""(X, k) => (Y) {{
        Scalar = Constant <value_ints : ints = []> ()
        Zero = Constant <value_int = 0> ()
        One = Constant <value_int = 1> ()
        Behind = Constant <value_int = -1> ()
        Before = Constant <value_int = -2> ()
        Sizes = Shape (X)
        Height = Gather <axis = 0> (Sizes, Before)
        Width = Gather <axis = 0> (Sizes, Behind)
        Rows = Range (Zero, Height, One)
        Places = Constant <value_ints = [1]> ()
        RowsDown = Unsqueeze (Rows, Places)
        Columns = Range (Zero, Width, One)
        Distance = Sub (Columns, RowsDown)
        {"Diagonal = Reshape (k, Scalar)" if has_diagonal else ""}
        Kept = {side} ({operands})
        Nothing = CastLike (Zero, X)
        Y = Where (Kept, X, Nothing)
    }}"""


@defined(
    *("ArgMax", "ArgMin"),
    types=INTEGER_BITS,
    attributes=("axis", "keepdims", "select_last_index"),
    is_exact=True,
    fails_alike=True,
)
def last_place(application: Application) -> str | None:
    """The first place from behind. Kernels differ on NaN, so that floats are real numbers."""
    if not application.attribute("select_last_index", 0):
        return None
    axis, keeps = application.attribute("axis", 0), application.attribute("keepdims", 1)
    return f"""(X) => (Y) {{
        One = Constant <value_int = 1> ()
        Axis = Constant <value_int = {axis}> ()
        Axes = Constant <value_ints = [{axis}]> ()
        Last = Constant <value_ints = [-1]> ()
        Front = Constant <value_ints = [{_LEAST}]> ()
        Turned = Slice (X, Last, Front, Axes, Last)
        Place = {application.head.name} <axis = {axis}, keepdims = {keeps}> (Turned)
        Sizes = Shape (X)
        Size = Gather <axis = 0> (Sizes, Axis)
        End = Sub (Size, One)
        Y = Sub (End, Place)
    }}"""
