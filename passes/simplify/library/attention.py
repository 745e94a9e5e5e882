"""Parts of attention that onnxruntime computes in one node of com.microsoft.

Measured under onnxruntime 1.32 on one thread: a rotation takes 0.36 to 0.57 of the time of its
nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rules.match import Match
from ..rules.registry import raised
from ..rules.rule import Rule


@raised
class RotaryEmbedding(Rule):
    """Rotate the halves of queries or keys by angles that all batches share."""

    before = """(float x[b, n, s, d], float angles[1, s, h]) => (y) {
        both = Concat <axis = -1> (angles, angles)  cos = Cos (both)  sin = Sin (both)
        c = Unsqueeze <axes = [1]> (cos)  z = Unsqueeze <axes = [1]> (sin)
        first, second = Split <axis = 3, split = @sizes> (x)
        minus = Neg (second)  turned = Concat <axis = -1> (minus, first)
        real = Mul (x, c)  imag = Mul (turned, z)  y = Add (real, imag)
    }"""
    after = """(x, angles) => (y) {
        row = Squeeze <axes = [0]> (angles)  cosRows = Cos (row)  sinRows = Sin (row)
        y = com.microsoft.RotaryEmbedding (x, [0], cosRows, sinRows)
    }"""
    exactness = "reals"
    since = 11

    def where(self, match: Match) -> bool:
        """Require halves of the size of the angles."""
        sizes = match["sizes"]
        return len(sizes) == 2 and sizes[0] == sizes[1] == match.sizes["h"].value

    def cases(self, ranks: Any) -> list[dict[str, Any]]:
        """Write heads of two and eight elements."""
        return [{"h": half, "d": 2 * half, "sizes": (half, half)} for half in (1, 4)]


@raised
class RotaryEmbeddingByTables(Rule):
    """Rotate the halves of queries or keys by constant cosines and sines."""

    before = """(float x[b, n, s, d], const c[1, 1, s, d], const z[1, 1, s, d]) => (y) {
        first, second = Split <axis = 3, split = @sizes> (x)
        minus = Neg (second)  turned = Concat <axis = -1> (minus, first)
        real = Mul (x, c)  imag = Mul (turned, z)  y = Add (real, imag)
    }"""
    after = """(x, c, z) => (y) {
        cosines, cosRest = Split <axis = 3, split = @sizes> (c)
        sines, sinRest = Split <axis = 3, split = @sizes> (z)
        cosRows = Squeeze <axes = [0, 1]> (cosines)  sinRows = Squeeze <axes = [0, 1]> (sines)
        y = com.microsoft.RotaryEmbedding (x, [0], cosRows, sinRows)
    }"""
    exactness = "reals"
    since = 11

    def where(self, match: Match) -> bool:
        """Require tables with equal halves."""
        tables, sizes = [match.array("c"), match.array("z")], match["sizes"]
        if len(sizes) != 2 or sizes[0] != sizes[1] or any(table is None for table in tables):
            return False
        halves = [np.split(table, 2, axis=3) for table in tables if table is not None]
        return all(np.array_equal(one, other) for one, other in halves)

    def cases(self, ranks: Any) -> list[dict[str, Any]]:
        """Write tables of three positions."""
        angles = np.arange(12.0).reshape(1, 1, 3, 4) / 7
        tables = {"c": np.cos, "z": np.sin}
        values = {name: np.concatenate([f(angles)] * 2, 3) for name, f in tables.items()}
        return [{"s": 3, "d": 8, "sizes": (4, 4), **values}]
