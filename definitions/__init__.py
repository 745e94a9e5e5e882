"""Definitions of operators that ONNX lacks, out of its own."""

from .case import Case, Signature, Unfit
from .definition import Definition
from .registry import Expansion, definitions_of, every, expansion_of, is_foreign, name_of

__all__ = [
    "Case",
    "Definition",
    "Expansion",
    "Signature",
    "Unfit",
    "definitions_of",
    "every",
    "expansion_of",
    "is_foreign",
    "name_of",
]
