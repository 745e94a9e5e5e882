"""Limits of the work done before run time: one count for all callers."""

from .governor import Governor, Limits, current, governed
from .table import LIMITS, Limit, allowed, limit

__all__ = ["LIMITS", "Governor", "Limit", "Limits", "allowed", "current", "governed", "limit"]
