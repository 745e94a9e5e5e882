"""Results of transformations: the model, remarks, times and the verdict."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

from ..analysis.peak_memory import PeakMemory, peak_memory
from ..display import Block, Line, OnProgress, Table, as_html, as_text, silent
from ..ir import Array, LinkData, Model, ModelSource, SaveError, in_kind, name_nodes, save
from ..ir.lazy import lazy_property
from ..passes import Remark
from ..passes.manager.pipeline import Timing, require_all_rewritten
from ..passes.remarks import kept_constructs
from ..passes.vetoes import is_alarm
from ..records import record
from ..verification.runs.options import VerifyOptions
from .job import Job, Request, count_all_nodes
from .suggestions import Hint, hint_blocks, left_over

if TYPE_CHECKING:
    import onnx

    from ..runtimes.workers import Workers
    from ..targets import Target
    from ..verification.runs.verdict import Verdict


_MOST_DONE = 40
"""So many rows of what was rewritten are shown; what is left is shown in full."""


if TYPE_CHECKING:
    from typing_extensions import TypeVar

    M = TypeVar("M", default=onnx.ModelProto)
else:
    from typing import TypeVar

    M = TypeVar("M")
"""The kind of the model of an outcome; `Outcome` alone has a message."""


class Change(NamedTuple):
    """A number before and after."""

    before: int
    after: int


@record(frozen=True)
class Outcome(Generic[M]):
    """Result of `transform`.

    Attributes:
        source: the model as it was given.
        ir: the result as straightline's own IR; `model` is the same in the kind that was given.
        changed: whether any pass or the conversion changed anything.
        remarks: what was rewritten, what was kept and why, and what came to light.
        timings: the time of each pass, and of the conversion.
        left: the Loops, Scans, Ifs and the like that are left, each with the reason.
        hints: options that were tried and decide some of what is left.
        nodes: how many nodes there are in all graphs, before and after.
        opset: the version of ONNX's operator set, before and after.
        bound: the values of the inputs that the result no longer has.
        seconds: the time for all of it, but for the comparison.
        verdict: whether the outputs are the original's; None where that was not asked.
        message: the message of the result, where that was made to compare it.

    >>> import straightline as sl
    >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
    >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
    >>> sl.transform(model, opset=18).opset
    Change(before=17, after=18)
    """

    source: ModelSource = dataclasses.field(repr=False)
    ir: Model
    changed: bool
    remarks: tuple[Remark, ...] = dataclasses.field(repr=False)
    timings: tuple[Timing, ...] = dataclasses.field(repr=False)
    left: tuple[Remark, ...]
    hints: tuple[Hint, ...]
    nodes: Change
    opset: Change
    bound: Mapping[str, Array] = dataclasses.field(repr=False)
    seconds: float
    verdict: Verdict | None
    job: Job = dataclasses.field(repr=False)
    message: onnx.ModelProto | None = dataclasses.field(default=None, repr=False)

    @classmethod
    def of(cls, job: Job, left: Sequence[Remark], hints: Sequence[Hint]) -> Outcome[M]:
        """Make the outcome of a job; not compared yet.

        Args:
            job: the job after its steps.
            left: remarks on residual control flow.
            hints: options that would decide it.
        """
        model = job.model
        # An unchanged model keeps its names, too.
        if job.changed and name_nodes(model):
            job.is_rewritten = True
        return cls(
            source=job.request.source,
            ir=model,
            changed=job.changed,
            remarks=job.remarks,
            timings=job.timings,
            left=tuple(left),
            hints=tuple(hints),
            nodes=Change(job.nodes_before, count_all_nodes(model)),
            opset=Change(job.opset_before, model.opset()),
            bound=job.bound,
            seconds=job.seconds,
            verdict=None,
            job=job,
        )

    @lazy_property
    def model(self) -> M:
        """The result in the kind of the original; a message for a path or bytes.

        Raises:
            LoadError: the original was a path, and its external data does not fit into a message;
                `save` writes it all the same.
        """
        result: Any = in_kind(self.ir, self.source, self.message)
        model: M = result
        return model

    @property
    def equal(self) -> bool:
        """Test for a verdict of equal outputs, by a proof or on samples."""
        return self.verdict is not None and self.verdict.equal

    @property
    def proved(self) -> bool:
        """Test for a verdict of equal outputs by a proof."""
        return self.verdict is not None and self.verdict.proved

    @lazy_property
    def memory(self) -> tuple[PeakMemory | None, PeakMemory | None]:
        """Upper bounds of the peak memory of computed values [bytes], before and after.

        They are None for large models. The original must be unchanged.

        Raises:
            LoadError: the original cannot be read any more.
        """
        # The passes have changed the job's own copy.
        before, _ = self.request.prepare()
        return peak_memory(before), peak_memory(self.ir)

    @property
    def target(self) -> Target | None:
        """The target that the result was made to fit, if any."""
        passes = self.request.pipeline.passes
        target: Target | None = getattr(passes[-1], "target", None) if passes else None
        return target

    @property
    def untaken(self) -> tuple[Remark, ...]:
        """The nodes that the target does not take, each with all its reasons."""
        constructs = kept_constructs(self.remarks)
        remarks = [remark for remark in self.remarks if remark.action == "kept"]
        places = [(r.op_type, r.path) for r in remarks if r.pass_name == "fit-target"]
        # A node may have several remarks, and is listed once.
        return tuple([constructs[place] for place in dict.fromkeys(places)])

    @property
    def alarms(self) -> tuple[Remark, ...]:
        """The remarks on faults of straightline."""
        return tuple(remark for remark in self.remarks if is_alarm(remark))

    @property
    def untaken_sum(self) -> str:
        """A line: how many nodes of which operators the target does not take."""
        name = "" if self.target is None else self.target.name
        counts = Counter(remark.op_type for remark in self.untaken)
        listed = ", ".join(f"{op} {count}" for op, count in counts.most_common())
        return f"{name} does not support {len(self.untaken)}: {listed}"

    @property
    def request(self) -> Request:
        """The request."""
        return self.job.request

    def verified(
        self, *, on_progress: OnProgress = silent, workers: Workers | None = None, **options: Any
    ) -> Outcome[M]:
        """Return the outcome with a verdict, without what that refutes; the original must be
        unchanged.

        Args:
            on_progress: called before each run.
            workers: child processes to use again.
            options: those of `straightline.verify`.

        Raises:
            MismatchError: the outputs differ, and no construct can be kept for that.
            Error: an option does not fit.
        """
        return self.compared(VerifyOptions(**options), workers, on_progress)

    def compared(
        self,
        options: VerifyOptions,
        workers: Workers | None = None,
        on_progress: OnProgress = silent,
        *,
        loaded: bool = False,
    ) -> Outcome[M]:
        """Return `verified` with its options in one object.

        `loaded`: this call has loaded the original; a proof need not check it again.
        """
        from .verify import verify

        shared: dict[str, Any] = {"workers": workers, "on_progress": on_progress}
        shared |= {"loaded": loaded, "message": self.message}
        job, verdict = verify(self.job, options, **shared)
        outcome = self if job is self.job else self._of_other(job)
        if self.request.options.strict:
            require_all_rewritten(outcome.remarks)
        return dataclasses.replace(outcome, verdict=verdict)

    def _of_other(self, job: Job) -> Outcome[M]:
        """Return the outcome of another run, with the reasons that trials have found for this."""
        reasons = {(remark.op_type, remark.path): remark for remark in self.left}
        left = left_over(job.model, job.remarks)
        left = [reasons.get((remark.op_type, remark.path), remark) for remark in left]
        return Outcome.of(job, left, self.hints)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        force: bool = False,
        replace: bool = False,
        keep: Iterable[Path] = (),
        link_data: LinkData | None = None,
    ) -> None:
        """Write the result, whole or not at all; what it was read from stays as it is.

        Args:
            path: where to.
            force: overwrite also what is no model, and data of other models.
            replace: let the result take the place of the file that the original was read from.
            keep: further files that must not be overwritten.
            link_data: share external data with the original rather than copy it: "reference" or
                "hard", as in `straightline.ir.save`.

        Raises:
            SaveError: the path is the original's own, the folder does not exist or cannot be
                written, or something would be lost.
        """
        own = self.ir.file
        # A link, or another spelling of the path, names the original as well.
        exists = own is not None and os.path.exists(path) and own.exists() and own.samefile(path)
        if exists and not replace:
            raise SaveError(
                f"cannot write '{path}': the original was read from it; name another file, or put"
                " the result in its place with replace=True"
            )
        save(self.ir, path, force=force, keep=keep, link_data=link_data)

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome, without the model, in types that JSON has."""
        target = None
        if self.target is not None:
            untaken = [remark.to_dict() for remark in self.untaken]
            target = {"name": self.target.name, "takes_all": not untaken, "left": untaken}
        return {
            "changed": self.changed,
            "nodes": self.nodes._asdict(),
            "opset": self.opset._asdict(),
            "memory": memory_dict(*self.memory),
            "operators": {what: dict(counts) for what, counts in self.operators.items()},
            "remarks": [remark.to_dict() for remark in self.remarks],
            "seconds": self.seconds,
            "passes": [dataclasses.asdict(timing) for timing in self.timings],
            "left": [remark.to_dict() for remark in self.left],
            "target": target,
            "hints": [hint.to_dict() for hint in self.hints],
            "verification": None if self.verdict is None else self.verdict.to_dict(),
        }

    def blocks(
        self,
        where: str = "",
        hint: Callable[[Hint], str] | None = None,
        more: str = ".remarks",
        *,
        brief: bool = True,
    ) -> Iterator[Block]:
        """Yield the content for people.

        Args:
            where: where the result was written.
            hint: how a hint is written to be pasted; by default as arguments of `transform`.
            more: where all remarks are.
            brief: of what is left name only what decides it, not what other passes found.
        """
        rewritten = [remark for remark in self.remarks if remark.action == "rewritten"]
        places = {(remark.op_type, remark.path) for remark in self.left}
        # What is left for the target and as control flow is shown once.
        untaken = [r for r in self.untaken if (r.op_type, r.path) not in places]
        if rewritten or self.left or untaken:
            residual = [remark.brief if brief else remark for remark in (*self.left, *untaken)]
            yield remarks_table(rewritten, residual, more)
        yield Line((f"{where}: " if where else "") + "; ".join(self._sums()))
        if any(remark.op_type in ("Loop", "Scan", "SequenceMap") for remark in rewritten):
            yield from memory_lines(*self.memory)
        if self.left:
            yield Line(f"control flow left: {len(self.left)}", "left")
        if self.untaken:
            yield Line(self.untaken_sum, "left")
        elif self.target is not None:
            yield Line(f"{self.target.name} supports every node, {self.target.basis}")
        yield from hint_blocks(self.hints, hint)
        yield from note_lines(self.remarks)
        if self.verdict is not None:
            yield from self.verdict.blocks()

    @lazy_property
    def operators(self) -> Mapping[str, Mapping[str, int]]:
        """The number of nodes that the conversion "changed" and "added", by operator."""
        converted = self.job.converted
        return {} if converted is None else converted.differences.to_dict()

    def _sums(self) -> Iterator[str]:
        is_converted = self.job.converted is not None
        if not is_converted or self.request.has_passes:
            before, after = self.nodes
            yield f"{before} nodes became {after}, rewritten in {self.seconds:.2f} s"
        if is_converted and not self.opset.after:
            yield "the model imports no opset of ONNX's own operators, which a conversion changes"
        elif self.opset.before != self.opset.after:
            yield f"opset {self.opset.before} became {self.opset.after}"
        elif is_converted:
            yield f"opset {self.opset.after} is kept"
        if is_converted:
            changes = {what: counts for what, counts in self.operators.items() if counts}
            for what, counts in changes.items():
                listed = ", ".join(f"{operator} {count}" for operator, count in counts.items())
                yield f"{what}: {listed}"
            if not changes:
                yield "no node changed"

    def __str__(self) -> str:
        return as_text(self.blocks())

    def _repr_html_(self) -> str:
        blocks = list(self.blocks())
        verdict = 0 if self.verdict is None else len(list(self.verdict.blocks()))
        first = len(blocks) - verdict
        # Pictures are made floors above; a notebook alone asks for them.
        draw = import_module("straightline.report").control_flow_svg
        models = {"control flow before": self.request.original, "control flow after": self.ir}
        pictures = {caption: draw(model) for caption, model in models.items()}
        return as_html("straightline", [*blocks[first:], *blocks[:first]], pictures)


