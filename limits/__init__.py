"""What may be computed before run time: one count for all who ask."""

from .governor import Governor, Limits, current, governed
from .table import LIMITS, Limit, allowed, limit

__all__ = ["LIMITS", "Governor", "Limit", "Limits", "allowed", "current", "governed", "limit"]
