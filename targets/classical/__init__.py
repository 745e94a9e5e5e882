"""Decompositions of ai.onnx.ml, the domain of classical models, into operators of ONNX's own.

Each gives the numbers of the specification and of onnxruntime where the two agree, and refuses the
forms where they do not.
"""

from . import features as features
from . import labels as labels
from . import linear as linear
from . import support_vectors as support_vectors
from . import trees as trees
from .common import CLASSICAL as CLASSICAL
