"""Simplifications: rewrite rules from an operator on terms to a simpler term, exact bit for bit.

A rule is a function of the term manager, a head and its arguments; it returns the outputs, or None
where it does not apply. No rule here holds only up to rounding.
"""

from . import concat as concat
from . import dynamic_sizes as dynamic_sizes
from . import leading_axes as leading_axes
from . import minima as minima
from . import no_ops as no_ops
from . import padding as padding
from . import reshape as reshape
from . import scatter as scatter
from . import select as select
from . import sequences as sequences
from . import slices as slices
from . import whole_floats as whole_floats
