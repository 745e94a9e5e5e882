"""Targets: the operators that clients of ONNX models support.

A target is a small file of data: the opsets that a compiler or runtime reads, its operators, and
their unsupported forms. `shipped/` has those of well-known clients; `load` reads one of your own.
`fit_target.py` fits a model to a target.
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
