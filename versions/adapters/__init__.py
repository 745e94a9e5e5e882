"""Adapters: what carries one operator across one change of version.

Importing this package registers them. The plain moves come last: the others look at a node before
its constants have moved.
"""

from . import axes as axes
from . import comparing as comparing
from . import loops as loops
from . import missing as missing
from . import normalization as normalization
from . import pooling as pooling
from . import positions as positions
from . import quantization as quantization
from . import reduction as reduction
from . import resize as resize
from . import scatter as scatter
from . import selection as selection
from . import shaping as shaping
from . import slicing as slicing
from . import softmax as softmax
from .casts import DETOURS, detour
from .moves import MOVES, register_moves
from .registry import DOWNGRADES, UPGRADES, Adapter, Outcome, adapt

register_moves()

__all__ = [
    "DETOURS",
    "DOWNGRADES",
    "MOVES",
    "UPGRADES",
    "Adapter",
    "Outcome",
    "adapt",
    "detour",
]
