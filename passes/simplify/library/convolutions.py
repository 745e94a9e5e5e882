"""Convolutions with the sums, products and normalizations after them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..rules.match import Match
from ..rules.registry import shipped
from ..rules.rule import Rule

_IMAGE, _KERNEL = ("h", "i", "j"), ("p", "q", "r")
_SPATIAL = {"h": 7, "i": 6, "j": 5, "p": 3, "q": 1, "r": 2}
"""Sizes of images and kernels in proofs; batch and channels have any size."""


def _cases(self: Rule, ranks: Mapping[str, int]) -> list[dict[str, Any]]:
    """Take one group and two, with and without strides."""
    rank = ranks["x"] - 2
    strides = {"strides": (2, 1, 1)[:rank], "pads": (1,) * (2 * rank)}
    groups: dict[str, Any] = {"c": 4, "d": 2, "m": 6, "A": {"group": 2}}
    forms: list[dict[str, Any]] = [{"d": "c", "A": {}}, {"d": "c", "A": strides}, groups]
    return [{**_SPATIAL, **form, "e": 1e-3} for form in forms]


def _cases_transposed(self: Rule, ranks: Mapping[str, int]) -> list[dict[str, Any]]:
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
        self.bias = ", b" if has_bias else ""
        self.name = f"{op_type}{rank}D{'Bias' if has_bias else ''}"

    def node(self, weights: str, bias: str) -> str:
        """The convolution of the image with weights and a bias."""
        return f"{self.op_type} <*A> (x, {weights}{bias})"

    def rule(self, kind: str, where: Any = None, **content: Any) -> None:
        """Add a rule.

        Args:
            kind: the start of its name.
            where: a condition beside that on the channels.
            content: its texts.
        """
        transposed = self.op_type == "ConvTranspose"
        rank = self.rank

        def channels(rule: Rule, match: Match) -> bool:
            group, count = match["A"].get("group", 1), match.shape("w")
            if transposed and group != 1 and (count is None or count[0].value != group):
                return False
            first = group if transposed else -1
            match.bind("filters", (first, *((-1,) if transposed else (1,)), *(1,) * rank))
            return where is None or bool(where(rule, match))

        content |= {"exactness": "reals", "where": channels}
        content["cases"] = _cases_transposed if transposed else _cases
        shipped(type(f"{kind}{self.name}", (Rule,), content))


def _add(form: _Convolution) -> None:
    bias = "Add (b, v)" if form.bias else "Identity (v)"
    form.rule(
        "AddOf",
        __doc__=f"Add a constant in the bias of a {form.op_type}.",
        before=tuple(
            f"""{form.header}, const floats s[{axes}]) => (y) {{
                t = {form.node("w", form.bias)}  y = Add (t, s) }}"""
            for axes in (f"m, {form.ones}", f"1, m, {form.ones}")
        ),
        after=f"""(x, w, s{form.bias}) => (y) {{
            v = Reshape (s, [-1])  u = {bias}  y = {form.node("w", ", u")} }}""",
    )


def _scale(form: _Convolution, op_type: str) -> None:
    bias = f"u = {op_type} (b, v)  " if form.bias else ""
    form.rule(
        f"{op_type}Of",
        __doc__=f"Apply {op_type} to the weights of a {form.op_type}.",
        before=tuple(
            f"""{form.header}, const floats s[{axes}]) => (y) {{
                t = {form.node("w", form.bias)}  y = {op_type} (t, s) }}"""
            for axes in (f"m, {form.ones}", f"1, m, {form.ones}")
        ),
        after=f"""(x, w, s{form.bias}) => (y) {{
            v = Reshape (s, [-1])  k = Reshape (s, @filters)  l = {op_type} (w, k)
            {bias}y = {form.node("l", ", u" if form.bias else "")} }}""",
    )


def _normalize(form: _Convolution) -> None:
    def where(self: Rule, match: Match) -> bool:
        return match.bind("z", np.array(match["e"], np.float32))

    shift = "g = Sub (b, mu)" if form.bias else "g = Neg (mu)"
    values = "const float f[m], const float o[m], const float mu[m], const float va[m]"
    header = form.header.replace("floats", "float")
    form.rule(
        "NormalizationOf",
        where,
        __doc__=f"Normalize a batch in the weights of a {form.op_type}.",
        before=f"""{header}, {values}) => (y) {{
            t = {form.node("w", form.bias)}
            y = BatchNormalization <epsilon = @e> (t, f, o, mu, va) }}""",
        after=f"""(x, w, f, o, mu, va{form.bias}) => (y) {{
            a = Add (va, @z)  s = Sqrt (a)  k = Div (f, s)
            l = Reshape (k, @filters)  v = Mul (w, l)
            {shift}  i = Mul (g, k)  u = Add (i, o)  y = {form.node("v", ", u")} }}""",
    )


for _rank in (1, 2, 3):
    for _has_bias in (False, True):
        for _kind in ("Conv", "ConvTranspose"):
            _form = _Convolution(_kind, _rank, _has_bias)
            _normalize(_form)
            _add(_form)
            for _op_type in ("Mul", "Div"):
                _scale(_form, _op_type)
