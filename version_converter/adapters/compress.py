"""Compress: the slices along an axis that a condition picks.

- 9: `axis` counts from the front.
- 11: `axis` may be negative.
- 28: bfloat16.
"""

from __future__ import annotations

from ..negative_axes import Axis, negative_axes

negative_axes("Compress", axis=Axis("axis"))
