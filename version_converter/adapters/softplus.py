"""Softplus: log (1 + exp (x)).

- 1: the operator appears.
- 22: bfloat16.
"""

from ..registry import INEXACT_BODIES

# log (exp (x) + 1) overflows, and is 0 where little is added to 1.
INEXACT_BODIES.add("Softplus")
