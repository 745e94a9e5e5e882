"""Operators of com.microsoft with packed weights: codes of few bits, a scale for each block.

    b [n, blocks, bytes]  ->  codes [n, blocks, block]  ->  (codes - zero) * scale  ->  [n, k]

The codes are unpacked by shifts. Of constant weights these are computed once, at conversion.
"""

import numpy as np
import onnx
from onnx.numpy_helper import from_array

from ..ir import Array
from .case import Case
from .registry import defines

_FACTS = {"source": "docs/ContribOperators.md", "tried": "onnxruntime 1.32.0"}
_MOST_UNPACKED = 1 << 26
"""Bytes of weights whose codes are written as bytes; more are unpacked at run time."""


def unpack(source: str, bits: int, axis: int, shape: str, result: str) -> str:
    """Nodes that unpack bytes of a uint8 tensor, low bits first.

    Args:
        source: the tensor.
        axis: one more than the last axis.
        result: the name of the codes.
    """
    if bits == 8:
        return f"{result} = Reshape <shape = {shape}> ({source})"
    nodes, parts = [], []
    for at in range(0, 8, bits):
        part, name = f"{result}{at}", source
        if at:
            nodes.append(f'{part}R = BitShift <direction = "RIGHT"> ({name}, {at})')
            name = f"{part}R"
        if at + bits < 8:  # a shift to the left saturates in OpenVINO 2026.4.1
            nodes.append(f"{part}L = Mod ({name}, {1 << bits})")
            name = f"{part}L"
        nodes.append(f"{part} = Unsqueeze <axes = [{axis}]> ({name})")
        parts.append(part)
    nodes.append(f"{result}A = Concat <axis = {axis}> ({', '.join(parts)})")
    nodes.append(f"{result} = Reshape <shape = {shape}> ({result}A)")
    return " ".join(nodes)


_N_BITS = """(floats a, uint8 b, floats scales, zero zeros, int32 groups, floats bias) => (y) {
    y = com.microsoft.MatMulNBits <K = @k int, N = @n int, accuracy_level = @level ? 0,
    bits = @bits ? 4,
    block_size = @block int, weight_prepacked = @prepacked ? 0>
    (a, b, scales, zeros?, groups?, bias?) }"""
_LEVEL = (
    "with accuracy_level 4 the kernel quantizes a to 8 bits: 4e-3; with g_idx it takes 2^(bits - 1)"
    " for zero points of integers"
)


