"""Definitions: operators as functions of other operators, by the operator specification."""

from . import composite as composite
from . import einsum as einsum
from . import indexing as indexing
from . import movement as movement
from . import normalization as normalization
from . import quantization as quantization
from . import resampling as resampling
