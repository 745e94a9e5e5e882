"""The steps of a transformation, in their order.

    bind -> passes -> convert -> straighten -> declare

Each step takes the job and leaves in it what the next one needs. Where a pass raises an exception,
all steps run again on a new copy of the caller's model, with a veto on the construct at fault.
A target is fitted by the last pass of its pipeline (`targets/fit_target.py`).
"""

from collections.abc import Callable
from functools import partial

from ..analysis.shapes.inference import ShapeInference
from ..display import OnProgress, silent
from ..ir import Model, Value, load
from ..ir.io.deserialize import PlainNodes
from ..limits import governed
from ..limits.stage_clock import StageClock
from ..passes.manager.pipeline import notes
from ..passes.utils.declarations import complete_outputs
from ..passes.utils.loop_conditions import forwarded_conditions, isolate_conditions
from ..passes.vetoes import NONE, Isolation, Vetoes
from .job import Job, Observe, Request, count_all_nodes

BINDING = "that binds inputs"
CONVERSION = "that converts to opset {}"


def bind(job: Job) -> None:
    """Copy the model, and fix what the caller knows of its inputs and constructs."""
    request = job.request
    job.model, job.bound = request.bound(job.plain)
    job.plain = None
    job.shapes = request.fixed_shapes(job.model)
    job.nodes_before, job.opset_before = count_all_nodes(job.model), job.model.opset()
    request.assume(job.model)


def passes(job: Job) -> None:
    """Run the passes; with a target, the last of them fits the model to it."""
    is_taken = not forwarded_conditions(job.model)
    result = job.request.pipeline.apply(job.model, run=job.context(BINDING))
    if is_taken:  # OpenVINO refuses such a body: what it took before it takes after
        isolate_conditions(job.model)
    dropped = job.request.dropped
    job.changed = job.is_rewritten = result.changed or bool(dropped)
    job.remarks, job.timings = (*dropped, *result.remarks), result.timings


def convert(job: Job) -> None:
    """Convert the model, and rewrite what the opset cannot hold.

    Raises:
        ConversionError: nodes cannot be carried over; it names the nearest opset that the model
            reaches.
    """
    opset, options = job.request.target_opset, job.request.options
    if opset is None:
        return
    from ..version_converter.conversion import Conversion
    from ..version_converter.errors import ConversionError

    first = [] if job.request.has_passes else [job.model]

    def start() -> Model:
        """Return the model each time anew: a failure leaves it half converted."""
        if job.request.has_passes:
            return load(job.model)
        if first:
            return first.pop()
        second = Job(job.request)
        for step in (bind, passes):
            step(second)
        return second.model

    progress = partial(job.on_progress, "converting")
    conversion = Conversion(start, options.ir_version, options.rewrite, progress)
    # Each function has imports of its own, and the message is another one after a change.
    before = None if job.is_rewritten or job.model.functions else _contents(job.model)
    version = job.model.ir_version
    try:
        with governed(), notes() as noted:
            job.converted = conversion.to(opset)
    except ConversionError as error:
        raise error.reaching(conversion.nearest(error)) from error
    job.model = job.converted.model
    job.converted.notes = tuple(noted)
    is_other = (job.converted.before, version) != (job.model.opset(), job.model.ir_version)
    job.changed |= bool(job.converted.remarks) or is_other
    # Below IR version 4 constants are listed among inputs.
    is_plain = before is not None and job.converted.lists and job.model.allows_overrides
    is_kept = is_plain and job.model.is_as_loaded and _contents(job.model) == before
    job.is_rewritten |= job.changed and not is_kept


def _contents(model: Model) -> list[object]:
    """Return what the count of changes leaves out: operators, tensors and declarations. Two lists
    are soon compared, since almost all of their items are identical."""
    contents: list[object] = []
    for graph in model.graphs():
        contents += [node.op for node in graph.unordered_nodes()]
        entries = [*graph.inputs, *graph.value_infos]
        contents += [*entries, *[v.info for v in entries if isinstance(v, Value)]]
        contents += [*graph.output_infos, *graph.initializers.values(), list(graph.listed)]
    return contents


def straighten(job: Job) -> None:
    """Run the passes on what the conversion brought in."""
    converted = job.converted
    if converted is None:
        return
    if job.request.has_passes and job.model.opset() != converted.before:
        from ..version_converter.ir_version import keep_constants

        context = job.context(CONVERSION.format(job.model.opset()))
        result = job.request.pipeline.apply(job.model, run=context)
        if converted.lists:
            keep_constants(job.model)
        first = [r for r in job.remarks if r.action != "kept" and r not in result.remarks]
        job.remarks = (*first, *result.remarks)
        job.timings += result.timings
        job.changed |= result.changed
        job.is_rewritten |= result.changed
    job.remarks += converted.remarks
    more = (*converted.notes, *job.vetoes.remarks(job.model))
    job.remarks += tuple([remark for remark in more if remark not in job.remarks])
    job.timings += (converted.timing,)


def declare(job: Job) -> None:
    """Declare outputs whose sizes follow from fixed inputs, or for a target."""
    if job.request.fixes_inputs or job.request.options.target is not None:
        declared = complete_outputs(job.model, ShapeInference(job.model), names=True)
        job.changed |= declared
        job.is_rewritten |= declared


LINE: tuple[Callable[[Job], None], ...] = (bind, passes, convert, straighten, declare)
"""The steps before the comparison."""


def run(
    request: Request,
    vetoes: Vetoes = NONE,
    on_progress: OnProgress = silent,
    observe: Observe | None = None,
    plain: PlainNodes | None = None,
) -> Job:
    """Run all steps on a copy; a construct at which a pass fails stays.

    Args:
        request: the request.
        vetoes: constructs to leave alone from the beginning.
        on_progress: progress callback.
        observe: returns the contexts of passes; None for new ones.
        plain: the plain nodes of the original, if they have been read.

    Raises:
        Error: the model cannot be read, is not well formed, or an option does not fit it.
        ConversionError: nodes cannot be carried over.
    """
    isolation = Isolation(vetoes, request.reproduce, strict=request.options.strict)
    while not isolation.done:
        with isolation.attempt():
            started = StageClock.now()
            job = Job(request, on_progress, observe, isolation.vetoes, plain)
            plain = None
            for step in LINE:
                step(job)
            job.seconds = StageClock.now() - started
            job.on_progress, job.observe = silent, None  # results are pickled, callbacks may not be
    return job
