"""And, Or and Xor: broadcasting.

- 1: `broadcast` and `axis` place the second operand.
- 7: shapes broadcast.
"""

from ..attribute_broadcasting import broadcasts_by_attribute

broadcasts_by_attribute("And", "Or", "Xor")
