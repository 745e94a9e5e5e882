"""Undoing of rewrites that a comparison refutes or cannot prove, construct by construct.

    pass 1: equal   pass 2: equal   pass 3, of Loops 'a' to 'd': other outputs
    again, 'a' and 'b' kept by pass 3: other outputs;   'c' kept, too: equal   ->   a veto on 'c'

The passes run again with a watcher that compares after each; then with vetoes on half of the
constructs of the pass at fault, until one is left. Then all passes run with a veto on that one, and
the result is compared anew.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Generic, TypeVar

from ...facts.reason import Message, Reason
from ...ir import Model, ModelSource
from ...ir.faults import raises_faults
from ...records import record, replace
from ...verification import compare
from ...verification.mismatch import MismatchError, feeds_text
from ...verification.runs.options import VerifyOptions
from ...verification.runs.verdict import Verdict
from ..base import Pass, PassContext
from ..faults import Place
from ..remarks import Remark
from ..utils.declarations import CorrectDeclarations
from ..vetoes import ALL, Reproduction, StrictError, Veto, Vetoes

BINDING = "that binds inputs"
"""The step that makes the model of the first pass."""
_MOST_ROUNDS = 32
"""Vetoes of one comparison: each costs some runs of all passes."""
_MOST_CONSTRUCTS = 8
"""Constructs of one pass that are kept one by one before the pass is left out."""
_REFUTED = Message("refuted-rewrite", "{pass_name} changed the outputs{place}: {difference}{input}")
_INVALID = Message("invalid-rewrite", "{pass_name} produced an invalid model{place}: {difference}")
_OPEN = Message("unproved-rewrite", "the result of {pass_name}{place} is not proved: {difference}")

T = TypeVar("T")
Probe = Callable[[Model], Verdict]
Observe = Callable[[str], PassContext]
"""Returns the context of a run of passes; the text names the step that made their model."""


@record(frozen=True)
class Task(Generic[T]):
    """A rewrite that can be run and compared again.

    Attributes:
        rerun: run the passes on a new copy of the caller's model, under vetoes.
        compare: compare such a result with the original.
        watch: the same as `rerun`, in contexts whose watchers may end the run.
        probe: return the comparison of models between passes for a verdict on the result.
        only_proved: accept a proved result only, rather than any that is not refuted.
        strict: raise rather than undo.
        reproduce: return how to make a failure again.
        last: the step after the last pass, as errors name it; "" for none.
    """

    rerun: Callable[[Vetoes], T]
    compare: Callable[[T], Verdict]
    watch: Callable[[Observe, Vetoes], object]
    probe: Callable[[Verdict], Probe]
    only_proved: bool = False
    strict: bool = False
    reproduce: Callable[[], Reproduction] = Reproduction
    last: str = ""

    def accepts(self, verdict: Verdict) -> bool:
        """Test whether a result with a verdict may be returned."""
        return verdict.proved if self.only_proved else not verdict.differs


def compared(
    comparison: Callable[[], Verdict],
    model: Model,
    *,
    always: bool = False,
    renew: Callable[[], None] = lambda: None,
) -> Verdict:
    """Compare a result, and once more where declarations of the original make it invalid.

    A false size of an output goes unnoticed as long as inference cannot tell the true one. After
    constants are folded, or in another opset, it may.

    Args:
        comparison: compares the model with its original.
        model: the result, whose declarations may change.
        always: correct declarations also where outputs differ.
        renew: called after they have changed.
    """
    verdict, context = comparison(), PassContext()
    is_suspect = verdict.differs and (always or bool(verdict.fault))
    if not is_suspect or not CorrectDeclarations().correct(model, context):
        return verdict
    renew()
    verdict = comparison()
    notes = (*verdict.notes, *map(str, context.remarks))
    return replace(verdict, notes=notes)


def probing(
    original: ModelSource, options: VerifyOptions, fixed: Mapping[str, Any]
) -> Callable[[Verdict], Probe]:
    """Return `Task.probe` for comparisons with an original.

    Args:
        fixed: other arguments of the comparison.
    """

    def probe(verdict: Verdict) -> Probe:
        settings = options.probing(verdict.differs, verdict.feeds)
        return lambda model: compare(original, model, settings, **fixed)

    return probe


def settle(task: Task[T], result: T, vetoes: Vetoes) -> tuple[T, Verdict]:
    """Compare a result, and undo what is refuted or not proved; return what stays, and its verdict.

    Args:
        vetoes: those under which the passes ran.

    Raises:
        MismatchError: the outputs differ, and no pass is at fault, or the task is strict.
        StrictError: the task is strict, and the proof failed.
    """
    verdict = task.compare(result)
    if task.strict and verdict.proof is not None and verdict.proof.failed:
        raise StrictError(verdict.proof.reason)
    # Each round keeps one more construct and runs all passes again, so the rounds are few.
    for _ in range(_MOST_ROUNDS):
        if task.accepts(verdict):
            return result, verdict
        search = _Search(task, task.probe(verdict))
        culprit = search.culprit(vetoes)
        is_at_fault = culprit is not None and culprit.is_pass
        # An open proof may be returned with its verdict; a difference must be undone or raised.
        if verdict.differs and (task.strict or raises_faults() or not is_at_fault):
            raise MismatchError(verdict, task.last) if culprit is None else culprit.error
        if culprit is None or not is_at_fault:
            break
        vetoes = vetoes.with_veto(search.veto(culprit, vetoes))
        result = task.rerun(vetoes)
        verdict = task.compare(result)
    if not task.accepts(verdict):
        # The last resort: the original, through the steps that are no passes.
        result = task.rerun(vetoes.with_veto(Veto(ALL, None, _why(verdict, ALL, None))))
        verdict = task.compare(result)
    if verdict.differs:
        raise MismatchError(verdict, task.last)
    return result, verdict


def _why(verdict: Verdict, pass_name: str, place: Place | None) -> Reason:
    at = "" if place is None else f" of {place[0]} '{place[1]}'"
    if not verdict.differs:
        return _OPEN(pass_name=pass_name, place=at, difference=verdict.reason)
    text = "" if verdict.feeds is None else f", for {feeds_text(verdict.feeds)}"
    fields: dict[str, Any] = {"difference": verdict.difference, "input": text}
    at = at.replace(" of ", " when it rewrote ", 1)
    if verdict.fault:
        return _INVALID(pass_name=pass_name, place=at, difference=verdict.fault)
    return _REFUTED(pass_name=pass_name, place=at, **fields)


@record(frozen=True)
class _Culprit:
    """The first pass after which a model is not accepted.

    Attributes:
        name: the pass, or the step before the first one.
        verdict: the verdict on the model after it.
        remarks: the rewrites of that run of it.
        is_pass: false for another step.
    """

    name: str
    verdict: Verdict
    remarks: tuple[Remark, ...] = ()
    is_pass: bool = True

    @property
    def error(self) -> MismatchError:
        """The error that names it."""
        return MismatchError(self.verdict, self.name, self.remarks)

    @property
    def places(self) -> list[Place]:
        """The constructs that it rewrote."""
        places = [(remark.op_type, remark.path) for remark in self.remarks]
        return [place for place in dict.fromkeys(places) if place[0] != "Model"]


# Not an Exception, which would count as a fault of the pass that runs.
class _Found(BaseException):
    """The end of a run at a culprit."""

    def __init__(self, culprit: _Culprit) -> None:
        super().__init__(culprit)
        self.culprit = culprit


@record(frozen=True)
class _Search(Generic[T]):
    """The search for what makes a result unacceptable."""

    task: Task[T]
    probe: Probe

    def culprit(self, vetoes: Vetoes) -> _Culprit | None:
        """Run the passes again until one is at fault; None where no single one is."""

        def refusal(model: Model) -> Verdict | None:
            verdict = self.probe(model)
            return None if self.task.accepts(verdict) else verdict

        def observe(maker: str) -> PassContext:
            # A context for each step: its remarks are those of the pass that may be at fault.
            context = PassContext()
            context.instrumentation.watcher = _Comparing(context, refusal, maker)
            return context

        try:
            self.task.watch(observe, vetoes)
        except _Found as found:
            return found.culprit
        return None

    def veto(self, culprit: _Culprit, vetoes: Vetoes) -> Veto:
        """Return a veto on one construct of a pass at fault, or on the pass."""
        vetoed = vetoes.places(culprit.name)
        places = [place for place in culprit.places if place not in vetoed]
        if len(places) < len(culprit.places) or len(vetoed) >= _MOST_CONSTRUCTS:
            places = []  # it rewrites what it cannot know: its remarks name other constructs
        while len(places) > 1:
            # Each test runs all passes, so halves are tested, not single constructs.
            half = len(places) // 2
            places = places[half:] if self._fails(culprit, vetoes, places, half) else places[:half]
        place = places[0] if places else None
        advice = ""
        if culprit.verdict.differs:
            does = "produced an invalid model" if culprit.verdict.fault else "changed the outputs"
            advice = self.task.reproduce().advice(f"the pass {culprit.name} {does}")
        return Veto(culprit.name, place, _why(culprit.verdict, culprit.name, place), advice)

    def _fails(self, culprit: _Culprit, vetoes: Vetoes, places: list[Place], half: int) -> bool:
        """Test whether a pass is at fault although it must keep the first constructs."""
        why = _why(culprit.verdict, culprit.name, None)
        for place in places[:half]:
            vetoes = vetoes.with_veto(Veto(culprit.name, place, why))
        again = self.culprit(vetoes)
        rest: Collection[Place] = places[half:]
        return (
            again is not None
            and again.name == culprit.name
            and any(place in rest for place in again.places)
        )


class _Comparing:
    """A watcher that ends the run after the first pass whose model is not accepted."""

    def __init__(
        self, context: PassContext, refusal: Callable[[Model], Verdict | None], maker: str
    ) -> None:
        self._context, self._refusal, self._maker = context, refusal, maker
        self._count, self._has_begun = 0, False

    def before(self, pass_: Pass, model: Model) -> None:
        """Compare the model that the first pass starts from."""
        if not self._has_begun:
            self._has_begun = True
            self._end(self._maker, model, (), is_pass=False)

    def after(self, pass_: Pass, model: Model, changed: bool) -> None:
        """Compare the model that a pass changed."""
        rewrites = [remark for remark in self._context.remarks if remark.action == "rewritten"]
        new, self._count = rewrites[self._count :], len(rewrites)
        if changed:
            self._end(pass_.name, model, tuple(new))

    def _end(
        self, name: str, model: Model, remarks: tuple[Remark, ...], *, is_pass: bool = True
    ) -> None:
        verdict = self._refusal(model)
        if verdict is not None:
            raise _Found(_Culprit(name, verdict, remarks, is_pass))
