"""Every pass that a test of this folder runs in a pipeline is held to its conditions."""

from conditions import conditions

__all__ = ["conditions"]
