"""Further arithmetic of com.microsoft: distances, inverses, complex numbers, sampling, words."""

import re

from .case import Case
from .registry import defines, ship

_DOC = {"source": "docs/ContribOperators.md"}
_FACTS = {**_DOC, "tried": "onnxruntime 1.32.0"}
_MOST_STEPS = 8
"""Steps of an elimination that are written one after the other; more are a Loop."""
_STEP_NAMES = (
    *("column", "size", "before", "open", "best", "bestU", "bests", "pivotRow", "first", "firstU"),
    *("isPivot", "swapped", "pivot", "pivotU", "unit", "factor", "factorU", "part", "rest"),
    *("isOwn",),
)


@defines(
    """(floats a, floats b) => (c) {
    c = com.microsoft.CDist <metric = @metric ? "sqeuclidean"> (a, b) }""",
    differs="near each other rows of large numbers are off, as by the definition",
    **_FACTS,
)
def distances(case: Case) -> str:
    """Squared norms minus twice the products, or the roots of that."""
    if case["metric"] not in ("sqeuclidean", "euclidean"):
        case.unfit(f"there is no metric '{case['metric']}'")
    root = "Sqrt" if case["metric"] == "euclidean" else "Identity"
    return f"""squareA = Mul (a, a)  normA = ReduceSum <axes = [1], keepdims = 1> (squareA)
        squareB = Mul (b, b)  columnB = ReduceSum <axes = [1], keepdims = 1> (squareB)
        normB = Transpose <perm = [1, 0]> (columnB)  turned = Transpose <perm = [1, 0]> (b)
        product = MatMul (a, turned)  twice = Mul (product, 2.0)  sum = Add (normA, normB)
        d = Sub (sum, twice)  e = Max (d, 0.0)  c = {root} (e)"""


@defines(
    "(floats x) => (y) { y = com.microsoft.Inverse (x) }",
    differs="a singular matrix gives other numbers without a meaning",
    **_FACTS,
)
def inverse(case: Case) -> str:
    """Elimination with the largest pivot, beside the identity.

    m = [x | 1]; of column k the largest element from row k on is the pivot; its row changes
    places with row k, is divided by the pivot, and cleared from all other rows.
    """
    if 0 in [case.size("x", axis) for axis in range(case.rank("x"))]:
        return "y = Identity (x)"  # below opset 14 a Reshape copies a size for 0
    kind = {1: "float", 11: "double", 10: "float16"}[case.elem_type("x")]
    size = case.size("x", -1)
    if size is not None and size <= _MOST_STEPS:
        steps = [_eliminate(str(k), f"m{k}", f"m{k + 1}", f"k{k}_") for k in range(size)]
        end = f"{' '.join(steps)} end = Identity (m{size})"
    else:
        end = f"""end = Loop <body = (int64 k[], bool go[], {kind} m[b, n, w]) => (on, next) {{
            on = Identity (go) {_eliminate("k", "m", "next", "")} }}> (n, , m0)"""
    return f"""size = Shape (x)  n = Gather (size, -1)  nV = Unsqueeze <axes = [0]> (n)
        square = Concat <axis = 0> ([-1], nV, nV)  a = Reshape (x, square)
        numbers = Range (0, n, 1)  row = Unsqueeze <axes = [0]> (numbers)
        rowU = Unsqueeze <axes = [2]> (row)  columnU = Unsqueeze <axes = [1]> (row)
        isOne = Equal (rowU, columnU)  one = Cast <to = {case.elem_type("x")}> (isOne)
        shape = Shape (a)  ones = Expand (one, shape)  m0 = Concat <axis = 2> (a, ones)
        batch = Slice <starts = [0], ends = [1]> (shape)  width = Add (nV, nV)
        rowShape = Concat <axis = 0> (batch, [1], width) {end}
        right = Slice (end, nV, width, [2])  y = Reshape <allowzero = 1> (right, size)"""


def _eliminate(k: str, m: str, result: str, own: str) -> str:
    """Nodes of one step of an elimination; names begin with the last argument."""
    nodes = """column = Gather <axis = 2> (M, K)  size = Abs (column)
        before = Less (row, K)  open = Where (before, -1.0, size)
        best = ArgMax <axis = 1, keepdims = 1> (open)  bestU = Unsqueeze <axes = [2]> (best)
        bests = Expand (bestU, rowShape)  pivotRow = GatherElements <axis = 1> (M, bests)
        first = Gather <axis = 1> (M, K)  firstU = Unsqueeze <axes = [1]> (first)
        isPivot = Equal (rowU, bestU)  swapped = Where (isPivot, firstU, M)
        pivot = Gather <axis = 2> (pivotRow, K)  pivotU = Unsqueeze <axes = [2]> (pivot)
        unit = Div (pivotRow, pivotU)  factor = Gather <axis = 2> (swapped, K)
        factorU = Unsqueeze <axes = [2]> (factor)  part = Mul (factorU, unit)
        rest = Sub (swapped, part)  isOwn = Equal (rowU, K)  RESULT = Where (isOwn, unit, rest)"""
    for name in _STEP_NAMES if own else ():
        nodes = re.sub(rf"\b{name}\b", f"{own}{name}", nodes)
    for name, value in (("M", m), ("K", k), ("RESULT", result)):
        nodes = re.sub(rf"\b{name}\b", value, nodes)
    return nodes


