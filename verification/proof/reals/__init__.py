"""Equality over the reals: float operators as functions of a field, without rounding."""

from . import attention as attention
from . import definitions as definitions
from . import indicators as indicators
from . import products as products
