"""The rewrites, one per file, and the pipeline that runs them."""

from .base import Pass, PassOptionError, Progress, Remark, RewriteError, Run
from .eliminate_dead_functions import EliminateDeadFunctions
from .eliminate_dead_nodes import EliminateDeadNodes
from .eliminate_identities import EliminateIdentities
from .fold_constants import FoldConstants
from .fold_shapes import FoldShapes
from .forward_invariants import ForwardInvariants
from .freeze_initializers import FreezeInitializers
from .ifs_to_selects import IfsToSelects
from .infer_shapes import InferShapes
from .inline_functions import InlineFunctions
from .inline_ifs import InlineIfs
from .lower_sequences import LowerSequences
from .pipeline import Pipeline, Result, StrictError
from .predicate_loops import PredicateLoops
from .registry import PASSES, parse_pipeline, straighten
from .scan_8_to_9 import Scan8To9
from .scan_9_to_8 import Scan9To8
from .unroll_loops import UnrollLoops
from .unroll_scans import UnrollScans

__all__ = [
    "PASSES",
    "EliminateDeadFunctions",
    "EliminateDeadNodes",
    "EliminateIdentities",
    "FoldConstants",
    "FoldShapes",
    "ForwardInvariants",
    "FreezeInitializers",
    "IfsToSelects",
    "InferShapes",
    "InlineFunctions",
    "InlineIfs",
    "LowerSequences",
    "Pass",
    "PassOptionError",
    "Pipeline",
    "PredicateLoops",
    "Progress",
    "Remark",
    "Result",
    "RewriteError",
    "Run",
    "Scan8To9",
    "Scan9To8",
    "StrictError",
    "UnrollLoops",
    "UnrollScans",
    "parse_pipeline",
    "straighten",
]
