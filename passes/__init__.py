"""The rewrites, one per file, and the pipeline that runs them."""

from .base import Pass, PassOptionError, Progress, Remark, RewriteError, Run
from .eliminate_dead_nodes import EliminateDeadNodes
from .eliminate_identities import EliminateIdentities
from .fold_constants import FoldConstants
from .fold_shapes import FoldShapes
from .forward_invariants import ForwardInvariants
from .freeze_initializers import FreezeInitializers
from .infer_shapes import InferShapes
from .inline_ifs import InlineIfs
from .pipeline import Pipeline, Result, StrictError
from .registry import PASSES, parse_pipeline, straighten
from .unroll_loops import UnrollLoops

__all__ = [
    "PASSES",
    "EliminateDeadNodes",
    "EliminateIdentities",
    "FoldConstants",
    "FoldShapes",
    "ForwardInvariants",
    "FreezeInitializers",
    "InferShapes",
    "InlineIfs",
    "Pass",
    "PassOptionError",
    "Pipeline",
    "Progress",
    "Remark",
    "Result",
    "RewriteError",
    "Run",
    "StrictError",
    "UnrollLoops",
    "parse_pipeline",
    "straighten",
]
