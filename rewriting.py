"""One rewrite, from the model given to the verified result."""

from __future__ import annotations

import dataclasses
import functools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .assumptions import Maxima, assume_maxima
from .binding import BindingError, Dims, Shapes, Values, bind_inputs, with_dimensions
from .ir import (
    Array,
    BaseDir,
    Error,
    Model,
    ModelSource,
    base_dir_of,
    load,
    read,
    to_proto,
)
from .ir.ways import by
from .passes import FreezeInitializers, Pass, Pipeline, Progress, Remark, Result, Run

if TYPE_CHECKING:
    from .beyond import Beyond
    from .reference.verdict import Verdict


class MismatchError(Error):
    """A rewrite gives other outputs than its original; it is withheld.

    Attributes:
        verdict: what differs.
        culprit: the pass after which it differs first; "" where no single one was found.
        remarks: what that pass rewrote when it went wrong.
        beyond: an input that goes beyond what was taken on trust, where there is one.
    """

    def __init__(
        self,
        verdict: Verdict,
        culprit: str,
        remarks: tuple[Remark, ...] = (),
        beyond: Beyond | None = None,
    ) -> None:
        where = f"the pass {culprit} changed the outputs" if culprit else "the outputs changed"
        if remarks:
            more = f" (and {len(remarks) - 1} more)" if len(remarks) > 1 else ""
            where += f" when it rewrote {remarks[0].op_type} '{remarks[0].path}'{more}"
        where = f"{where}; {verdict.reason}"
        if beyond is not None:
            where = (
                f"an input makes {beyond.loop}, which was taken on trust; raise it, or give inputs"
                f" that keep to it with {by('--inputs FILE.npz')}; it is {beyond.shown}"
            )
        super().__init__(f"{where}; nothing was written")
        self.verdict = verdict
        self.culprit = culprit
        self.remarks = remarks
        self.beyond = beyond


class NotVerifiedError(Error):
    """Strict mode asked for a verified rewrite, and nothing could be compared."""


class NotVerifiedWarning(UserWarning):
    """Verification was asked for, and nothing could be compared."""


def count_all_nodes(model: Model) -> int:
    """The number of nodes in all graphs of a model."""
    return sum(len(graph) for graph in model.graphs())


def _told(maxima: Maxima) -> str:
    return ", ".join(f"a maximum of {most} trips of Loop '{path}'" for path, most in maxima.items())


