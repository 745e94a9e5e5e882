"""Proof that two models give equal outputs for every input: translation validation.

Both models are run on symbols (`execution.py`, `constructs/`) and what they give out is compared as
terms (`algebra.py`, `rules/`, `comparison.py`). Nothing here knows what a pass did (Pnueli, Siegel
and Singerman, "Translation Validation", 1998; Necula, "Translation Validation for an Optimizing
Compiler", 2000).
"""

from .prove import prove
from .result import Proof

__all__ = ["Proof", "prove"]
