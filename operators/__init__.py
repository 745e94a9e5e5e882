"""What is known about each operator: `rules_of` gives it, and a class in a file here says it."""

from .rules import OLDEST_OPSET, OperatorRules, described, describes, rules_of
from .tables import fill

fill()

__all__ = ["OLDEST_OPSET", "OperatorRules", "described", "describes", "rules_of"]