def _complex(name: str, signs: tuple[str, str]) -> None:
    ship(
        f"(floats a, floats b) => (c) {{ c = com.microsoft.{name} (a, b) }}",
        f"""aRe, aIm = Split <axis = -1, split = [1, 1]> (a)
        bRe, bIm = Split <axis = -1, split = [1, 1]> (b)
        p = Mul (aRe, bRe)  q = Mul (aIm, bIm)  re = {signs[0]} (p, q)
        r = Mul (aIm, bRe)  s = Mul (aRe, bIm)  im = {signs[1]} (r, s)
        c = Concat <axis = -1> (re, im)""",
        summary="The product of complex numbers, pairs along the last axis",
        **_DOC,
    )


_complex("ComplexMul", ("Sub", "Add"))
_complex("ComplexMulConj", ("Add", "Sub"))


@defines(
    """(floats x, floats rois, int32 batches, int32 size) => (y) {
    y = com.microsoft.CropAndResize <extrapolation_value = @outside ? 0.0,
    mode = @mode ? "bilinear">
    (x, rois, batches, size) }""",
    **_FACTS,
)
def crop_and_resize(case: Case) -> str:
    """Samples of boxes of images, whose corners are parts of the whole."""
    if case["mode"] not in ("bilinear", "nearest"):
        case.unfit(f"there is no mode '{case['mode']}'")
    kind = case.elem_type("x")
    nodes = [
        """sizes = Shape (x)  n = Gather (sizes, 0)  c = Gather (sizes, 1)
        h = Gather (sizes, 2)  w = Gather (sizes, 3)  wide = Cast <to = 7> (size)
        last = Transpose <perm = [0, 2, 3, 1]> (x)  cV = Unsqueeze <axes = [0]> (c)
        flatShape = Concat <axis = 0> ([-1], cV)  flat = Reshape (last, flatShape)
        area = Mul (h, w)  whole = Cast <to = 7> (batches)  base = Mul (whole, area)
        baseU = Unsqueeze <axes = [1, 2]> (base)"""
    ]
    for axis, (name, length, low, high) in enumerate((("v", "h", 0, 2), ("u", "w", 1, 3))):
        nodes.append(f"""{name}Count = Gather (wide, {axis})  {name}Last = Sub ({length}, 1)
            {name}Most = Cast <to = {kind}> ({name}Last)
            {name}A = Slice <starts = [{low}], ends = [{low + 1}], axes = [1]> (rois)
            {name}B = Slice <starts = [{high}], ends = [{high + 1}], axes = [1]> (rois)
            {name}Low = Mul ({name}A, {name}Most)  {name}Width = Sub ({name}B, {name}A)
            {name}All = Mul ({name}Width, {name}Most)  {name}Sum = Add ({name}A, {name}B)
            {name}Half = Mul ({name}Sum, 0.5)  {name}Middle = Mul ({name}Half, {name}Most)
            {name}Ends = Sub ({name}Count, 1)  {name}Is = Greater ({name}Ends, 0)
            {name}Gaps = Where ({name}Is, {name}Ends, 1)
            {name}GapsF = Cast <to = {kind}> ({name}Gaps)
            {name}Step = Div ({name}All, {name}GapsF)
            {name}Numbers = Range (0, {name}Count, 1)
            {name}N = Cast <to = {kind}> ({name}Numbers)
            {name}Way = Mul ({name}N, {name}Step)  {name}On = Add ({name}Low, {name}Way)
            {name} = Where ({name}Is, {name}On, {name}Middle)
            {name}Neg = Less ({name}, 0.0)  {name}Over = Greater ({name}, {name}Most)
            {name}Out = Or ({name}Neg, {name}Over)
            {name}Safe = Where ({name}Out, 0.0, {name})""")
    spread = {"v": 2, "u": 1}
    if case["mode"] == "nearest":
        for name, axis in spread.items():
            nodes.append(f"""{name}Shift = Add ({name}Safe, 0.5)  {name}R = Floor ({name}Shift)
                {name}I = Cast <to = 7> ({name}R)
                {name}U = Unsqueeze <axes = [{axis}]> ({name}I)""")
        nodes.append("""rowsV = Mul (vU, w)  inner = Add (rowsV, uU)  places = Add (inner, baseU)
            value = Gather (flat, places)""")
    else:
        for name, axis in spread.items():
            nodes.append(f"""{name}F = Floor ({name}Safe)  {name}C = Ceil ({name}Safe)
                {name}D = Sub ({name}Safe, {name}F)
                {name}P = Unsqueeze <axes = [{axis}, 3]> ({name}D)""")
            for side in "FC":
                nodes.append(f"""{name}{side}I = Cast <to = 7> ({name}{side})
                    {name}{side}U = Unsqueeze <axes = [{axis}]> ({name}{side}I)""")
        for row in "FC":
            for column in "FC":
                at = f"{row}{column}"
                nodes.append(f"""rows{at} = Mul (v{row}U, w)  inner{at} = Add (rows{at}, u{column}U)
                    places{at} = Add (inner{at}, baseU)  value{at} = Gather (flat, places{at})""")
            nodes.append(f"""d{row} = Sub (value{row}C, value{row}F)  e{row} = Mul (d{row}, uP)
                value{row} = Add (value{row}F, e{row})""")
        nodes.append("d = Sub (valueC, valueF)  e = Mul (d, vP)  value = Add (valueF, e)")
    nodes.append("""vOutU = Unsqueeze <axes = [2, 3]> (vOut)
        uOutU = Unsqueeze <axes = [1, 3]> (uOut)
        outside = Or (vOutU, uOutU)  chosen = Where (outside, @outside, value)
        y = Transpose <perm = [0, 3, 1, 2]> (chosen)""")
    return " ".join(nodes)


