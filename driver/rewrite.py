"""Rewrites: from the model to the verified result."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ..display import OnProgress, silent
from ..facts.named_dimensions import minima_of, with_dimensions
from ..ir import Array, BaseDir, Model, ModelSource, base_dir_of, load, read, to_proto
from ..ir.lazy import lazy_property
from ..passes import FreezeInitializers, Pipeline, Progress, Remark, Result
from ..passes.cleanup.freeze_initializers import frozen_defaults
from ..passes.manager.isolation import Reproduction, isolated
from ..passes.manager.undo import Task, settle
from ..passes.simplify.apply_rules import uses_trusted_rules
from ..passes.utils.loop_conditions import forwarded_conditions, isolate_conditions
from ..passes.vetoes import NONE, Vetoes
from ..verification.mismatch import MismatchError
from .reproduction import reproduction_of
from .specialize import bind_inputs

if TYPE_CHECKING:
    import onnx

    from ..runtimes.workers import Workers
    from ..verification.runs.options import VerifyOptions
    from ..verification.runs.verdict import Verdict
    from .options import RewriteOptions


def count_all_nodes(model: Model) -> int:
    """Return the number of nodes in all graphs of a model."""
    return sum(len(graph) for graph in model.graphs())


@dataclasses.dataclass(frozen=True)
class Rewrite:
    """Request of one rewrite: a model, which is never changed, and the options."""

    source: ModelSource
    options: RewriteOptions

    @property
    def pipeline(self) -> Pipeline:
        """The passes."""
        return self.options.pipeline

    @property
    def base_dir(self) -> BaseDir:
        """The folder of the external data of the source; None where the source names it."""
        return base_dir_of(self.original, self.options.base_dir)

    @lazy_property
    def original(self) -> ModelSource:
        """The model to rewrite; a file is read once."""
        return self._read[0]

    @lazy_property
    def _read(self) -> tuple[ModelSource, tuple[Remark, ...]]:
        """The model, without the maps that a target lacks, and the remarks on these."""
        source, target = read(self.source), self.options.target
        if target is None:
            return source, ()
        from ..targets import target_of
        from .drop_maps import drop_maps

        return drop_maps(source, target_of(target))

    @property
    def has_passes(self) -> bool:
        """Test whether passes do more than freeze initializers."""
        return not all(isinstance(pass_, FreezeInitializers) for pass_ in self.pipeline.passes)

    def run(self, progress: Progress | None = None, vetoes: Vetoes = NONE) -> RewriteResult:
        """Rewrite a copy, and leave alone where a pass fails.

        Args:
            progress: the callback of progress.
            vetoes: constructs to leave alone from the beginning.

        Raises:
            Error: the model cannot be read, is not well formed, or what is set does not fit it.
        """
        run, strict = partial(self._run_passes, progress), self.options.strict
        rewritten, vetoes = isolated(run, vetoes, self.reproduce, strict=strict)
        return dataclasses.replace(rewritten, vetoes=vetoes)

    def reproduce(self) -> Reproduction:
        """Return the same as a command."""
        return reproduction_of(self.original, self.options)

    def _run_passes(self, progress: Progress | None) -> RewriteResult:
        started = time.perf_counter()
        model, bound = self.bound()
        shapes = self.fixed_shapes(model)
        nodes, opset = count_all_nodes(model), model.opset()
        self.options.assumptions.assume(model)
        is_taken = not forwarded_conditions(model)
        result = self.pipeline.apply(model, progress)
        if is_taken:  # OpenVINO refuses such a body: what it took before it takes after
            isolate_conditions(model)
        if self._read[1]:
            remarks = (*self._read[1], *result.remarks)
            result = dataclasses.replace(result, remarks=remarks, changed=True)
        return RewriteResult(
            self, result, bound, shapes, nodes, opset, time.perf_counter() - started
        )

    def prepare(self) -> tuple[Model, dict[str, Array]]:
        """Return a copy of the model for the passes, and the values of bound inputs."""
        model, bound = self.bound()
        self.options.assumptions.assume(model)
        return model, bound

    def bound(self) -> tuple[Model, dict[str, Array]]:
        """Return a copy with its inputs bound, and their values."""
        model = load(self.original, self.options.base_dir)
        return model, self.bind(model)

    def fixed_shapes(self, model: Model) -> dict[str, tuple[int | None, ...]]:
        """Return the sizes of the inputs of a bound model; none where the caller fixed nothing."""
        options = self.options
        if not (options.values or options.shapes or options.dims):
            return {}
        return {
            value.name: tuple([dim if isinstance(dim, int) else None for dim in value.shape])
            for value in model.graph.inputs
            if value.shape is not None
        }

    def check_trust(
        self, verdict: Verdict, options: VerifyOptions, workers: Workers | None
    ) -> Verdict:
        """Add to a verdict whether inputs violate what the caller vouches for.

        Raises:
            MismatchError: a sample violates it.
        """
        assumptions = self.options.assumptions
        if not assumptions or verdict.proved:
            return verdict
        contents = [claim.content for claim in assumptions.claims()]
        trust = f"{', '.join(contents)} is taken on trust"
        if verdict.status == "open":
            return dataclasses.replace(verdict, notes=(*verdict.notes, trust))
        from .bound_violations import Search

        model, bound = self.bound()
        fixed: dict[str, Any] = {"bound": bound, "base_dir": self.base_dir}
        options = dataclasses.replace(options, minima=model.minima)
        search = Search(self.original, model, assumptions, options, workers=workers, **fixed)
        violation = search.on_samples(verdict.feeds if verdict.differs else None)
        if violation is not None:
            reason = f"an input makes {violation.claim.violation}: {violation.shown}"
            different = dataclasses.replace(
                verdict, status="different", reason=reason, feeds=violation.feeds
            )
            raise MismatchError(different, "", violation=violation)
        if verdict.differs:
            return verdict
        further = search.further()
        note = f"{trust}; no input that was tried says otherwise"
        if further is not None:
            note = (
                f"{trust}; inputs make {further.claim.violation}, such as {further.shown}; there"
                " the result is another one"
            )
        return dataclasses.replace(verdict, notes=(*verdict.notes, note))

    def bind(self, model: Model) -> dict[str, Array]:
        """Bind the inputs of a model; return the values of the inputs that leave."""
        model.minima = minima_of(self.options.dims)
        shapes = with_dimensions(model.graph.inputs, self.options.shapes, self.options.dims)
        bound = bind_inputs(model, self.options.values, shapes)
        if any(isinstance(pass_, FreezeInitializers) for pass_ in self.pipeline.passes):
            bound |= frozen_defaults(model)
        return bound


@dataclasses.dataclass(frozen=True)
class RewriteResult:
    """Result of a rewrite.

    Attributes:
        rewriting: the request.
        result: the model with the remarks and timings.
        bound: the values of the inputs that the model no longer has.
        shapes: the sizes of its inputs, where the caller fixed any.
        nodes_before: how many nodes the original has in all its graphs.
        opset_before: the opset of the original.
        seconds: the time from reading the model to the rewritten one.
        vetoes: constructs that passes had to leave alone.
    """

    rewriting: Rewrite
    result: Result[Model]
    bound: dict[str, Array]
    shapes: dict[str, tuple[int | None, ...]]
    nodes_before: int
    opset_before: int
    seconds: float
    vetoes: Vetoes = NONE

    @property
    def model(self) -> Model:
        """The rewritten model."""
        return self.result.model

    def compare(self, model: Model, options: VerifyOptions, **settings: Any) -> Verdict:
        """Compare a model with the original, on the inputs that stay."""
        from ..verification import compare

        fixed: dict[str, Any] = {"bound": self.bound, "shapes": self.shapes}
        fixed["base_dir"] = self.rewriting.base_dir
        fixed["exactness"] = self.rewriting.pipeline.exactness
        fixed["trusted"] = bool(self.rewriting.options.assumptions)
        options = dataclasses.replace(options, minima=minima_of(self.rewriting.options.dims))
        if uses_trusted_rules(self.result.remarks):
            options = options.with_runs()
        return compare(self.rewriting.original, model, options, **fixed, **settings)

    def verify(
        self,
        options: VerifyOptions,
        *,
        workers: Workers | None = None,
        on_progress: OnProgress = silent,
        loaded: bool = False,
        message: onnx.ModelProto | None = None,
    ) -> tuple[RewriteResult, Verdict]:
        """Compare with the original, and undo what the verdict does not accept.

        Args:
            message: the message of the result, if the caller has it.

        Raises:
            MismatchError: the outputs differ, and no construct can be kept for that.
        """
        if isinstance(options.feeds, str | os.PathLike):  # read once, too
            from ..runtimes.feeds import read_feeds

            proto = to_proto(self.rewriting.original)
            feeds = read_feeds(options.feeds, proto, self.bound)
            options = dataclasses.replace(options, feeds=feeds)
        shared: dict[str, Any] = {"workers": workers, "on_progress": on_progress}

        def compare(result: RewriteResult, **more: Any) -> Verdict:
            verdict = result.compare(result.model, options, **shared, **more)
            return self.rewriting.check_trust(verdict, options, workers)

        verdict = compare(self, loaded=loaded, message=message)
        return settle(self._task(options, compare, workers), self, verdict, self.vetoes)

    def _task(
        self,
        options: VerifyOptions,
        compare: Callable[[RewriteResult], Verdict],
        workers: Workers | None,
    ) -> Task[RewriteResult]:
        """Return the rewrite as one that can be run again."""
        rewriting = self.rewriting

        def probe(verdict: Verdict) -> Callable[[Model], Verdict]:
            settings = options.probing(verdict.differs, verdict.feeds)
            return lambda model: self.compare(model, settings, workers=workers)

        return Task(
            rerun=lambda vetoes: rewriting.run(vetoes=vetoes),
            compare=compare,
            watch=lambda run: rewriting.pipeline.apply(rewriting.prepare()[0], run=run),
            probe=probe,
            only_proved=options.unproved == "keep",
            strict=rewriting.options.strict,
            reproduce=rewriting.reproduce,
        )
