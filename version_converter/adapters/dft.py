"""DFT: the axis of a Fourier transform.

https://onnx.ai/onnx/operators/onnx__DFT.html

- 17: the operator appears; `axis` is an attribute, by default 1.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#DFT-17
- 20: `axis` is an input; one that is absent is -2.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#DFT-20
"""

from __future__ import annotations

from ..attribute_to_input import Move, move_attributes

move_attributes(20, "DFT", moves=[Move("axis", 2, "scalar int", absent=-2)])
