"""Translation validation: proof that two models give equal outputs for every input.

Symbolic execution (`execution/`, `control_flow/`) turns both models into terms (`terms/`). Rewrite
rules (`canonicalize/`, `simplify/`) bring terms to a normal form as they are built, and `equality/`
compares the outputs, bit for bit, up to the signs of zeros, or over the reals (`reals/`). Nothing
here knows what a pass did (Pnueli, Siegel and Singerman, "Translation Validation", 1998; Necula,
"Translation Validation for an Optimizing Compiler", 2000). The floors, from the ground up: terms,
canonicalize, arithmetic, simplify, definitions, reals, equality and execution, control_flow, prove.
"""

from . import canonicalize as canonicalize
from . import control_flow as control_flow
from . import definitions as definitions
from . import simplify as simplify
from .prove import prove
from .result import Condition, Proof
from .terms.evaluations import Evaluation

__all__ = ["Condition", "Evaluation", "Proof", "prove"]
