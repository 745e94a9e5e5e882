"""What may be computed before run time: one count for all who ask."""

from .governor import Governor, Limits, current, governed

__all__ = ["Governor", "Limits", "current", "governed"]
