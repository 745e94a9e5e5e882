"""Fields of the options of a transformation, and keywords for type checkers."""

# Written by dev/tools/options.py from options/table.py: change the table, and run it.

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypedDict

from ..analysis.trips.trip_count import AbsentCond
from ..display import OnProgress
from ..facts.named_dimensions import Dims, Shapes
from ..facts.notions import Equality
from ..ir import BaseDir
from ..passes.costs.goal import GoalName
from ..passes.costs.table import Costs
from ..verification.runs.options import Unproved, Verify
from .argument_types import Passes, TargetLike
from .assumptions import Branches, Maxima
from .specialize import Values


@dataclasses.dataclass(frozen=True)
class OptionFields:
    """Options of a transformation, as `straightline.transform` documents them."""

    passes: Passes = None
    target: TargetLike = None
    opset: int | None = None
    ir_version: int | None = None
    rewrite: bool = True
    values: Values = dataclasses.field(default_factory=dict)
    shapes: Shapes = dataclasses.field(default_factory=dict)
    dims: Dims = dataclasses.field(default_factory=dict)
    assume_max: Maxima = dataclasses.field(default_factory=dict)
    assume: Branches = dataclasses.field(default_factory=dict)
    freeze_initializers: bool = False
    selects: bool = False
    strict: bool = False
    hints: bool = True
    base_dir: BaseDir = None
    max_work: int | None = None
    max_memory: int | None = None
    timeout: float | None = None
    pass_options: Mapping[str, Any] = dataclasses.field(default_factory=dict)


class PassOptions(TypedDict, total=False):
    """Options of passes; each goes to every pass of the pipeline that has it.

    `straightline passes` describes them.
    """

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


class RewriteKeywords(PassOptions, total=False):
    """Keywords of `straightline.rewrite`."""

    target: TargetLike
    values: Values | None
    shapes: Shapes | None
    dims: Dims | None
    assume_max: Maxima | None
    assume: Branches | None
    freeze_initializers: bool
    verify: Verify
    unproved: Unproved
    strict: bool
    base_dir: BaseDir
    max_work: int | None
    max_memory: int | None
    timeout: float | None


class TransformKeywords(PassOptions, total=False):
    """Keywords of `straightline.transform`."""

    target: TargetLike
    opset: int | None
    ir_version: int | None
    rewrite: bool
    values: Values | None
    shapes: Shapes | None
    dims: Dims | None
    assume_max: Maxima | None
    assume: Branches | None
    freeze_initializers: bool
    selects: bool
    verify: Verify
    unproved: Unproved
    strict: bool
    hints: bool
    base_dir: BaseDir
    on_progress: OnProgress
    max_work: int | None
    max_memory: int | None
    timeout: float | None


class ConvertKeywords(TypedDict, total=False):
    """Keywords of `straightline.convert_version`."""

    ir_version: int | None
    rewrite: bool
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
