"""Forms of operators for clients that lack some indices, operands, ranks, types or windows."""

from . import indices as indices
from . import operands as operands
from . import ranks as ranks
from . import types as types
from . import windows as windows
from .registered import DECOMPOSITIONS as DECOMPOSITIONS
from .registered import decomposes as decomposes
from .registered import decompositions_of as decompositions_of
