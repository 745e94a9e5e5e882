"""Rules of each operator: `rules_of` looks up the class that describes it.

Importing this package registers the classes.
"""

from . import composite as composite
from . import elementwise as elementwise
from . import generators as generators
from . import indexing as indexing
from . import normalization as normalization
from . import products as products
from . import quantization as quantization
from . import randomness as randomness
from . import reductions as reductions
from . import reshaping as reshaping
from . import sequences as sequences
from . import slicing as slicing
from . import windows as windows
from .rules import OLDEST_OPSET, OperatorRules, agrees, described, describes, rules_of

__all__ = ["OLDEST_OPSET", "OperatorRules", "agrees", "described", "describes", "rules_of"]