def _blocks(case: Case) -> int:
    """The number of blocks of a column."""
    if case["prepacked"]:
        case.unfit("its weights are in an order of the runtime's own")
    if case["bits"] not in (2, 4, 8):
        case.unfit(f"codes of {case['bits']} bits are not known")
    return -(-case["k"] // case["block"])


def _packed_zeros(case: Case, blocks: int, result: str) -> str:
    """Nodes that unpack zero points to [n, blocks]."""
    n, bits = case["n"], case["bits"]
    width = -(-blocks * bits // 8)
    return f"""zerosR = Reshape <shape = [{n}, {width}]> (zeros)
        {unpack("zerosR", bits, 2, f"[{n}, -1]", "zerosU")}
        {result} = Slice <starts = [0], ends = [{blocks}], axes = [1]> (zerosU)"""


def _packed(case: Case) -> Array | None:
    """The bytes of constant weights; None for others."""
    packed = case.constant("b")
    size = case["n"] * _blocks(case) * case["block"]
    if packed is not None and packed.size * 8 != size * case["bits"]:
        case.unfit("its weights have another size than its attributes say")
    return packed


def _codes(case: Case, shape: list[int]) -> str:
    """Nodes of codesI, the codes as bytes; those of a constant are unpacked here."""
    bits, packed = case["bits"], _packed(case)
    # Unpacked codes are stored in a byte each: a large constant would double or quadruple the
    # model.
    if packed is None or packed.size > _MOST_UNPACKED:
        return unpack("b", bits, 3, str(shape), "codesI")
    parts = [packed >> at & (1 << bits) - 1 for at in range(0, 8, bits)]
    codes = np.stack(parts, axis=-1).reshape(shape)
    return f"codesI = Identity ({case.literal('codes', from_array(codes))})"


def _first_columns(case: Case, value: str, result: str) -> str:
    """A node that cuts the padding of the last block, if there is any."""
    # Blocks are stored whole, so the last one holds codes of columns that the matrix does not have.
    if case["k"] % case["block"] == 0:
        return f"{result} = Identity ({value})"
    return f"{result} = Slice <starts = [0], ends = [{case['k']}], axes = [1]> ({value})"


def _product(case: Case) -> str:
    """Nodes of the product with the first k columns of w."""
    return f"""{_first_columns(case, "w", "cut")}
        turned = Transpose <perm = [1, 0]> (cut)  p = MatMul (a, turned)  y = Add (p, bias)"""


@defines(_N_BITS, since=21, rows="* a", differs=_LEVEL, **_FACTS)
def matmul_n_bits_21(case: Case) -> str:
    """MatMul with a DequantizeLinear by blocks."""
    blocks, n, bits, block = _blocks(case), case["n"], case["bits"], case["block"]
    if case.has("groups") or (case.has("zeros") and not case.is_typed("zeros", "uint8")):
        return matmul_n_bits(case)
    to = 21 if bits == 4 else 2
    zeros = f"zerosI = Expand <shape = [{n}, {blocks}]> ({1 << (bits - 1)})"
    if case.has("zeros"):
        zeros = _packed_zeros(case, blocks, "zerosI")
    codes, unpacked = (
        "codes",
        f"""{unpack("b", bits, 3, f"[{n}, {blocks * block}]", "codesI")}
        codes = Cast <to = {to}> (codesI)""",
    )
    packed = _packed(case) if bits == 4 else None
    if packed is not None:  # ONNX has the codes in the same bytes
        tensor = onnx.TensorProto(data_type=to, dims=[n, blocks * block])
        tensor.raw_data = packed.tobytes()
        codes, unpacked = case.literal("codes", tensor), ""
    return f"""{unpacked} {zeros} zero = Cast <to = {to}> (zerosI)
        scale = Reshape <shape = [{n}, {blocks}]> (scales)
        w = DequantizeLinear <axis = 1, block_size = {block}> ({codes}, scale, zero)
        {_product(case)}"""


@defines(_N_BITS, rows="* a", differs=_LEVEL, **_FACTS)
def matmul_n_bits(case: Case) -> str:
    """MatMul with the differences of codes and zero points, times the scale of their block."""
    blocks, n, bits, block = _blocks(case), case["n"], case["bits"], case["block"]
    kind = case.elem_type("a")
    if case.has("groups") and bits != 4:
        case.unfit("with g_idx the kernel reads codes of 4 bits, whatever bits says")
    zeros, is_packed = "", case.has("zeros") and case.is_typed("zeros", "uint8")
    if is_packed and not case.has("groups"):
        zeros = f"{_packed_zeros(case, blocks, 'zerosI')} zerosF = Cast <to = {kind}> (zerosI)"
    elif case.has("zeros") and not is_packed:
        zeros = f"zerosF = Reshape <shape = [{n}, {blocks}]> (zeros)"
    before = f"""{_codes(case, [n, blocks, block])} {zeros}
        codes = Cast <to = {kind}> (codesI)  scale = Reshape <shape = [{n}, {blocks}]> (scales)"""
    place = "zeroB" if zeros else f"{1 << (bits - 1)}.0"
    if not case.has("groups"):
        spread = "zeroB = Unsqueeze <axes = [2]> (zerosF)" if zeros else ""
        return f"""{before} {spread} scaleB = Unsqueeze <axes = [2]> (scale)
            d = Sub (codes, {place})  m = Mul (d, scaleB)
            w = Reshape <shape = [{n}, {blocks * block}]> (m) {_product(case)}"""
    spread = "zeroB = Gather <axis = 1> (zerosF, groups)" if zeros else ""
    return f"""{before} {spread} scaleB = Gather <axis = 1> (scale, groups)
        rows = Reshape <shape = [{n}, {blocks * block}]> (codes)
        {_first_columns(case, "rows", "columns")}
        d = Sub (columns, {place})  w = Mul (d, scaleB) {_product(case)}"""


_FP4 = (0.0, 0.00520833, 0.66666667, 1.0, 0.33333333, 0.5, 0.16666667, 0.25)
_NF4 = (
    *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635),
    *(-0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725),
    *(0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941),
    *(0.7229568362236023, 1.0),
)
_CODES = {0: (*_FP4, *(-number for number in _FP4)), 1: _NF4}
"""The numbers of the codes of bitsandbytes, by the type."""


@defines(
    """(floats a, uint8 b, floats scales) => (y) { y = com.microsoft.MatMulBnb4 <K = @k int,
    N = @n int,
    block_size = @block int, quant_type = @kind int, training_mode = @training ? 0,
    transB = @trans ? 1>
    (a, b, scales) }""",
    **_FACTS,
)
def matmul_bnb4(case: Case) -> str:
    """MatMul with numbers from a table of 16, times the scale of their block."""
    n, k, block = case["n"], case["k"], case["block"]
    if case["kind"] not in _CODES:
        case.unfit(f"codes of type {case['kind']} are not known")
    if case["trans"] != 1:
        case.unfit("only a transposed b has a kernel")
    table = ", ".join(f"{number:.9f}" for number in _CODES[case["kind"]])
    count = -(-n * k // block)
    return f"""rows = Reshape <shape = [-1]> (b)
        low = Mod (rows, 16)  high = BitShift <direction = "RIGHT"> (rows, 4)
        highU = Unsqueeze <axes = [1]> (high)  lowU = Unsqueeze <axes = [1]> (low)
        pairs = Concat <axis = 1> (highU, lowU)  flat = Reshape <shape = [-1]> (pairs)
        codes = Cast <to = 7> (flat)  numbersF = Gather ([{table}], codes)
        numbers = Cast <to = {case.elem_type("a")}> (numbersF)
        padded = Pad <pads = [0, {count * block - n * k}]> (numbers)
        blocks = Reshape <shape = [{count}, {block}]> (padded)
        scale = Reshape <shape = [{count}, 1]> (scales)  m = Mul (blocks, scale)
        row = Reshape <shape = [-1]> (m)
        cut = Slice <starts = [0], ends = [{n * k}], axes = [0]> (row)
        w = Reshape <shape = [{n}, {k}]> (cut)  turned = Transpose <perm = [1, 0]> (w)
        y = MatMul (a, turned)"""


_GATHER = """(codes data, indices indices, floats scales, codes zeros) => (y) {
    y = com.microsoft.GatherBlockQuantized <bits = @bits ? 4, block_size = @block ? 128,
    gather_axis = @gather ? 0, quantize_axis = @quantize ? 1> (data, indices, scales, zeros?) }"""
_OUTSIDE = "an index outside gives zeros"


@defines(_GATHER, since=21, differs=_OUTSIDE, **_FACTS)
def gather_block_quantized_21(case: Case) -> str:
    """Gather, then DequantizeLinear by blocks."""
    axis, before = _gather(case)
    zero = ", zero" if case.has("zeros") else ""
    codes = f"codes = Identity (dataG) {'zero = Identity (zerosG)' if zero else ''}"
    if case.is_typed("data", "uint8"):
        codes = f"{_whole_codes(case)} codes = Cast <to = {21 if case['bits'] == 4 else 2}> (dataI)"
        codes += f"  zero = Cast <to = {21 if case['bits'] == 4 else 2}> (zerosI)"
        zero = ", zero"
    return f"""{before} {codes}
        n = DequantizeLinear <axis = {axis}, block_size = {case["block"]}> (codes, scalesG{zero})
        {_AFTER}"""


@defines(_GATHER, differs=_OUTSIDE, **_FACTS)
def gather_block_quantized(case: Case) -> str:
    """Gather, then the differences of codes and zero points, times the scale of their block."""
    if not case.is_typed("data", "uint8"):
        case.unfit("integers of 4 bits need opset 21")
    axis, before = _gather(case)
    rank = case.rank("data") + case.rank("indices") - 1
    block, kind = case["block"], case.elem_type("scales")
    at = rank + axis if axis < 0 else axis
    if at != rank - 1:
        case.unfit("below opset 21 its blocks must be along the last axis")
    count = case.size("scales", -1)
    shape = [*[0] * at, -1 if count is None else count * block]
    return f"""{before} {_whole_codes(case)} codes = Cast <to = {kind}> (dataI)
        zero = Cast <to = {kind}> (zerosI)  zeroB = Unsqueeze <axes = [{rank}]> (zero)
        scaleB = Unsqueeze <axes = [{rank}]> (scalesG)
        full = Shape (scalesG)  open = Concat <axis = 0> (full, [{block}])
        size = Shape (codes)  last = Gather (size, [{at}])  blocks = Gather (full, [{at}])
        whole = Mul (blocks, [{block}])  missing = Sub (whole, last)
        sides = Concat <axis = 0> ({[0] * (rank + at)}, missing)  padded = Pad (codes, sides)
        rows = Reshape (padded, open)  d = Sub (rows, zeroB)  m = Mul (d, scaleB)
        flat = Reshape <shape = {shape}> (m)
        n = Slice (flat, [0], last, [{at}]) {_AFTER}"""


_AFTER = "k = Where (validU, n, nothing)  y = Identity (k)"


def _gather(case: Case) -> tuple[int, str]:
    """The axis of blocks after a Gather, and the nodes of that."""
    rank, more = case.rank("data"), case.rank("indices") - 1
    if not all(-rank <= axis < rank for axis in (case["gather"], case["quantize"])):
        case.unfit("its axes are not those of data")
    gather, quantize = case["gather"] % rank, case["quantize"] % rank
    names = ["data", *(["zeros"] if case.has("zeros") else [])]
    is_signed = case.elem_type("data") == onnx.TensorProto.INT4
    wide = 3 if is_signed else 2  # Gather takes no integers of 4 bits
    nodes = " ".join(
        f"{name}W = Cast <to = {wide}> ({name})  {name}G = Gather <axis = {gather}> ({name}W, safe)"
        for name in names
    )
    nodes += f" scalesG = Gather <axis = {gather}> (scales, safe)"
    around = [*range(gather), *range(gather + more + 1, rank + more)]
    like = case.elem_type("indices")
    return (
        quantize + (more if quantize > gather else 0),
        f"""size0 = Shape (data)
        length = Gather (size0, {gather})  end = Cast <to = {like}> (length)
        low = Neg (end)  tooLow = Less (indices, low)  inside = Less (indices, end)
        over = Not (inside)  outside = Or (tooLow, over)  valid = Not (outside)
        safe = Where (valid, indices, 0)  validU = Unsqueeze <axes = {around}> (valid)
        nothing = Cast <to = {case.elem_type("scales")}> (0.0) {nodes}""",
    )


def _whole_codes(case: Case) -> str:
    """Nodes that unpack gathered bytes, and zero points, along the last axis."""
    bits, rank = case["bits"], case.rank("data") + case.rank("indices") - 1
    width = [case.size(name, -1) for name in ("data", "zeros") if case.has(name)]
    shape, *shapes = [[*[0] * (rank - 1), -1 if w is None else w * 8 // bits] for w in width]
    nodes = unpack("dataG", bits, rank, str(shape), "dataI")
    if not case.has("zeros"):
        return f"""{nodes} sizes = Shape (scalesG)  middle = Expand ({1 << (bits - 1)}, sizes)
            zerosI = Cast <to = 2> (middle)"""
    return f"""{nodes} {unpack("zerosG", bits, rank, str(shapes[0]), "zerosA")}
        sizes = Shape (scalesG)  count = Gather (sizes, [{rank - 1}])
        zerosI = Slice (zerosA, [0], count, [{rank - 1}])"""
