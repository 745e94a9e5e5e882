"""What clients of ONNX models take, and models that are made to fit.

A target is a small file of data: the opsets that a compiler or runtime reads, its operators, and
the forms of them that it does not take. `shipped/` holds those of well-known ones; `load` reads one
of your own. How a model is made to fit: `fitting.py`.
"""

from .description import Form as Form
from .description import Opsets as Opsets
from .description import Source as Source
from .description import Target as Target
from .description import TargetError as TargetError
from .shelf import find as find
from .shelf import load as load
from .shelf import names as names
from .shelf import target_of as target_of