def note_lines(remarks: Iterable[Remark]) -> Iterator[Line]:
    """Yield a line for each note."""
    for remark in remarks:
        if remark.action == "noted":
            yield Line(f"note: {remark.op_type} '{remark.path}': {remark.reason}", "note")


def memory_lines(before: PeakMemory | None, after: PeakMemory | None) -> Iterator[Line]:
    """Yield a line on the peak memory of two models, where it differs."""
    if before is not None and after is not None and before != after:
        yield Line(f"peak activation memory: at most {before} before, {after} after")


def memory_dict(before: PeakMemory | None, after: PeakMemory | None) -> dict[str, Any]:
    """Return the peak memory of two models in types that JSON has."""
    peaks = {"before": before, "after": after}
    return {when: None if peak is None else peak.to_dict() for when, peak in peaks.items()}


def remarks_table(rewritten: Sequence[Remark], residual: Sequence[Remark], more: str) -> Table:
    """Return a table of rewritten and residual constructs, as far as there is room."""
    rows = _counted(rewritten)
    hidden = len(rows) - _MOST_DONE
    if hidden > 0:
        rows = [*rows[:_MOST_DONE], ("...", f"{hidden} more", "rewritten", f"all are in {more}")]
    return Table(
        ("Operator", "Where", "Outcome", "Effect, or reason for keeping"),
        [*rows, *_counted(residual)],
    )


def _counted(remarks: Sequence[Remark]) -> list[tuple[str, str, str, str]]:
    """Return a row for each remark; equal remarks share one."""
    counted = Counter((r.op_type, r.path, r.action, r.reason) for r in remarks)
    return [
        (op, path, action, reason + (f" ({count} times)" if count > 1 else ""))
        for (op, path, action, reason), count in counted.items()
    ]
