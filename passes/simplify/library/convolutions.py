"""Convolutions with the factors before them, and the sums, products and normalizations after."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....facts.polynomial import product
from ..rules.match import Match
from ..rules.registry import law
from .contractions import belongs_to_gelu

_IMAGE, _KERNEL = ("h", "i", "j"), ("p", "q", "r")
_SPATIAL = {"h": 7, "i": 6, "j": 5, "p": 3, "q": 1, "r": 2}
"""Sizes of images and kernels in proofs; batch and channels have any size."""


def _cases(ranks: Mapping[str, int]) -> list[dict[str, Any]]:
    """Take one group and two, with and without strides."""
    rank = ranks["x"] - 2
    strides = {"strides": (2, 1, 1)[:rank], "pads": (1,) * (2 * rank)}
    groups: dict[str, Any] = {"c": 4, "d": 2, "m": 6, "A": {"group": 2}}
    forms: list[dict[str, Any]] = [{"d": "c", "A": {}}, {"d": "c", "A": strides}, groups]
    return [{**_SPATIAL, **form, "e": 1e-3} for form in forms]


def _cases_transposed(ranks: Mapping[str, int]) -> list[dict[str, Any]]:
    """Take one group, with and without strides, and a group for each channel."""
    rank = ranks["x"] - 2
    strides = {"strides": (2, 1, 3)[:rank], "pads": (1,) * (2 * rank)}
    strides["output_padding"] = (1, 0, 0)[:rank]
    groups: dict[str, Any] = {"c": 4, "d": 2, "m": 8, "A": {"group": 4}}
    forms: list[dict[str, Any]] = [{"d": "m", "A": {}}, {"d": "m", "A": strides}, groups]
    return [{**_SPATIAL, **form, "e": 1e-3} for form in forms]


class _Convolution:
    """Texts of a convolution with a number of spatial axes, with or without a bias."""

    def __init__(self, op_type: str, rank: int, has_bias: bool) -> None:
        image, kernel = (", ".join(names[:rank]) for names in (_IMAGE, _KERNEL))
        bias = ", const floats b[m]" if has_bias else ""
        self.op_type = op_type
        channels = "m, d" if op_type == "Conv" else "c, d"
        self.header = f"(floats x[n, c, {image}], const floats w[{channels}, {kernel}]{bias}"
        self.ones = ", ".join("1" * rank)
        self.rank = rank
        # Weights of groups do not show the number of output channels.
        shows = op_type == "ConvTranspose" and not has_bias
        self.result = f"y[n, m, {', '.join('uvz'[:rank])}]" if shows else "y"
        self.bias = ", b" if has_bias else ""
        self.name = f"{op_type}{rank}D{'Bias' if has_bias else ''}"

    def node(self, weights: str, bias: str) -> str:
        """The convolution of the image with weights and a bias."""
        return f"{self.op_type} <*A> (x, {weights}{bias})"

    def law(self, head: str, before: str, after: str, where: Any = None) -> None:
        """Add a rule of the convolution.

        Args:
            head: the start of its name, and its summary.
            where: a condition beside that on the channels.
        """
        transposed, rank = self.op_type == "ConvTranspose", self.rank

        def channels(match: Match) -> bool:
            group, count = match["A"].get("group", 1), match.shape("w")
            # In groups of several channels, no axes of the weights are the output channels.
            if transposed and group != 1 and (count is None or count[0].value != group):
                return False
            first = group if transposed else -1
            filters = (first, *((-1,) if transposed else (1,)), *(1,) * rank)
            match.bind("filters", (1,) * (rank + 2) if _is_number(match) else filters)
            return where is None or bool(where(match))

        kind, summary = head.split(": ", 1)
        cases = _cases_transposed if transposed else _cases
        law(f"{kind}{self.name} (reals): {summary}", before, after, channels, cases)


def _is_number(match: Match) -> bool:
    """Test for an operand of one element."""
    shape = match.shape("s") if "s" in match.values else None
    return shape is not None and product(shape).value == 1


def _add(form: _Convolution, op_type: str) -> None:
    channel = 1 if form.op_type == "ConvTranspose" else 0

    def where(match: Match) -> bool:
        """Repeat a number for each channel where there is no bias."""
        weights = match.shape("w")
        count = None if weights is None else weights[channel].value
        group = match["A"].get("group", 1) if channel else 1
        if _is_number(match) and not form.bias and count is None:
            return False
        repeats = (count or 0) * group if _is_number(match) and not form.bias else 1
        return match.bind("channels", (repeats,))

    alone = "u = Neg (r)" if op_type == "Sub" else "u = Identity (r)"
    bias = f"u = {op_type} (b, r)" if form.bias else alone
    form.law(
        f"{op_type}Of: Apply {op_type} to the bias of a {form.op_type}.",
        f"""{form.header}, const floats s[< 1, m, {form.ones}]) => ({form.result}) {{
            t = {form.node("w", form.bias)}  y = {op_type} (t, s) }}""",
        f"""(x, w, s{form.bias}) => (y) {{
            v = Reshape (s, [-1])  r = Expand (v, @channels)
            {bias}  y = {form.node("w", ", u")} }}""",
        where,
    )


def _scale(form: _Convolution, op_type: str) -> None:
    bias = f"u = {op_type} (b, v)  " if form.bias else ""
    form.law(
        f"{op_type}Of: Apply {op_type} to the weights of a {form.op_type}.",
        f"""{form.header}, const floats s[< 1, m, {form.ones}]) => ({form.result}) {{
            t = {form.node("w", form.bias)}  y = {op_type} (t, s) }}""",
        f"""(x, w, s{form.bias}) => (y) {{
            v = Reshape (s, [-1])  k = Reshape (s, @filters)  l = {op_type} (w, k)
            {bias}y = {form.node("l", ", u" if form.bias else "")} }}""",
    )


def _scale_before(form: _Convolution, op_type: str) -> None:
    def where(match: Match) -> bool:
        """Require one group, or the same number for all channels."""
        first = (-1, 1) if form.op_type == "ConvTranspose" else (1, -1)
        match.bind("inputs", (*first, *(1,) * form.rank))
        # The weights of a Conv in groups hold the channels of one group only.
        one_group = form.op_type == "ConvTranspose" or match["A"].get("group", 1) == 1
        return (one_group or _is_number(match)) and not belongs_to_gelu(match)

    form.law(
        f"{op_type}Before:"
        f" Apply {op_type} to the weights of a {form.op_type} instead of its input.",
        f"""{form.header}, const floats s[< 1, c, {form.ones}]) => (y) {{
            t = {op_type} (x, s)  y = {form.node("w", form.bias).replace("(x,", "(t,")} }}""",
        f"""(x, w, s{form.bias}) => (y) {{
            k = Reshape (s, @inputs)  l = {op_type} (w, k)  y = {form.node("l", form.bias)} }}""",
        where,
    )


def _pads(match: Match, rank: int) -> tuple[int, ...] | None:
    """Pads of windows that add the zeros of a Pad to their own; None where they cannot.

    A kernel may refuse an image without pixels, which a Pad fills.
    """
    axes, attributes, widths = rank + 2, match["A"], match["widths"]
    image = match.shape("x")
    value = match.array("z") if "z" in match.values else np.zeros(())
    if image is None or not all(size.value for size in image[2:]) or value is None or value != 0:
        return None
    outside = (*widths[:2], *widths[axes : axes + 2])
    # A Pad may also cut, or pad batch and channels, which windows cannot.
    if len(widths) != 2 * axes or min(widths) < 0 or any(outside):
        return None
    # Such pads follow from the size of the image, which the Pad enlarges.
    if attributes.get("auto_pad", "NOTSET") != "NOTSET":
        return None
    own = attributes.get("pads") or (0,) * 2 * rank
    more = (*widths[2:axes], *widths[axes + 2 :])
    return tuple([a + b for a, b in zip(own, more, strict=True)])


def _pad_before(rank: int, name: str, header: str, node: str, parameters: str) -> None:
    """Add a rule by which a Conv or a mean over windows pads its image.

    Args:
        rank: the number of spatial axes.
        header: the operands, without the closing bracket.
        node: the text of the operator.
        parameters: the names of operands besides the image.
    """

    def where(match: Match) -> bool:
        pads, changes = _pads(match, rank), dict[str, int]()
        if name == "AveragePool":
            attributes = match["A"]
            counts = attributes.get("count_include_pad", 0) or not any(attributes.get("pads", ()))
            # A mean counts the pixels of a Pad, and own pads only by count_include_pad.
            if attributes.get("ceil_mode", 0) or not counts:
                return False
            changes["count_include_pad"] = 1
            # onnxruntime takes only pads below the size of a window.
            sizes = attributes["kernel_shape"] * 2
            if pads is None or any(pad >= size for pad, size in zip(pads, sizes, strict=True)):
                return False
        return pads is not None and match.bind("B", {**match["A"], "pads": pads, **changes})

    def cases(ranks: Mapping[str, int]) -> list[dict[str, Any]]:
        """Pad one side, and both."""
        sides = (0, 0, *(0, 1, 0)[:rank]), (0, 0, *(2, 1, 1)[:rank])
        forms = _cases(ranks)
        if name == "AveragePool":
            window = {"kernel_shape": (3, 2, 2)[:rank], "strides": (2, 1, 1)[:rank]}
            own = {"pads": (1, *(0,) * (2 * rank - 1)), "count_include_pad": 1}
            forms = [{**_SPATIAL, "A": form} for form in (window, {**window, **own})]
        return [{**form, "widths": sides[0] + sides[1], "z": 0.0} for form in forms]

    law(
        f"PadBefore{name}{rank}D{'Bias' if ', b' in parameters else ''} (reals):"
        " Let an operator of windows pad its image.",
        tuple(
            f"""{header}{", const floats z[]" if zero else ""}) => (y) {{
                t = Pad <pads = @widths> (x{zero})  y = {node.replace("(x", "(t")} }}"""
            for zero in ("", ", z")
        ),
        f"(x{parameters}) => (y) {{ y = {node.replace('*A', '*B')} }}",
        where,
        cases,
    )


def _normalize(form: _Convolution) -> None:
    shift = "g = Sub (b, mu)" if form.bias else "g = Neg (mu)"
    values = "const float f[m], const float o[m], const float mu[m], const float va[m]"
    header = form.header.replace("floats", "float")
    form.law(
        f"NormalizationOf: Normalize a batch in the weights of a {form.op_type}.",
        f"""{header}, {values}) => (y) {{
            t = {form.node("w", form.bias)}
            y = BatchNormalization <epsilon = @e> (t, f, o, mu, va) }}""",
        f"""(x, w, f, o, mu, va{form.bias}) => (y) {{
            a = Add (va, @z)  s = Sqrt (a)  k = Div (f, s)
            l = Reshape (k, @filters)  v = Mul (w, l)
            {shift}  i = Mul (g, k)  u = Add (i, o)  y = {form.node("v", ", u")} }}""",
        lambda match: match.bind("z", np.array(match["e"], np.float32)),
    )


for _rank in (1, 2, 3):
    for _has_bias in (False, True):
        for _kind in ("Conv", "ConvTranspose"):
            _form = _Convolution(_kind, _rank, _has_bias)
            if _kind == "Conv":
                _header = _form.header.replace("const ", "")
                _node = _form.node("w", _form.bias)
                _pad_before(_rank, _kind, _header, _node, f", w{_form.bias}")
            _normalize(_form)
            for _op_type in ("Add", "Sub"):
                _add(_form, _op_type)
            for _op_type in ("Mul", "Div"):
                _scale(_form, _op_type)
                _scale_before(_form, _op_type)
    _image = f"(floats x[n, c, {', '.join(_IMAGE[:_rank])}]"
    _pad_before(_rank, "AveragePool", _image, "AveragePool <*A> (x)", "")