@defines(
    """(int32 words[S, L], float w, float b, float table) => (y) {
    y = com.microsoft.WordConvEmbedding
    <char_embedding_size = @c int ?, conv_window_size = @k int ?, embedding_size = @e int ?>
    (words, w, b, table) }""",
    differs="a word of zeros alone reads memory",
    **_FACTS,
)
def word_conv_embedding(case: Case) -> str:
    """The largest tanh of a convolution over the characters of a word."""
    k = case.known_size("w", 2)
    return f"""ids = Cast <to = 7> (words)  letters = Gather (table, ids)
        image = Unsqueeze <axes = [1]> (letters)  conv = Conv (image, w, b)
        flat = Squeeze <axes = [3]> (conv)  t = Tanh (flat)
        isEnd = Equal (ids, 0)  zero = Cast <to = 7> (isEnd)
        none = ReduceMax <axes = [1], keepdims = 1> (zero)
        first = ArgMax <axis = 1, keepdims = 1> (zero)  size = Shape (ids)
        width = Gather (size, 1)  isShort = Greater (none, 0)
        length = Where (isShort, first, width)
        room = Sub (length, {k - 1})  isMore = Greater (room, 1)
        count = Where (isMore, room, 1)  windows = Shape (t)
        most = Gather (windows, 2)  places = Range (0, most, 1)  isIn = Less (places, count)
        inside = Unsqueeze <axes = [1]> (isIn)  open = Where (inside, t, -inf)
        y = ReduceMax <axes = [2], keepdims = 0> (open)"""


@defines(
    """(floats x) => (y) { y = com.microsoft.Rfft <normalized = @normalized ? 0,
    onesided = @onesided ? 1, signal_ndim = @ndim ? 1> (x) }""",
    since=17,
    **_DOC,
)
def rfft(case: Case) -> str:
    """DFT of real numbers along the last axis."""
    if case["ndim"] != 1 or case["normalized"]:
        case.unfit("only one axis, not normalized, has a definition")
    rank = case.rank("x")
    return f"""u = Unsqueeze <axes = [-1]> (x)
        y = DFT <axis = {rank - 1}, onesided = @onesided> (u)"""


@defines(
    """(floats x) => (y) { y = com.microsoft.Irfft <normalized = @normalized ? 0,
    onesided = @onesided ? 1, signal_ndim = @ndim ? 1> (x) }""",
    since=17,
    **_DOC,
)
def irfft(case: Case) -> str:
    """Inverse DFT of one half of a spectrum, whose other half is its mirror image.

    x0 x1 x2 (n = 4)   ->   the real part of the inverse DFT of x0 x1 x2 x1*
    """
    if case["ndim"] != 1 or case["normalized"] or not case["onesided"]:
        case.unfit("only one axis, one-sided and not normalized, has a definition")
    axis = case.rank("x") - 2
    return f"""inner = Slice <starts = [-2], ends = [0], axes = [{axis}], steps = [-1]> (x)
        re, im = Split <axis = -1, split = [1, 1]> (inner)  other = Neg (im)
        mirror = Concat <axis = -1> (re, other)  all = Concat <axis = {axis}> (x, mirror)
        signal = DFT <axis = {axis}, inverse = 1> (all)
        real = Slice <starts = [0], ends = [1], axes = [{axis + 1}]> (signal)
        y = Squeeze <axes = [{axis + 1}]> (real)"""
