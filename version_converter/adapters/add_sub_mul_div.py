"""Add, Sub, Mul and Div: broadcasting, and the types of their operands.

- 1: floats; `broadcast` and `axis` place the second operand.
- 6: 32 and 64-bit integers.
- 7: shapes broadcast.
- 13 and 14: more types.
"""

from ..attribute_broadcasting import broadcasts_by_attribute

broadcasts_by_attribute("Add", "Sub", "Mul", "Div")
