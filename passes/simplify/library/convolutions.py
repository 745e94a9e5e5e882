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


class _Convolution:
    """Texts of a Conv with a number of spatial axes, with or without a bias."""

    def __init__(self, rank: int, has_bias: bool) -> None:
        image, kernel = (", ".join(names[:rank]) for names in (_IMAGE, _KERNEL))
        bias = ", const floats b[m]" if has_bias else ""
        self.header = f"(floats x[n, c, {image}], const floats w[m, d, {kernel}]{bias}"
        self.node = f"Conv <*A> (x, w{', b' if has_bias else ''})"
        self.ones = ", ".join("1" * rank)
        self.name = f"Conv{rank}D{'Bias' if has_bias else ''}"

    def rule(self, kind: str, **content: Any) -> None:
        """Add a rule."""
        content |= {"exactness": "reals", "cases": _cases}
        shipped(type(f"{kind}{self.name}", (Rule,), content))


def _add(form: _Convolution, has_bias: bool) -> None:
    bias = "Add (b, v)" if has_bias else "Identity (v)"
    form.rule(
        "AddOf",
        __doc__="Add a constant in the bias of a Conv.",
        before=tuple(
            f"{form.header}, const floats s[{axes}]) => (y) {{ t = {form.node}  y = Add (t, s) }}"
            for axes in (f"m, {form.ones}", f"1, m, {form.ones}")
        ),
        after=f"""(x, w, s{", b" if has_bias else ""}) => (y) {{
            v = Reshape (s, [-1])  u = {bias}  y = Conv <*A> (x, w, u) }}""",
    )


def _scale(form: _Convolution, op_type: str, has_bias: bool) -> None:
    bias = f"u = {op_type} (b, v)  " if has_bias else ""
    form.rule(
        f"{op_type}Of",
        __doc__=f"Apply {op_type} to the weights of a Conv.",
        before=tuple(
            f"""{form.header}, const floats s[{axes}]) => (y) {{
                t = {form.node}  y = {op_type} (t, s) }}"""
            for axes in (f"m, {form.ones}", f"1, m, {form.ones}")
        ),
        after=f"""(x, w, s{", b" if has_bias else ""}) => (y) {{
            v = Reshape (s, [-1])  k = Reshape (s, [-1, 1, {form.ones}])  l = {op_type} (w, k)
            {bias}y = Conv <*A> (x, l{", u" if has_bias else ""}) }}""",
    )


def _normalize(form: _Convolution, has_bias: bool) -> None:
    def where(self: Rule, match: Match) -> bool:
        return match.bind("z", np.array(match["e"], np.float32))

    shift = "g = Sub (b, mu)" if has_bias else "g = Neg (mu)"
    values = "const float f[m], const float o[m], const float mu[m], const float va[m]"
    header = form.header.replace("floats", "float")
    form.rule(
        "NormalizationOf",
        __doc__="Normalize a batch in the weights of a Conv.",
        where=where,
        before=f"""{header}, {values}) => (y) {{
            t = {form.node}  y = BatchNormalization <epsilon = @e> (t, f, o, mu, va) }}""",
        after=f"""(x, w, f, o, mu, va{", b" if has_bias else ""}) => (y) {{
            a = Add (va, @z)  s = Sqrt (a)  k = Div (f, s)
            l = Reshape (k, [-1, 1, {form.ones}])  v = Mul (w, l)
            {shift}  i = Mul (g, k)  u = Add (i, o)  y = Conv <*A> (x, v, u) }}""",
    )


for _rank in (1, 2, 3):
    for _has_bias in (False, True):
        _form = _Convolution(_rank, _has_bias)
        _normalize(_form, _has_bias)
        _add(_form, _has_bias)
        for _op_type in ("Mul", "Div"):
            _scale(_form, _op_type, _has_bias)
