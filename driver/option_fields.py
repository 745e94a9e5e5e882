"""Fields of the options of a transformation, and keywords for type checkers."""

# Written by dev/tools/options.py from options/table.py: change the table, and run it.

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from ..analysis.iterations.trip_count import AbsentCond
from ..display import OnProgress
from ..facts.named_dimensions import Dims, Shapes
from ..facts.notions import Equality
from ..ir import BaseDir
from ..passes import Pass, Pipeline
from ..passes.costs.goal import GoalName
from ..passes.costs.table import Costs
from ..records import field, record
from ..verification.runs.options import Unproved, Verify
from .assumptions import Branches, Maxima
from .specialize import Values

if TYPE_CHECKING:
    from ..passes.manager.adapt_passes import Foreign
    from ..targets import Target

TargetLike: TypeAlias = "str | os.PathLike[str] | Target | None"
"""A target as callers name it: by name, by the path of a file, or as an object."""

Passes: TypeAlias = "str | Pass | Foreign | Iterable[Pass | Foreign] | Pipeline | None"
"""Passes as callers name them: None for the default ones, text, a pass, several."""


@record(frozen=True)
class OptionFields:
    """Options of a transformation, as `straightline.transform` documents them."""

    passes: Passes = None
    target: TargetLike = None
    opset: int | None = None
    ir_version: int | None = None
    rewrite: bool = True
    values: Values = field(default_factory=dict)
    shapes: Shapes = field(default_factory=dict)
    dims: Dims = field(default_factory=dict)
    assume_max: Maxima = field(default_factory=dict)
    assume: Branches = field(default_factory=dict)
    freeze_initializers: bool = False
    selects: bool = False
    strict: bool = False
    hints: bool = True
    base_dir: BaseDir = None
    max_work: int | None = None
    max_memory: int | None = None
    timeout: float | None = None
    pass_options: Mapping[str, Any] = field(default_factory=dict)


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


class SharedKeywords(TypedDict, total=False):
    """Keywords of each of the calls."""

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


class ConvertKeywords(SharedKeywords, total=False):
    """Keywords of `straightline.convert_version`."""

    ir_version: int | None
    rewrite: bool


class RewriteKeywords(SharedKeywords, PassOptions, total=False):
    """Keywords of `straightline.rewrite`."""

    target: TargetLike
    assume_max: Maxima | None
    assume: Branches | None
    strict: bool


class TransformKeywords(RewriteKeywords, total=False):
    """Keywords of `straightline.transform`."""

    opset: int | None
    ir_version: int | None
    rewrite: bool
    selects: bool
    hints: bool
    on_progress: OnProgress
