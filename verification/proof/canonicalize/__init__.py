"""One spelling for what versions of an operator say by an attribute, an input or another name.

Where only attributes differ, `history.py` carries a head to its newest version. Here stands what
takes terms: constants that became inputs, axes that count from the back, operators that got another
name, longer forms for types that a version lacks. Each function gives what the operator means in
the one spelling that is compared, or None where it is in that spelling.
"""

from . import axes as axes
from . import bounds as bounds
from . import casts as casts
from . import comparisons as comparisons
from . import extremes as extremes
from . import gathered as gathered
from . import inputs as inputs
from . import reductions as reductions
from . import resizing as resizing
from . import softmax as softmax
from . import splits as splits
from .registry import SPELLINGS, Spelling, spelling

__all__ = ["SPELLINGS", "Spelling", "spelling"]
