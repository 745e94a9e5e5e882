"""Concat: tensors one after the other along an axis.

- 4: `axis` counts from the front.
- 11: `axis` may be negative.
- 13: bfloat16.
"""

from __future__ import annotations

from ..negative_axes import Axis, negative_axes

negative_axes("Concat", axis=Axis("axis"))
