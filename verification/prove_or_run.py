"""Verification of two models: a proof first, then runs where the proof stays open."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from ..display import OnProgress, silent
from ..facts.notions import Equality
from ..ir import BaseDir, Model, ModelSource, no_input, read, to_proto
from ..ir.errors import BindingError
from ..ir.io.external_data import external_tensors
from ..ir.kinds import require_kinds
from ..limits import Limits, governed
from ..limits.stage_clock import StageClock
from .runs.options import RuntimeChoice, VerifyOptions
from .runs.verdict import Verdict

if TYPE_CHECKING:
    import onnx

    from ..facts.named_dimensions import Dims, Shapes
    from ..runtimes.feeds import Given
    from ..runtimes.source import Source
    from ..runtimes.workers import Workers
    from .proof import Proof
    from .runs.sample_shapes import SampleShapes

_log = logging.getLogger(__name__)

_SAME = "both are the same model"
_LARGE = 1 << 26
"""Limit in bytes up to which models are compared as messages, which copies each."""
_SEARCH_TIMEOUT = 10.0
"""Limit in seconds of each run of the search for an input that refutes."""
_MOST_ATTEMPTS = 1 << 14
"""Limit of the search for a derivation that follows a proof, in attempts of 20 to 150 us each,
besides those for each term: no derivation that is known needs more than 14,000."""
_CONTRADICTION = (
    "a proof and a run contradict each other, which is a fault of the runtime, or else of"
    " straightline; please report it"
)


def prove(
    before: ModelSource,
    after: ModelSource,
    *,
    bound: Mapping[str, Any] | None = None,
    shapes: Shapes | None = None,
    base_dir: BaseDir = None,
    search: bool = True,
    equality: Equality = "bits",
    sample_shapes: SampleShapes | None = None,
    dims: Dims | None = None,
    timeout: float = _SEARCH_TIMEOUT,
    by_position: bool = False,
    replay: bool = False,
    on_progress: OnProgress = silent,
) -> Proof:
    """Prove that two models have equal outputs for every input.

    Args:
        before: the original: a path, bytes, ModelProto, onnx_ir.Model or straightline.ir.Model.
        after: the rewrite.
        bound: values of inputs; the claim is about these values only. The rewrite need not have
            these inputs.
        shapes: the shapes of the rewrite, as in `straightline.rewrite`. The claim names all shapes
            that only the rewrite declares, and says which of them are not among these.
        base_dir: the folder of the external data of models given in memory.
        search: where there is no proof, run both models on a few random inputs; the status is
            "refuted" where outputs differ on one of them, and `feeds` holds it, minimized. Else
            try sizes and values of inputs; `conditions` holds those under which there is a proof.
        equality: what is to be proved: outputs equal bit for bit ("bits"), where -0.0 and 0.0 are
            alike ("values"), or if floats were real numbers ("reals"). Models that are equal over
            the reals only are not refuted by an input on which rounding tells them apart.
        sample_shapes: shapes of inputs, None for a dimension of any size. Without a proof for every
            size, the claim is about inputs of these shapes, and so are the random ones.
        dims: the same as sizes of named dimensions: `{"T": 6}`, or as minima: `{"T": ">=1"}`.
        timeout: seconds that each run of the search may take.
        by_position: let inputs and outputs correspond by position instead of by name.
        replay: let the checker of certificates replay the proof: `unreplayed` is the reason why it
            cannot, and `word` is "proved, not replayed" then.
        on_progress: progress callback: stage, text, number done, total.

    Returns:
        the proof, with status "proved", "refuted" or "open"; it is true only if "proved". Its
        `equality` is the strongest notion that was shown, also where more was wanted.

    Raises:
        LoadError: a model cannot be read.
        ModelError: the original is not well formed.
        FeedError: a value of `bound` does not fit its input.
        SampleShapeError: a shape for samples does not fit its input.
        BindingError: there is no such input, or none has such a dimension.
        VerifyError: the timeout or the notion of equality is out of range.
        CorrespondenceError: by position, the numbers of inputs or outputs differ.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> g (float[N] x) => (float[N] y) '
        >>> before = sl.ir.parse(head + "{ a = Neg (x) y = Neg (a) }")
        >>> proof = sl.prove(before, sl.ir.parse(head + "{ y = Identity (x) }"))
        >>> proof.status, proof.claim
        ('proved', 'equal for every input')
        >>> sl.prove(before, sl.ir.parse(head + "{ y = Abs (x) }"), search=False).status
        'open'
    """
    from .correspondence import with_names_of, with_shapes
    from .proof import prove as decide
    from .recomputation import disagreement

    require_kinds(locals(), prove.__annotations__)
    chosen: dict[str, Any] = {"sample_shapes": sample_shapes, "dims": dims, "equality": equality}
    options = VerifyOptions(**chosen, timeout=timeout)
    start = StageClock.now()
    before, after = read(before), read(after)
    _require_inputs(before, bound, shapes)
    if by_position:
        after = with_names_of(before, after, base_dir)
    options = with_sample_shapes(before, options, bound or ())
    subject: dict[str, Any] = {"bound": bound, "shapes": shapes, "base_dir": base_dir}
    subject |= {"equality": equality, "recompute": disagreement}
    on_progress("proving", "all inputs", 0, 0)
    proof = decide(before, after, **subject)
    subject |= {"sizes": options.sample_shapes or {}, "minima": options.minima}
    narrowed = after
    # First for every size, since that is the stronger claim; sizes of the caller narrow it only if
    # need be.
    if proof.status == "open" and (subject["sizes"] or subject["minima"]):
        proof = decide(before, after, **subject)
        narrowed = (
            with_shapes(after, subject["sizes"], base_dir) if replay and proof.proved else after
        )
    if proof.status == "open" and search:
        from .refutation import Search

        inquiry = Search(before, after, options, bound or {}, base_dir, on_progress, equality)
        proof = inquiry.refuted(proof)
        if proof.status == "open":
            proof = inquiry.with_conditions(proof)
    if replay:
        proof = _replayed(proof, before, narrowed, bound, base_dir)
    return dataclasses.replace(proof, seconds=StageClock.now() - start)


def verify(
    before: ModelSource,
    after: ModelSource,
    *,
    prove: bool | Literal["only"] | None = None,
    feeds: Given | None = None,
    runtime: RuntimeChoice = "auto",
    rtol: float | None = None,
    atol: float | None = None,
    samples: int | None = None,
    seed: int = 0,
    sample_shapes: SampleShapes | None = None,
    dims: Dims | None = None,
    timeout: float | None = None,
    max_memory: int | None = None,
    equality: Equality = "bits",
    bound: Mapping[str, Any] | None = None,
    shapes: Shapes | None = None,
    base_dir: BaseDir = None,
    workers: Workers | None = None,
    on_progress: OnProgress = silent,
) -> Verdict:
    """Verify that two models have the same outputs.

    A proof is tried first. The models run where it stays open, and where `feeds`, `samples` or a
    `runtime` ask for it.

    Args:
        before: the original: a path, bytes, ModelProto, onnx_ir.Model or straightline.ir.Model.
        after: the rewrite.
        prove: True: only a proof counts as equal, which the checker of certificates replays where
            it can; False: no proof is tried; "only": no sample is run, and a verdict without a
            proof is "open".
        feeds: inputs to run on: a dict by name, a list of them, an `.npz` file, or a folder in
            ONNX's test-data layout. Without them inputs are random.
        runtime: "onnxruntime", "reference" (exact, slow), "both", or "auto": onnxruntime where it
            is installed and runs the original, else the reference.
        rtol: relative tolerance for floats of all types in runs. Without it a tight one, by element
            type.
        atol: absolute tolerance for floats of all types.
        samples: the number of plain random samples, 3 by default; overridable initializers add
            more. Without `atol`, at most `samples` + 1 adversarial ones follow, one of each kind
            that the original accepts: values far from zero, large and tiny values, special values,
            a single infinity. Up to 28 separating ones come last: values beside constants, ties,
            special values, and sizes beside constants.
        seed: the seed of random inputs.
        sample_shapes: shapes of random inputs, None for a dimension of any size: `{"x": (1, 512)}`.
            Without them sizes grow until the original runs.
        dims: sizes of named dimensions of random inputs: `{"T": 6}`. A minimum, `{"T": ">=1"}`,
            is also an assumption of the proof.
        timeout: limit in seconds for loading one model or running it once, 60 by default. After a
            timeout of the original nothing else is tried.
        max_memory: limit in bytes of a proof's constants, 256 MB by default. A run may use four
            times as much besides the model itself.
        equality: what is to be proved: outputs equal bit for bit ("bits"), where -0.0 and 0.0 are
            alike ("values"), or if floats were real numbers ("reals").
        bound: values of inputs; the claim is about these values only. The rewrite need not have
            these inputs.
        shapes: the shapes of the rewrite, as in `straightline.rewrite`.
        base_dir: the folder of the external data of models in memory.
        workers: child processes to reuse; without them, new ones for this call only.
        on_progress: progress callback: stage, text, number done, total.

    Returns:
        the verdict: true for equal outputs, with the proof and the samples behind it.

    Raises:
        VerifyError: an option is out of range.
        SampleShapeError: a shape for samples does not fit its input.
        BindingError: there is no such input, or none has such a dimension.
        FeedError: given inputs do not fit the original or cannot be read.
        LoadError: a model cannot be read.
        ModelError: the original is not well formed.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> g (float[N] x) => (float[N] y) '
        >>> before = sl.ir.parse(head + "{ a = Neg (x) y = Neg (a) }")
        >>> verdict = sl.verify(before, sl.ir.parse(head + "{ y = Identity (x) }"))
        >>> verdict.equal, verdict.proved
        (True, True)
    """
    require_kinds(locals(), verify.__annotations__)
    options = VerifyOptions(
        prove,
        feeds,
        runtime,
        rtol,
        atol,
        samples,
        seed,
        sample_shapes,
        dims,
        timeout,
        max_memory,
        equality,
    )
    before = read(before)
    _require_inputs(before, bound, shapes)
    subject: dict[str, Any] = {"bound": bound, "shapes": shapes, "base_dir": base_dir}
    shared: dict[str, Any] = {"workers": workers, "on_progress": on_progress}
    return compare(before, after, options, **subject, **shared, minimized=feeds is None)


def compare(
    before: ModelSource,
    after: ModelSource,
    options: VerifyOptions,
    *,
    bound: Mapping[str, Any] | None = None,
    shapes: Shapes | None = None,
    base_dir: BaseDir = None,
    workers: Workers | None = None,
    on_progress: OnProgress = silent,
    loaded: bool = False,
    message: onnx.ModelProto | None = None,
    exactness: Equality = "bits",
    minimized: bool = False,
    trusted: bool = False,
) -> Verdict:
    """Compare two models: `verify` with its options in one object.

    Args:
        loaded: whether the caller has just loaded the original, so that a proof need not check it
            again.
        message: the message of the rewrite, if the caller has it.
        exactness: notion of equality that the rewrite claims; it is proved unless the options name
            another one.
        minimized: whether to shrink an input on which outputs differ.
        trusted: whether the rewrite relies on claims of the caller, which ordinary inputs keep.
    """
    start = StageClock.now()
    before, after = read(before), read(after)
    options = with_sample_shapes(before, options, bound or ())
    with governed(Limits.of(None, options.max_memory, options.timeout)):
        proof, verdict = None, None
        if options.prove is not False:
            on_progress("verifying", "proof", 0, 0)
            from ..runtimes.source import Source
            from .proof import prove as decide

            sources = [Source(before, base_dir), Source(after, base_dir, message)]
            protos = [source.proto for source in sources]
            is_brief = options.prove == "only"
            proof = _same(after, protos) if not (options.asks_for_runs or bound) else None
            if proof is None:
                subject: dict[str, Any] = {"bound": bound, "shapes": shapes, "base_dir": base_dir}
                subject |= {"brief": is_brief, "loaded": loaded, "messages": protos}
                subject |= {"equality": options.equality or exactness, "minima": options.minima}
                subject["accept"] = sources[1].accept
                # A brief proof has to be quick, so its constants are not computed a second time.
                if not is_brief:
                    from .recomputation import disagreement

                    subject["recompute"] = partial(disagreement, workers=workers)
                proof = decide(before, after, **subject)
            if options.prove is True:
                proof = _replayed(proof, before, after, bound, base_dir)
            _log.info("the proof is %s: %s", proof.status, proof.reason)
            if is_brief:
                verdict = _without_runs(proof, sources)
                if verdict.status == "open" and options.unproved == "samples":
                    verdict = None
            elif (
                proof.proved
                and not options.asks_for_runs
                and (options.prove or options.equality or proof.equality != "reals")
                # A proof does not cover faults that ONNX's checker reports.
                and (proof.reason == _SAME or not sources[1].fault)
            ):
                verdict = Verdict("equal", proved_text(proof), proof=proof)
        if verdict is None:
            from .runs.verify import run

            shared: dict[str, Any] = {"workers": workers, "on_progress": on_progress}
            shared["minimized"] = minimized
            shared["trusted"] = trusted
            shared["over_reals"] = (options.equality or exactness) == "reals"
            verdict = run(before, after, options, bound=bound, base_dir=base_dir, **shared)
            _log.info("running both models: %s, %s", verdict.status, verdict.reason)
            if proof is not None:
                verdict = _combine(verdict, proof, options)
    return dataclasses.replace(verdict, seconds=StageClock.now() - start)


def _replayed(
    proof: Proof,
    before: ModelSource,
    after: ModelSource,
    bound: Mapping[str, Any] | None,
    base_dir: BaseDir,
) -> Proof:
    """Proof with its derivation, which is sought for about a second."""
    from ..runtimes.feeds import check_feeds
    from .certificate import with_derivation

    values = check_feeds(bound, to_proto(before), partial=True) if bound and proof.proved else {}
    return with_derivation(proof, before, after, values, base_dir, _MOST_ATTEMPTS)


def _same(after: ModelSource, protos: Sequence[onnx.ModelProto]) -> Proof | None:
    """The proof of an unchanged model; None for others. A loaded model is well formed."""
    from .proof import Proof

    start = StageClock.now()
    # Data in files may have changed on disk since the model was loaded.
    if not isinstance(after, Model) or not after.is_as_loaded or after.data_files:
        return None
    if protos[0].opset_import != protos[1].opset_import:  # soon seen, and conversions differ here
        return None
    size = protos[0].ByteSize()
    # The size is known without serializing, so unequal models cost nothing here.
    if size != protos[1].ByteSize() or size > _LARGE or external_tensors(protos[0]):
        return None
    one, other = (proto.SerializeToString(deterministic=True) for proto in protos)
    if one != other:
        return None
    return Proof("proved", _SAME, equality="bits", seconds=StageClock.now() - start)


def _without_runs(proof: Proof, sources: Sequence[Source]) -> Verdict:
    """The verdict of a proof alone: nothing is run."""
    from ..runtimes.source import new_fault

    fault = "" if proof.reason == _SAME else new_fault(*sources)
    if fault:
        return Verdict.invalid(fault, proof=proof)
    if proof.status == "refuted":
        return Verdict("different", proof.reason, proof=proof)
    if proof.proved and proof.reason != _SAME and sources[1].fault:  # as the original has
        from ..reference.refused_nodes import refused_node

        refusal = refused_node(sources[1].proto)
        if refusal:
            proof = dataclasses.replace(proof, status="open", reason=refusal)
    if proof.proved:
        return Verdict("equal", proved_text(proof), proof=proof)
    return Verdict("open", f"not proved, and no sample was run: {proof.reason}", proof=proof)


def proved_text(proof: Proof) -> str:
    """Reason of a verdict that rests on a proof."""
    notion = {"values": " up to the signs of zeros", "reals": " over the reals"}
    return f"proved{notion.get(proof.equality or '', '')} {proof.scope}"


def _require_inputs(
    model: ModelSource, bound: Mapping[str, Any] | None, shapes: Shapes | None
) -> None:
    """Require that bound inputs and shapes are about inputs of the original, and fit them."""
    names = {**(bound or {}), **(shapes or {})}
    if names:
        from .runs.sample_shapes import sized

        inputs = {info.name: info for info in to_proto(model).graph.input}
        for name in names:
            if name not in inputs:
                raise BindingError(no_input(name, inputs))
        for name, dims in (shapes or {}).items():
            sized(name, inputs[name].type, dims)


def with_sample_shapes(
    model: ModelSource, options: VerifyOptions, bound: Collection[str] = ()
) -> VerifyOptions:
    """Return options with sizes of named dimensions in sample shapes, or as minimum sizes.

    Raises:
        SampleShapeError: there is no such input, its type differs, or it is not random.
        BindingError: no input has such a dimension.
    """
    if not options.sample_shapes and not options.dims:
        return options
    from ..facts.named_dimensions import inputs_of, minima_of, with_dimensions
    from ..reference.signature import Signature
    from .runs.sample_shapes import require_drawn

    shapes, dims = options.sample_shapes or {}, options.dims or {}
    sample_shapes = with_dimensions(inputs_of(model), shapes, dims)
    minima = {**options.minima, **minima_of(dims)}
    if sample_shapes or not minima:
        are_given = options.feeds is not None
        require_drawn(Signature.of(to_proto(model)), shapes, bound, are_given=are_given)
    return dataclasses.replace(options, sample_shapes=sample_shapes, dims=None, minima=minima)


def _combine(verdict: Verdict, proof: Proof, options: VerifyOptions) -> Verdict:
    """The verdict of runs and a proof together."""
    demanded = options.prove is True
    verdict = dataclasses.replace(verdict, proof=proof)
    if verdict.fault:
        return verdict
    over_reals = proof.proved and proof.equality == "reals"
    if verdict.status == "different" and over_reals and options.equality is None and not demanded:
        return verdict
    if verdict.status == "different" and over_reals:
        notes = (f"not bit for bit: {verdict.reason}", *verdict.notes)
        reason = proved_text(proof)
        return dataclasses.replace(verdict, status="equal", reason=reason, notes=notes)
    if verdict.status == "different" and proof.proved:
        reason = f"a proof says equal, a run says different: {verdict.reason}"
        notes = (_CONTRADICTION, *verdict.notes)
        return dataclasses.replace(verdict, status="contradictory", reason=reason, notes=notes)
    if verdict.status == "different":
        return verdict
    if proof.proved and verdict.status == "not verified":
        notes = (f"nothing was compared: {verdict.reason}", *verdict.notes)
        return dataclasses.replace(verdict, status="equal", reason=proved_text(proof), notes=notes)
    if demanded and not proof.proved:
        reason = f"not proved: {proof.reason}; {verdict.reason}"
        return dataclasses.replace(verdict, status="not verified", reason=reason)
    return verdict
