"""Rules: what an operator on terms is, where that is simpler. Each is exact, bit for bit.

A rule is a function of the terms, a head and its arguments; it gives the outputs, or None where it
has nothing to say. One that holds up to rounding does not exist here.
"""

from . import choosing as choosing
from . import counting as counting
from . import filling as filling
from . import joining as joining
from . import moving as moving
from . import parts as parts
from . import reducing as reducing
from . import sequences as sequences
from . import stretching as stretching
from .registry import LATE, RULES, Rule, rule

__all__ = ["LATE", "RULES", "Rule", "rule"]
