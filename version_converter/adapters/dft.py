"""DFT: the axis of a Fourier transform.

- 17: the operator appears; `axis` is an attribute, by default 1.
- 20: `axis` is an input; one that is absent is -2.
"""

from __future__ import annotations

from ..attribute_to_input import Move, move_attributes

move_attributes(20, "DFT", moves=[Move("axis", 2, "scalar int", absent=-2)])
