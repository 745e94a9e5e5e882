"""What clients of ONNX models take, and models that are made to fit.

A target is a small file of data: the opsets that a compiler or runtime reads, its operators, and
the forms of them that it does not take. `shipped/` holds those of well-known ones; `load` reads one
of your own. How a model is made to fit: `driver/fit_target.py`.
"""

from .registry import find as find
from .registry import load as load
from .registry import names as names
from .registry import target_of as target_of
from .target import Form as Form
from .target import Opsets as Opsets
from .target import Source as Source
from .target import Target as Target
from .target import TargetError as TargetError
