"""Operators that move elements, or choose one: their definitions hold bit for bit."""

from __future__ import annotations

from .functions import Application, defined, defined_by_onnx

defined_by_onnx("CenterCropPad", types=None, is_exact=True, fails_alike=True)

_FROM_DEPTH = {"DCR": ("B, B, C", [0, 3, 4, 1, 5, 2]), "CRD": ("C, B, B", [0, 1, 4, 2, 5, 3])}
"""Parts of the channels and order of the axes, by mode of DepthToSpace."""

_TO_DEPTH = {"DCR": [0, 3, 5, 1, 2, 4], "CRD": [0, 1, 3, 5, 2, 4]}
"""Order of the axes, by mode of SpaceToDepth (28)."""

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
