"""Canonical forms of attributes, inputs and names that differ between versions.

Where only attributes differ, `terms/op_semantics.py` brings an operator to its newest version. The
rules here need terms: constants that became inputs, negative axes, operators of another name,
longer forms for types that a version lacks. Each returns the outputs in the canonical form, or None
where the term has it.
"""

from . import attribute_to_input as attribute_to_input
from . import axes as axes
from . import bit_casts as bit_casts
from . import entries as entries
from . import gather as gather
from . import quantization as quantization
from . import recurrent_states as recurrent_states
from . import resize as resize
from . import rewrites as rewrites
from . import wide_detours as wide_detours
from . import windows as windows
