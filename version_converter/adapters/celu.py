"""Celu: an exponential below zero.

- 12: the operator appears.
- 28: other floats.
"""

from ..registry import UNFIT_BODIES

# Where alpha is negative, the function bends the numbers above zero.
UNFIT_BODIES["Celu"] = lambda node: not (node.op.references or node.attribute("alpha", 1.0) > 0)
