"""Rules of straightline, by theme, in the order in which they are tried."""

from ..rules.registry import RAISED as RAISED
from ..rules.registry import SHIPPED as SHIPPED
from . import arithmetic as arithmetic
from . import attention as attention
from . import bounds as bounds
from . import broadcasting as broadcasting
from . import casts as casts
from . import chains as chains
from . import contractions as contractions
from . import convolutions as convolutions
from . import identities as identities
from . import movement as movement
from . import quantization as quantization
