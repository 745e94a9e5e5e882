"""Softplus: log (1 + exp (x)).

- 1: the operator appears.
- 22: bfloat16.
"""

from __future__ import annotations

from ..registry import inexact_body

# log (exp (x) + 1) overflows, and is 0 where little is added to 1.
inexact_body("Softplus")
