"""DequantizeLinear as its formula: a difference of integers, scaled."""

import onnx

from ....facts.types import INTEGER_BITS
from .functions import FLOAT, Application, defined

_EXACT = frozenset([kind for kind, bits in INTEGER_BITS.items() if bits <= 16])
"""Integers whose differences are exact as floats. A kernel scales such a difference once, so that
its bits are those of the formula. QuantizeLinear casts NaN to integers, which no formula says."""


@defined(
    "DequantizeLinear",
    types=_EXACT | {onnx.TensorProto.INT32},
    attributes=("axis", "block_size", "output_dtype"),
    is_exact=True,
    fails_alike=True,
    broadcasts=True,
)
def dequantize(application: Application) -> str | None:
    """(x - zero point) * scale, of a tensor, a slice or a block."""
    kinds = {application.elem_type(1), application.attribute("output_dtype", 0) or FLOAT}
    spread = [_spread(application, 1, "Scale")]
    spread += [_spread(application, 2, "Point")] if application.has(2) else []
    if kinds != {FLOAT} or None in spread:
        return None
    if application.has(2) and application.elem_type() not in _EXACT:
        return None
    moved = "Sub (Wide, WidePoint)" if application.has(2) else "Identity (Wide)"
    point = "WidePoint = Cast <to = 6> (PointSpread)" if application.has(2) else ""
    return f"""(X, Scale, Point) => (Y) {{
        {" ".join(map(str, spread))}
        Wide = Cast <to = 6> (X)
        {point}
        Moved = {moved}
        Number = Cast <to = 1> (Moved)
        Y = Mul (Number, ScaleSpread)
    }}"""


def _spread(application: Application, index: int, name: str) -> str | None:
    """Nodes that give each element of the first input its element of another one. None if the ranks
    are unknown or do not fit."""
    part = application.args[index]
    shape = None if part is None else part.fact.shape
    rank, of_parts = application.rank(), application.rank(index)
    axis = application.attribute("axis", 1)
    if shape == () or (shape is not None and len(shape) == 1 and shape[0].value == 1):
        return f"""{name}Shape = Constant <value_ints : ints = []> ()
        {name}Spread = Reshape ({name}, {name}Shape)"""
    if rank is None or of_parts is None or not -rank <= axis < rank:
        return None
    axis %= rank
    size = application.attribute("block_size", 0)
    if of_parts == 1 and not size:
        return f"""{name}Shape = Constant <value_ints = {[-1] + [1] * (rank - 1 - axis)}> ()
        {name}Spread = Reshape ({name}, {name}Shape)"""
    if of_parts != rank or size < 1:
        return None
    return f"""{name}Axis = Constant <value_int = {axis}> ()
        {name}Sizes = Shape (X)
        {name}Size = Gather <axis = 0> ({name}Sizes, {name}Axis)
        {name}Zero = Constant <value_int = 0> ()
        {name}One = Constant <value_int = 1> ()
        {name}Places = Range ({name}Zero, {name}Size, {name}One)
        {name}Length = Constant <value_int = {size}> ()
        {name}Blocks = Div ({name}Places, {name}Length)
        {name}Spread = Gather <axis = {axis}> ({name}, {name}Blocks)"""
