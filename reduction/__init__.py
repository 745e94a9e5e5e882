"""Reduction of models by delta debugging, to the smallest on which a command still fails."""

from .command import CommandError, FailingCommand
from .reduce import Reduction, ReductionError, Size, reduce_model, size_of

__all__ = [
    "CommandError",
    "FailingCommand",
    "Reduction",
    "ReductionError",
    "Size",
    "reduce_model",
    "size_of",
]