@dataclasses.dataclass(frozen=True)
class Rewriting:
    """One rewrite: a model, what is known of its inputs, and the passes.

    Attributes:
        source: the model; never changed.
        pipeline: the passes.
        values: values of inputs, by name.
        shapes: shapes of inputs, by name.
        base_dir: the folder of the external data of a source in memory.
        maxima: the most trips of Loops, by path, that the caller vouches for.
        dims: sizes of named dimensions.
    """

    source: ModelSource
    pipeline: Pipeline
    values: Values = dataclasses.field(default_factory=dict)
    shapes: Shapes = dataclasses.field(default_factory=dict)
    base_dir: BaseDir = None
    maxima: Maxima = dataclasses.field(default_factory=dict)
    dims: Dims = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the kinds of what callers give.

        Raises:
            BindingError: values or shapes are no mapping, or a shape is no sequence.
        """
        for name, given, example in (
            ("values", self.values, '{"n": 3}'),
            ("shapes", self.shapes, '{"x": (1, None, 512)}'),
        ):
            if not isinstance(given, Mapping):
                raise BindingError(
                    f"{name} are a mapping by input name, such as {example}, not {given!r}"
                )
        shapes: Mapping[str, Any] = self.shapes
        for name, dims in shapes.items():
            if isinstance(dims, str) or not isinstance(dims, Sequence | np.ndarray):
                raise BindingError(
                    f"shapes: '{name}' takes its dimensions, such as (1, None, 512), not {dims!r}"
                )

    @functools.cached_property
    def original(self) -> ModelSource:
        """The model that is rewritten; a file is read once, however often it is needed."""
        return read(self.source)

    @property
    def has_passes(self) -> bool:
        """Whether more is to be done than taking defaults as constants."""
        return not all(isinstance(pass_, FreezeInitializers) for pass_ in self.pipeline.passes)

    def run(self, progress: Progress | None = None) -> Rewritten:
        """Rewrite a copy.

        Raises:
            Error: the model cannot be read, is not well formed, or what is set does not fit it.
        """
        started = time.perf_counter()
        model, bound = self._bound()
        nodes, opset = count_all_nodes(model), model.opset()
        assume_maxima(model, self.maxima)
        result = self.pipeline.apply(model, progress)
        return Rewritten(self, result, bound, nodes, opset, time.perf_counter() - started)

    def prepare(self) -> tuple[Model, dict[str, Array]]:
        """A copy of the model as the passes are given it, with the value of each input that
        leaves."""
        model, bound = self._bound()
        assume_maxima(model, self.maxima)
        return model, bound

    def _bound(self) -> tuple[Model, dict[str, Array]]:
        """A copy of the model with its inputs bound, and the value of each input that leaves."""
        model = load(self.original, self.base_dir)
        return model, self.bind(model)

    def trusted(self, verdict: Verdict, options: Mapping[str, Any]) -> Verdict:
        """A verdict on what was made with maxima that are taken on trust, with what is found of
        inputs that go beyond.

        Raises:
            MismatchError: a sample does.
        """
        if not self.maxima or verdict.proved:
            return verdict
        from .beyond import Search, guard_maxima

        model, bound = self._bound()
        guards = guard_maxima(model, self.maxima)
        folder = base_dir_of(self.original, self.base_dir)
        search = Search(self.original, model, guards, bound, folder, options)
        found = search.on_samples()
        if found is not None:
            reason = f"an input makes {found.loop}: {found.shown}"
            told = dataclasses.replace(
                verdict, status="different", reason=reason, feeds=found.feeds
            )
            raise MismatchError(told, "", beyond=found)
        if verdict.status == "different":
            return verdict
        further = search.further()
        note = f"{_told(self.maxima)} is taken on trust; no input that was tried says otherwise"
        if further is not None:
            note = (
                f"{_told(self.maxima)} is taken on trust; inputs make {further.loop}, such as"
                f" {further.shown}; there the result is another one"
            )
        return dataclasses.replace(verdict, notes=(*verdict.notes, note))

    def bind(self, model: Model) -> dict[str, Array]:
        """Write what is known of the inputs into a model; the value of each input that leaves."""
        shapes = with_dimensions(model.graph.inputs, self.shapes, self.dims)
        bound = bind_inputs(model, self.values, shapes)
        if any(isinstance(pass_, FreezeInitializers) for pass_ in self.pipeline.passes):
            defaults = model.graph.initializers
            overridable = [v for v in model.graph.inputs if v in defaults and v.constant is None]
            # Without its folder nothing is compared, and nothing else needs them.
            readable = [v for v in overridable if defaults[v].is_readable]
            bound |= {v.name: defaults[v].numpy() for v in readable}
        return bound


@dataclasses.dataclass(frozen=True)
class Rewritten:
    """What a rewrite made.

    Attributes:
        rewriting: what was asked for.
        result: the model with the remarks and timings.
        bound: the values of the inputs that the model no longer has.
        nodes_before: how many nodes the original has in all its graphs.
        opset_before: the opset of the original.
        seconds: the time from reading the model to the rewritten one.
    """

    rewriting: Rewriting
    result: Result[Model]
    bound: dict[str, Array]
    nodes_before: int
    opset_before: int
    seconds: float

    @property
    def model(self) -> Model:
        """The rewritten model."""
        return self.result.model

    @property
    def nodes_after(self) -> int:
        """How many nodes the rewritten model has in all its graphs."""
        return count_all_nodes(self.model)

    def verify(self, **options: Any) -> Verdict:
        """Compare with the original; `options` are those of `straightline.verify`.

        The proof comes first; nothing is run where it succeeds and no option asks for it.

        Raises:
            MismatchError: the outputs differ; it names the pass that is at fault.
        """
        from .verification import verify

        feeds = options.get("feeds")
        if isinstance(feeds, str | os.PathLike):  # read once, too
            from .reference.feeds import read_feeds

            proto = to_proto(self.rewriting.original)
            options = {**options, "feeds": read_feeds(feeds, proto, self.bound)}
        source = self.rewriting.original
        folder = base_dir_of(source, self.rewriting.base_dir)
        verdict = verify(source, self.model, bound=self.bound, base_dir=folder, **options)
        verdict = self.rewriting.trusted(verdict, options)
        if verdict.status == "different":
            raise self._located(verdict, options)
        return verdict

    def _located(self, verdict: Verdict, options: Mapping[str, Any]) -> MismatchError:
        """Run the passes again, each followed by a comparison, until one breaks the outputs."""
        from .reference.runtimes import Workers
        from .reference.verify import verify

        source = self.rewriting.original
        folder = base_dir_of(source, self.rewriting.base_dir)
        running = {n: v for n, v in options.items() if n != "prove" and v is not None}
        with Workers() as workers:

            def compare(model: Model, bound: dict[str, Array]) -> Verdict:
                shared = {"base_dir": folder, "workers": workers, **running}
                return verify(source, model, bound=bound, **shared)

            return self._culprit(verdict, compare)

    def _culprit(
        self, verdict: Verdict, compare: Callable[[Model, dict[str, Array]], Verdict]
    ) -> MismatchError:
        """The first pass after which models differ."""
        model, bound = self.rewriting.prepare()
        if compare(model, bound).status == "different":
            return MismatchError(verdict, "that binds inputs")
        run = Run()
        run.watcher = _Comparing(run, lambda now: compare(now, bound))
        try:
            self.rewriting.pipeline.apply(model, run=run)
        except MismatchError as error:
            return error
        return MismatchError(verdict, "")


class _Comparing:
    """Told of each pass that is run: raises MismatchError behind the first that changes outputs."""

    def __init__(self, run: Run, compare: Callable[[Model], Verdict]) -> None:
        self._run = run
        self._compare = compare
        self._known = 0

    def before(self, pass_: Pass, model: Model) -> None:
        """A pass is about to be run."""

    def after(self, pass_: Pass, model: Model, changed: bool) -> None:
        """A pass was run."""
        made = [remark for remark in self._run.remarks if remark.action == "rewritten"]
        new, self._known = made[self._known :], len(made)
        if changed:
            found = self._compare(model)
            if found.status == "different":
                raise MismatchError(found, pass_.name, tuple(new))
