"""The rewrites, one per file, and the pipeline that runs them."""

from .base import Pass, PassOptionError, Progress, Remark, RewriteError, Run
from .cleanup.eliminate_dead_nodes import EliminateDeadNodes
from .cleanup.eliminate_identities import EliminateIdentities
from .cleanup.fold_constants import FoldConstants
from .cleanup.fold_shapes import FoldShapes
from .cleanup.freeze_initializers import FreezeInitializers
from .cleanup.infer_shapes import InferShapes
from .control.forward_invariants import ForwardInvariants
from .control.ifs_to_selects import IfsToSelects
from .control.inline_ifs import InlineIfs
from .control.predicate_loops import PredicateLoops
from .control.unroll_loops import UnrollLoops
from .functions.eliminate_dead_functions import EliminateDeadFunctions
from .functions.inline_functions import InlineFunctions
from .pipeline import Pipeline, Result, StrictError
from .registry import PASSES, parse_pipeline, straighten
from .scans.scan_8_to_9 import Scan8To9
from .scans.scan_9_to_8 import Scan9To8
from .scans.unroll_scans import UnrollScans
from .sequences.lower_sequences import LowerSequences

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
