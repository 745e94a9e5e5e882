"""Keywords of the public calls, for type checkers."""

from __future__ import annotations

from typing import TypedDict

from ..analysis.trips.trip_count import AbsentCond
from ..display import OnProgress
from ..facts.named_dimensions import Dims, Shapes
from ..facts.notions import Equality
from ..ir import BaseDir
from ..passes.costs.goal import GoalName
from ..passes.costs.table import Costs
from ..verification.runs.options import Unproved, Verify
from .branch_choices import Branches
from .options import TargetLike
from .specialize import Values
from .trip_bounds import Maxima


class PassOptions(TypedDict, total=False):
    """Options of passes; each goes to every pass of the pipeline that has it. `straightline passes`
    describes them."""

    absent_cond: AbsentCond
    always: bool
    block_bytes: int
    costs: Costs
    exact: bool
    exactness: Equality
    guard: bool
    in_loops: bool
    keep_nan: bool
    large: bool
    max_bytes: int
    max_identity: int
    max_nodes: int
    max_run_memory: int
    max_trips: int | None
    optimize_for: GoalName
    row_bytes: int
    spread_nan: bool
    straight: bool
    without_kernel: bool


class _Common(TypedDict, total=False):
    """Keywords of all calls."""

    values: Values | None
    shapes: Shapes | None
    dims: Dims | None
    freeze_initializers: bool
    verify: Verify
    unproved: Unproved
    base_dir: BaseDir
    max_work: int | None
    max_memory: int | None
    timeout: float | None


class RewriteKeywords(_Common, PassOptions, total=False):
    """Keywords of `straightline.rewrite`."""

    target: TargetLike
    strict: bool
    assume_max: Maxima | None
    assume: Branches | None


class TransformKeywords(RewriteKeywords, total=False):
    """Keywords of `straightline.transform`."""

    opset: int | None
    ir_version: int | None
    rewrite: bool
    selects: bool
    hints: bool
    on_progress: OnProgress


class ConvertKeywords(_Common, total=False):
    """Keywords of `straightline.convert_version`."""

    ir_version: int | None
    rewrite: bool
