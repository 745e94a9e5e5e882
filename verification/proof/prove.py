"""Translation validation of two models: execute both on terms and compare the outputs."""

import copy
import dataclasses
import os
import re
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx

from ...facts.named_dimensions import Minima
from ...facts.notions import EQUAL, NOTIONS, Equality
from ...facts.polynomial import Dimension
from ...ir import Array, Error, LoadError, ModelError, ModelSource, base_dir_of, read, to_proto
from ...ir.faults import raises_faults
from ...ir.gc_pause import paused_collector
from ...ir.lazy import lazy_property
from ...ir.subgraph_arity import BODIES
from ...limits import governed
from ...reference.bound_inputs import bound_conditions
from ...reference.element_types import ElementTypes
from ...reference.refused_nodes import refused_node
from ...reference.signature import Signature, mismatches, output_mismatches
from .blocks import Pair, pairs_of
from .cases import (
    Case,
    case_by_demands,
    case_of_minima,
    cases_by_sizes,
    facts_by_demands,
    size_without_iteration,
    with_sizes,
)
from .definedness import Definedness, UndefinedError, certainly_fails
from .equality.equality import Comparison, Mismatch
from .equality.zero_signs import ZeroSigns
from .execution.compile_graph import Compiler, Operation, Program
from .execution.cut_points import CutPoints
from .execution.departing_nodes import unequal
from .execution.inputs import (
    conditions_of,
    input_terms,
    narrower,
    overridable,
    require_same_defaults,
)
from .execution.node_checker import InvalidError
from .execution.obligations import Log, with_operands
from .execution.static_types import require_types
from .execution.symbolic_execution import Execution, TracedExecution
from .execution.value_numbers import Side, ValueNumbers
from .explanation import TWIN, needed, places, users
from .forced_conditions import MOST_FORCED, Forced, forced_conditions, joined
from .full_check import accepted_kinds
from .merging import MergingExecution, RecordedExecution
from .one_graph import counts_by_kinds, counts_of
from .reals.constants import SIMPLE_CONSTANTS
from .reals.field import DEFINED
from .result import Condition, Failure, Proof, explained_proof, failed_proof, invalid_proof
from .sides import ModelSide, Ran, node_count
from .terms.budget import Budget, OpenError
from .terms.constants import WeightFiles, key_of
from .terms.evaluations import Evaluation
from .terms.exact_operators import assumptions_of
from .terms.printing import applied, shown
from .terms.provenance import Trace
from .terms.term import Term, added_terms
from .terms.term_manager import MOST_STEPS, Terms

FEW_LOOP_STEPS, OF_MODELS = 64, 2
"""A loop whose iterations have at most so many nodes in all, or so many times as many as the
models, runs by its definition at once. A longer one is compared over a symbolic iteration first: a
rewrite that unrolled it would be larger, unless half of its nodes were folded."""

FIRST_SHARE = 4
"""Divisor of the steps of a proof for its first attempt, which compares long loops over a symbolic
iteration. One that runs loops by their definition has what is left."""

GENERAL_SHARE, EXPLAINED_SHARE = 8, 4
"""Divisors for an attempt that runs again with provenance, and for that run, which caches less."""

WEAKER_SHARE = 16
"""Divisor for an attempt by a weaker notion than requested, which only words the answer."""

NARROW = "no size that is computed in 32 bits is 2^30 or more"
"""Assumption about models with sizes in 32 bits."""
ENDS = "no axis that a Slice cuts at 2147483647 or further is longer"
"""Assumption about exporters' bound for the end of an axis."""

BRIEF_DEFINITION, BRIEF_DEFINITION_STEPS = 8, 8_192
"""Limit of such a proof for loops by their definition, after a mismatch on a symbolic iteration: a
multiple of the steps of that one, and at least so many steps."""

MERGED_SHARE, MERGED_STEPS, MERGED_LOOP_STEPS = 1, 16_384, 262_144
"""Limit of a comparison of what remains after values have been merged, unless the notion is asked
for by name: a multiple of the steps up to then, and at least so many steps; more with a loop, whose
iterations become one operator (GRU, LSTM, RNN)."""

MOST_CASES = 16
"""Limit of cases in which loops have no iteration."""

InputSizes = Mapping[str, Sequence["int | None"]]
Recompute = Callable[[Sequence[Evaluation]], str]


@paused_collector
def prove(
    before: ModelSource,
    after: ModelSource,
    *,
    bound: Mapping[str, Any] | None = None,
    shapes: Mapping[str, Sequence[int | None]] | None = None,
    sizes: Mapping[str, Sequence[int | None]] | None = None,
    minima: Minima | None = None,
    base_dir: str | os.PathLike[str] | None = None,
    budget: Budget | None = None,
    equality: Equality = "bits",
    brief: bool = False,
    loaded: bool = False,
    messages: Sequence[onnx.ModelProto] = (),
    recompute: Recompute | None = None,
    accept: Callable[[], None] | None = None,
    part: bool = False,
) -> Proof:
    """Prove that two models give equal outputs for every input, or leave it open.

    Symbolic execution by the reference semantics turns both into terms, which are compared.

    Args:
        before: the original: a path, bytes, ModelProto, onnx_ir.Model or straightline.ir.Model.
        after: the rewrite.
        bound: values of inputs; the claim names them. The rewrite need not have these inputs.
        shapes: sizes that the caller fixed, by input, None for one that is open; the rewrite may
            declare them.
        sizes: sizes of the inputs that the claim is about, in the same form; the claim names them.
        minima: minimum sizes of named dimensions that the claim is about; the claim names them.
        base_dir: the folder of the external data of models given in memory.
        budget: limit of what the proof may cost; None for what suits the size of the models.
        equality: what is to be proved: outputs equal bit for bit ("bits"), where -0.0 and 0.0 are
            alike ("values"), or if floats were real numbers ("reals").
        brief: stop if the proof takes long for models of their size, look for no weaker notion than
            the one to be proved, and infer no shapes to find nodes that runtimes refuse.
        loaded: whether the caller has just loaded the original, which is then not checked again.
        messages: both models as messages, if the caller has them.
        recompute: computes the constants of a proof once more, and describes one that differs. Then
            the answer is open.
        accept: called after a proof of a rewrite whose kinds of nodes ONNX's full check accepts.
        part: whether both are parts of larger models, whose values are the inputs.

    Raises:
        LoadError: a model cannot be read.
        ModelError: the original is not well formed.
        FeedError: a value of `bound` does not fit its input.

    Warns:
        FaultWarning: the prover failed, and the answer is open.
    """
    start = time.perf_counter()
    # The passes have spent nothing of this budget, so that an answer is always the same.
    with governed(anew=True):
        fixed = bound or {}, shapes or {}, sizes or {}
        sources = read(before), read(after)
        protos = messages or [to_proto(source) for source in sources]
        folders = [base_dir_of(source, base_dir) for source in sources]
        sides = ModelSide.pair(sources, protos, folders)
        if not loaded:
            sides[0].require_well_formed()
        budget = budget or Budget.of_size(sum(side.size for side in sides))
        question = _Question(sides, fixed, minima or {}, budget)
        question.recompute, question.is_part = recompute, part
        # Bits cannot be equal where a kernel rounds otherwise: the attempts are saved.
        question.is_hasty = equality == "reals" and sides[0].rounds_before(sides[1])
        if brief:
            question.limit_to_size()
        try:
            answer = question.answer()
            if answer.status == "open" and (equality != "bits" or not brief):
                answer = question.weaker(answer, equality)
            answer = explained_proof(answer)
            if answer.proved and not brief:
                answer = question.of_valid_models(answer)
            if answer.proved and recompute is not None:
                answer = question.confirmed(answer, recompute)
            if answer.proved and accept is not None and question.is_accepted():
                accept()
        except Exception as error:
            if isinstance(error, Error | OSError | MemoryError) or raises_faults():
                raise
            answer = failed_proof(error)
        finally:
            question.release()
    return dataclasses.replace(answer, seconds=time.perf_counter() - start)


class _Question:
    """Two models to be compared."""

    def __init__(
        self,
        sides: Sequence[ModelSide],
        fixed: tuple[Mapping[str, Any], InputSizes, InputSizes],
        minima: Minima,
        budget: Budget,
    ) -> None:
        bound, self.shapes, self.sizes = fixed
        self.minima = minima
        self.assumed = case_of_minima(minima)
        self.sides = sides
        self.protos = [side.proto for side in sides]
        self.names = [info.name for info in sides[0].proto.graph.output]
        self.element_types = [ElementTypes(proto) for proto in self.protos]
        self.bound: Mapping[str, Array] = {}
        if bound:
            from ...runtimes.feeds import check_feeds

            self.bound = check_feeds(bound, self.protos[0], partial=True)
        self.budget = budget
        self.whole = dataclasses.replace(budget)
        self.spent = self.taken = 0
        self.is_brief = self.is_part = False
        self.notion: Equality = "bits"
        self.is_comparable = self.has_two_readings = False
        self.iterating = frozenset[Dimension]()
        self.trace: Trace | None = None
        self.failed: Terms | None = None
        self.iterates = self.is_limited = self.is_hasty = False
        self.ran: Ran | None = None
        self.log: Log = []
        self.outputs: Sequence[Term | None] = ()
        self.demanded: Case = self.assumed
        self.facts: dict[bool, Sequence[Dimension]] = {}
        self.original: Compiler | None = None
        self.typed: set[int] = set()
        self.made: list[Terms | Comparison] = []
        self.places: WeightFiles | None = WeightFiles()
        self.rewrite: Program | None = None
        self.passes_full_check = False
        self.blocks: Sequence[Pair] | None = None
        self.recompute: Recompute | None = None

    def release(self) -> None:
        """Free the terms after the answer."""
        for holder in self.made:
            holder.release()

    def limit_to_size(self) -> None:
        """Lower the budget to what a proof of models of this size may cost."""
        self.is_brief = True
        self.budget = self.whole = self.budget.brief(sum(map(node_count, self.protos)))

    def answer(self) -> Proof | Failure:
        """Answer to the question; reads weights in files only if it depends on their content."""
        answer = self._answer()
        # Weights in files were compared by their place. Two places may hold the same content, so an
        # open answer is no answer until the content is read; a proof by place holds anyway.
        if self.places is not None and self.places.in_doubt and not answer.proved:
            self.places, self.trace, self.taken = None, None, 0
            self.budget = dataclasses.replace(self.whole)
            answer = self._answer()
        return answer

    def weaker(self, answer: Proof | Failure, equality: Equality) -> Proof | Failure:
        """Answer by a weaker notion of equality to an open question."""
        if not self.is_comparable:
            return answer
        self.trace, last = None, ""
        notions = NOTIONS[-1:] if self.is_hasty else NOTIONS[1:]
        for self.notion in notions:
            demanded = NOTIONS.index(self.notion) <= NOTIONS.index(equality)
            if self.is_brief and not demanded:
                break
            self.is_limited = self.is_brief or not demanded
            second = self._weaker_attempt(1 if demanded else WEAKER_SHARE)
            if not isinstance(second, Proof):
                last = f"; {EQUAL[self.notion].removeprefix('equal ')}: {second}"
                continue
            if not second.proved:
                continue
            notion, words = self.notion, EQUAL[self.notion]
            if demanded:
                return dataclasses.replace(second, equality=notion, reason=words)
            answer = explained_proof(answer)
            reason = f"{words}, not proved bit for bit: {answer.reason}"
            return dataclasses.replace(answer, equality=notion, reason=reason)
        if self.is_hasty:  # once more, for the first difference
            self.is_hasty, self.notion, self.trace, self.taken = False, "bits", None, 0
            self.budget = dataclasses.replace(self.whole)
            answer = self.answer()
        answer = explained_proof(answer)
        if last.endswith(f": {answer.reason}"):
            return answer
        return dataclasses.replace(answer, reason=answer.reason + last)

    def _weaker_attempt(self, share: int) -> Proof | Mismatch | UndefinedError:
        """Comparison by the current notion. Over the reals loops are compared over a symbolic
        iteration first: folding rounds what iterations of known number compute. Up to signs of
        zeros they run by their definition in the end, as they do bit for bit."""
        limits = (0, self.few_loop_steps) if self.notion == "reals" else (self.few_loop_steps,)
        room = self._steps_left if share == 1 else len(limits) * (self.whole.steps // share)
        for number, self.loop_steps in enumerate(limits):
            self.generalized = False
            attempts = 1 if share == 1 and not self.iterates else len(limits) - number
            self.budget = dataclasses.replace(self.whole, steps=room // attempts)
            answer = self._attempt()
            room -= self.spent
            if not self.generalized or (isinstance(answer, Proof) and answer.proved):
                return answer
        return self._by_definition(answer) if self.notion == "values" and share == 1 else answer

    def confirmed(self, answer: Proof, recompute: Recompute) -> Proof:
        """Proof whose constants are computed once more; open if one differs."""
        holders = [holder for holder in self.made if isinstance(holder, Terms)]
        difference = recompute([each for terms in holders for each in terms.evaluations])
        if not difference:
            return answer
        reason = f"a constant of the proof depends on the runtime: {difference}"
        return Proof("open", reason, answer.rules)

    def of_valid_models(self, answer: Proof) -> Proof:
        """Proof, unless runtimes refuse a model at a node that need not run."""
        for side, proto in enumerate(self.protos):
            # The proof compares values. A runtime also refuses models for nodes that no run
            # reaches, such as those of a branch that is never selected.
            fault = refused_node(proto)
            if fault:
                return invalid_proof(fault, side)
        return answer

    def is_accepted(self) -> bool:
        """Test whether ONNX's full check accepts the rewrite, by its kinds of nodes."""
        if not self.passes_full_check and self.rewrite is not None:
            self.passes_full_check = accepted_kinds(self.rewrite, self.protos[1]) is not None
        return self.passes_full_check

    def _answer(self) -> Proof | Failure:
        try:
            self.sides[1].require_well_formed()
        except ModelError as error:
            return invalid_proof(str(error), 1)
        before, after = map(Signature.of, self.protos)
        problems = mismatches(before, after, self.bound) or output_mismatches(before, after)
        if problems:
            return Proof("open", f"the signatures differ: {'; '.join(problems)}")
        self.is_comparable = True
        self.loop_steps, self.generalized = self.few_loop_steps, False
        nodes = (node for proto in self.protos for each in proto.functions for node in each.node)
        self.iterates = any(side.holds_bodies for side in self.sides) or any(
            node.op_type in BODIES for node in nodes
        )
        share = FIRST_SHARE if self.iterates else 1
        self.budget = dataclasses.replace(self.whole, steps=self.whole.steps // share)
        if self.is_hasty:
            return Proof("open", "an operator may round differently from its definition")
        answer = self._attempt()
        proved = isinstance(answer, Proof) and answer.proved
        if not proved and (self.generalized or (share > 1 and self.budget.steps < 0)):
            answer = self._by_definition(answer)
        return answer if isinstance(answer, Proof) else Failure(copy.copy(self).explained, answer)

    @lazy_property
    def few_loop_steps(self) -> int:
        """Limit of nodes up to which a loop runs by its definition at once."""
        return max(FEW_LOOP_STEPS, OF_MODELS * sum(map(node_count, self.protos)))

    @property
    def _steps_left(self) -> int:
        """Steps that the attempts so far did not take; at least a quarter of all."""
        return max(self.whole.steps - self.taken, self.whole.steps // FIRST_SHARE)

    def _by_definition(
        self, first: Proof | Mismatch | UndefinedError
    ) -> Proof | Mismatch | UndefinedError:
        """Comparison with loops run by their definition. If that takes too long, the answer is that
        of a symbolic iteration."""
        few, spent, failed = self.loop_steps, self.spent, self.failed
        has_mismatch, steps = self.budget.steps >= 0, self._steps_left
        if self.is_brief and has_mismatch:
            steps = min(steps, max(BRIEF_DEFINITION * spent, BRIEF_DEFINITION_STEPS))
        self.loop_steps = MOST_STEPS
        self.budget = dataclasses.replace(self.whole, steps=steps)
        answer = self._attempt()
        # A mismatch over a symbolic iteration names two terms; "too expensive" names none. Keep the
        # better explanation.
        if has_mismatch and self.budget.steps < 0:
            self.loop_steps, self.spent, self.failed = few, spent, failed
            return first
        return answer

    def _attempt(self) -> Proof | Mismatch | UndefinedError:
        """Comparison of the models: a proof, the first mismatch, or a node that may fail."""
        self.used: set[str] = set()
        before, after = self.protos
        self.assumptions = narrower(before, after, self.bound, {**self.shapes, **self.sizes})
        self.assumptions |= conditions_of(before, self.sizes)
        names = {info.name for info in after.graph.input}
        self.assumptions |= bound_conditions(self.bound, names)
        self.assumptions |= {f"{name} >= {least}" for name, least in self.minima.items()}
        begin = self.begin = self.budget.steps
        if self.notion == "bits":
            self.ran = None
        try:
            counts = self._all_readings()
        except (Mismatch, UndefinedError) as error:
            error.__context__ = None  # an attempt before: its frames would hold all terms
            return error.with_traceback(None)
        except InvalidError as error:
            return invalid_proof(str(error), self.side)
        # Terms are compared recursively, and Python's limit is that of the caller's stack: this is
        # not a fault of the prover, unlike any other exception.
        except RecursionError:
            self.ran = None
            return Proof("open", "values are nested too deeply to be compared")
        except (OpenError, LoadError) as error:  # LoadError: unreadable data
            self.ran = None
            rules = tuple(sorted(self.used))
            return Proof("open", str(error), rules, conditions=self._conditions())
        finally:
            self.spent = begin - self.budget.steps
            self.taken += self.spent
        rules, assumptions = tuple(sorted(self.used)), tuple(sorted(self.assumptions))
        proof = Proof("proved", "", rules, counts, assumptions, equality="bits", minima=self.minima)
        return dataclasses.replace(proof, reason=proof.claim)

    def explained(self, error: Mismatch | UndefinedError) -> Proof:
        """Answer of a failed comparison, with the nodes that computed the terms. The case that
        failed runs again to record these, on the terms that it has, unless it is too long."""
        reason, terms = str(error), self.failed
        if self.spent * GENERAL_SHARE <= self.whole.steps and terms is not None:
            self.trace = terms.trace = Trace()
            most = self.whole.steps // EXPLAINED_SHARE
            self.terms, terms.budget = terms, dataclasses.replace(self.whole, steps=most)
            try:
                self._outcome()
            except OpenError as traced:
                error = traced if isinstance(traced, type(error)) else error
                error.with_traceback(None)
        if isinstance(error, UndefinedError):
            node, rule = error.obligation, TWIN
            first, paths = (shown(None), applied(node.head, node.args)), ("", node.path)
        else:
            one, other, compared = error.before, error.after, error.compared
            first, paths = (shown(one), shown(other)), places(self.trace, one, other, compared)
            rule = needed(one, other, users(one, other, compared))
        rules = tuple(sorted(self.used))
        answer = Proof("open", reason, rules, first=first, paths=paths, needed=rule)
        return dataclasses.replace(answer, conditions=self._conditions())

    def _conditions(self) -> tuple[Condition, ...]:
        """Condition that holds if all but a case without iterations is proved."""
        if not self.iterating or self.has_two_readings or self.notion != "bits":
            return ()
        sizes = sorted(map(str, self.iterating))
        if all(re.fullmatch(r"[\w +*()-]+", size, re.ASCII) for size in sizes):
            return (Condition(" and ".join(f"{size} is 1 or more" for size in sizes)),)
        return (Condition("each loop has an iteration"),)

    def _all_readings(self) -> dict[str, int]:
        """Comparison in both readings of a Loop without a condition input. The specification
        ignores the condition of its body and onnxruntime heeds it, so the models must be equal in
        either reading."""
        self.heeds_condition = self.has_two_readings = False
        try:
            counts = self._all_cases()
            if self.has_two_readings:
                self.heeds_condition = True
                self._all_cases()
        except Mismatch as found:
            if not self.has_two_readings:
                raise
            how = "heeded, as in onnxruntime" if self.heeds_condition else "ignored, as specified"
            reason = f"{found}, where the missing condition of a Loop is {how}"
            raise Mismatch(reason, found.before, found.after, found.compared) from found
        return counts

    def _all_cases(self) -> dict[str, int]:
        """Comparison with at least one iteration of each loop, then in each case without one. Where
        it fails, the sizes that a model compares with 0 are 0 or more in cases of their own."""
        first: dict[str, int] | None = None
        failure: Mismatch | UndefinedError | None = None
        waiting: list[dict[str, Dimension]] = [self.demanded]
        self.iterating = frozenset[Dimension]()
        for room in reversed(range(MOST_CASES)):
            sizes = waiting.pop()
            try:
                counts, positive = self._case(sizes)
                cases = [
                    size_without_iteration(iterations) for iterations in sorted(positive, key=str)
                ]
                if first is None:
                    first, numbers = counts, [size.value for size in sizes.values()]
                    own = sizes.keys() - self.assumed.keys()
                    iterating = {*map(Dimension.symbol, own), *positive}
                    is_general = numbers.count(None) == len(sizes)
                    self.iterating = frozenset(iterating if is_general else ())
            except (Mismatch, UndefinedError) as error:
                if failure is None:
                    failure, self.failed = error.with_traceback(None), self.terms
                demanded = case_by_demands(self.terms, self.log)
                learns = sizes in (self.assumed, self.demanded) and self._learns()
                if demanded and sizes == self.assumed:
                    # A weaker notion begins with it.
                    self.demanded = with_sizes(sizes, demanded)
                cases = [demanded] if demanded or learns else []
                cases = cases or cases_by_sizes(self.terms, not self.is_brief)
                if not cases:
                    raise failure from None
            except OpenError:
                if failure is None:
                    raise
                raise failure from None  # which tells more than a limit
            waiting += [with_sizes(sizes, case) for case in reversed(cases)]
            if not waiting and first is not None:
                return first
            if len(waiting) > room:
                break
        raise OpenError("too many loops may have no iteration, each of which is a case of its own")

    def _learns(self) -> bool:
        """Test whether the run of the original shows facts that no attempt knew. They depend on the
        reading of conditions."""
        if self.heeds_condition in self.facts:
            return False
        facts = facts_by_demands(self.terms, self.log, self.outputs)
        self.facts[self.heeds_condition] = facts
        return bool(facts)

    def _case(self, sizes: Mapping[str, Dimension]) -> tuple[dict[str, int], set[Dimension]]:
        """Comparison where some sizes are known.

        Returns:
            The number of terms of each output, and trip counts that are taken to be at least 1.
        """
        # Both models have run for the notion before. Their terms do not depend on the notion, but
        # for folds over the reals, so only the comparison runs again.
        if self.ran is not None and not sizes:
            return self._again(self.ran)
        facts = self.facts.get(self.heeds_condition, ())
        terms = self.terms = Terms(self.budget, sizes, facts)
        self.made.append(terms)
        terms.are_reals, terms.is_brief = self.notion == "reals", self.is_brief
        terms.is_part = self.is_part
        terms.heeds_condition, terms.loop_steps = self.heeds_condition, self.loop_steps
        terms.key_of = key_of if self.places is None else self.places.key_of
        return self._outcome()

    def _again(self, ran: Ran) -> tuple[dict[str, int], set[Dimension]]:
        """Outcome by a weaker notion, on the terms of the attempt to prove more."""
        terms = self.terms = ran.terms
        terms.budget, terms.comparing, terms.symbols.depth = self.budget, False, 0
        (original, _), (_, program) = ran.runs
        try:
            if self.notion == "reals":
                assert isinstance(original, RecordedExecution)
                terms.of_original = original.constants()
                run = self._execution(1, original), program
                other = self._run(1, run, ran.inputs)
                ran = ran._replace(runs=[ran.runs[0], run], outputs=(ran.outputs[0], other))
            return self._comparison(ran)
        finally:
            self.used |= terms.used

    def _outcome(self) -> tuple[dict[str, int], set[Dimension]]:
        """Outcome of the current case: both models run, and the comparison of their outputs."""
        terms = self.terms
        self.operations: dict[Hashable, Operation] = {}
        self.programs: dict[int, Program] = {}
        self.defaults: tuple[dict[str, Term], ...] = {}, {}
        try:
            counts = self._by_one_graph() or self._by_blocks()
            if counts is not None:
                return counts, set()
            before, after = self.protos
            inputs = input_terms(terms, before, after, self.bound, self.sizes)
            runs = self._executions(inputs)
            counts = self._by_cut_points(inputs, runs)
            if counts is not None:
                return counts, set()
            one = self._run(0, runs[0], inputs)
            for _ in range(MOST_FORCED):
                more = forced_conditions(terms, runs[0][0].log)
                if not more:
                    break
                runs = self._executions(inputs, joined(runs[0][0].forced, more))
                one = self._run(0, runs[0], inputs)
            terms.end_original()
            other = self._run(1, runs[1], inputs)
            require_same_defaults(*self.defaults)
            ran = Ran(terms, inputs, runs, (one, other))
            loops = self.iterates or terms.generalized or any(each.unopened for each, _ in runs)
            # Terms of a case or of a symbolic iteration hold assumptions of that attempt, and
            # another notion compares loops in other forms: those are built anew.
            if self.notion == "bits" and not (loops or terms.case or self.trace):
                self.ran = ran
            return self._comparison(ran)
        finally:
            self.used |= terms.used
            self.generalized |= terms.generalized
            self.has_two_readings |= terms.has_two_readings

    def _comparison(self, ran: Ran) -> tuple[dict[str, int], set[Dimension]]:
        """Comparison of the outputs of both models."""
        one, other = ran.outputs
        executions = [execution for execution, _ in ran.runs]
        self.log, self.outputs = executions[0].log, one
        # Refinement: where the original always fails, every rewrite is correct.
        if certainly_fails(executions[0].log):
            return {}, set()
        logs = [execution.log for execution in executions]
        if self.notion == "values":
            signs = ZeroSigns(ran.terms)
            one, other = signs.forms(one, other)
            logs = [with_operands(log, ran.terms, signs.operands) for log in logs]
        if self.notion == "reals" and self.is_limited:
            least = MERGED_LOOP_STEPS if self.iterates else MERGED_STEPS
            most = max(MERGED_SHARE * (self.begin - self.budget.steps), least)
            self.budget.steps = min(self.budget.steps, most)
        pairs = list(zip(self.names, one, other, strict=True))
        return added_terms(self.names, one), self._compare(pairs, executions, logs)

    def _compare(
        self,
        pairs: Sequence[tuple[str, Term | None, Term | None]],
        runs: Sequence[Execution],
        logs: Sequence[Log],
    ) -> set[Dimension]:
        """Compare values of both models, and their nodes that may fail.

        Returns:
            Trip counts that are taken to be at least 1.
        """
        terms = self.terms
        comparison = Comparison(terms, over_reals=self.notion == "reals")
        self.made.append(comparison)
        for name, one, other in pairs:
            comparison.require(one, other, name)
        definedness = Definedness(comparison, logs[0])
        definedness.require(logs[1])
        if self.notion == "reals":
            self.assumptions |= {DEFINED, SIMPLE_CONSTANTS}
            self.assumptions |= comparison.rounded_constants
            if isinstance(runs[1], MergingExecution):
                self.assumptions |= runs[1].rounded_constants
        else:
            folded = {head.name for head, _ in runs[0].folded ^ runs[1].folded}
            self.assumptions |= comparison.assumptions | assumptions_of((), folded)
        self.assumptions |= comparison.definitions
        self.assumptions |= unequal(runs[0].departing, runs[1].departing)
        if terms.symbols.magnitudes.narrow:
            self.assumptions.add(NARROW)
        if terms.symbols.magnitudes.ends:
            self.assumptions.add(ENDS)
        return comparison.positive | terms.positive | definedness.positive

    def _executions(
        self, inputs: Mapping[str, Term], forced: Forced | None = None
    ) -> list[tuple[Execution, Program]]:
        """Executions of both models. A fault of the original precedes one of the rewrite."""
        first = self._execution(0), self._program(0)
        first[0].forced = forced or {}
        first[0].assumed = first[0].forced.get((), {})
        try:
            return [first, (self._execution(1, first[0]), self._program(1))]
        except InvalidError:
            self._run(0, first, inputs)
            self.side = 1
            raise

    def _program(self, side: int) -> Program:
        """Main graph of a model."""
        self.side = side
        if side in self.programs:
            return self.programs[side]
        proto, rows = self.protos[side], lambda: self.sides[side].rows
        original = self.original if side else None
        compiler = Compiler(self.terms.heads, proto, self.operations, rows, original)
        if side:
            self.rewrite = compiler.main
        else:
            self.original = compiler
        if side not in self.typed:
            require_types(compiler.main)
            self.typed.add(side)
        self.programs[side] = compiler.main
        return compiler.main

    def _execution(self, side: int, original: Execution | None = None) -> Execution:
        """Execution of a model, of the rewrite after the original."""
        arguments = self.terms, ("before", "after")[side], *self._sources(side)
        if self.trace is not None:
            execution: Execution = TracedExecution(*arguments)
        elif self.notion == "reals" and isinstance(original, RecordedExecution):
            execution = MergingExecution(*arguments, original=original)
        else:
            execution = RecordedExecution(*arguments)
        execution.over_reals = self.notion == "reals"
        if original is not None:
            execution.assumed, execution.forced = dict(original.assumed), original.forced
        return execution

    def _sources(self, side: int) -> tuple[Path | None, ElementTypes]:
        """Folder of the data of a model, and its inferred types."""
        return self.sides[side].folder, self.element_types[side]

    def _by_one_graph(self) -> dict[str, int] | None:
        """Number of values of each output if one graph means the same in both opsets; else None."""
        if not (self.sides[0].shares_graph(self.sides[1]) and self._shares_values):
            return None
        self.made.append(terms := Terms(self.budget))
        counts = counts_by_kinds(self._program(0), self.protos, terms, self.sides[0].folder)
        self.passes_full_check |= counts is not None
        return None if counts is None else dict(zip(self.names, counts, strict=True))

    def _by_blocks(self) -> dict[str, int] | None:
        """Number of values of each output if all kinds of blocks are equal; else None."""
        is_fixed = bool(self.bound) or self.trace is not None
        if self.iterates or is_fixed or any(map(overridable, self.protos)):
            return None
        try:
            programs = [self._program(side) for side in (0, 1)]
        except InvalidError:  # a run of the original tells whether that fails first
            return None
        if self.blocks is None:
            self.blocks, accepts = pairs_of(programs, self.sides)
            self.passes_full_check |= accepts
        for pair in self.blocks:
            options: dict[str, Any] = {"brief": True, "messages": pair, "recompute": self.recompute}
            proof = prove(*pair, equality=self.notion, part=True, **options)
            if not proof.proved or NOTIONS.index(proof.equality) > NOTIONS.index(self.notion):
                return None
            self.used.update(proof.rules)
            self.assumptions.update(proof.assumptions)
        return dict(zip(self.names, counts_of(programs[0]), strict=True)) if self.blocks else None

    @property
    def _shares_values(self) -> bool:
        """Test whether equal nodes make equal values, as they do unless initializers are free."""
        if self.bound or self.trace is not None or self.notion != "bits":
            return False
        return not any(map(overridable, self.protos))

    def _by_cut_points(
        self, inputs: dict[str, Term], runs: Sequence[tuple[Execution, Program]]
    ) -> dict[str, int] | None:
        """Number of values of each output if models are equal between values that they share.
        None if that is open."""
        if not self._shares_values:
            return None
        numbers = ValueNumbers(self.terms, inputs)
        sides = [
            Side(program, execution, types)
            for (execution, program), types in zip(runs, self.element_types, strict=True)
        ]
        shared = numbers.correspondence(*sides)
        if shared is None:
            return None
        programs = [program for _, program in runs]
        cuts = CutPoints(self.terms, shared, programs)
        if not (cuts.cover_all or self._holds_between(cuts)):
            return None
        places = [shared.before[at] for at in programs[0].outputs]
        return dict(zip(self.names, numbers.sizes_of(places), strict=True))

    def _holds_between(self, cuts: CutPoints) -> bool:
        """Test whether models are equal between cut points. Of these too little may be known to see
        that a node does not depart: the models as a whole need no assumption then."""
        runs = [self._execution(side) for side in (0, 1)]
        bounds, assumptions = self.terms.symbols.magnitudes, set(self.assumptions)
        notes = bounds.narrow, bounds.ends
        try:
            pairs, departs = cuts.differences(runs), unequal(*[run.departing for run in runs])
            if not (departs or self._compare(pairs, runs, [run.log for run in runs])):
                return True
        except OpenError:
            pass
        self.terms.comparing, self.assumptions = False, assumptions
        bounds.narrow, bounds.ends = notes
        return False

    def _run(
        self, side: int, run: tuple[Execution, Program], inputs: Mapping[str, Term]
    ) -> list[Term | None]:
        """Outputs of a model."""
        self.side, free = side, overridable(self.protos[side])
        execution, program = run
        arguments: list[Term | None] = []
        by_place = dict(program.constants)
        for name, place in zip(program.names, program.inputs, strict=True):
            default = place in by_place and name not in free
            if name in free and name not in self.bound:
                self.defaults[side][name] = execution.constant(by_place[place])
            arguments.append(execution.constant(by_place[place]) if default else inputs[name])
        return execution.run(program, arguments)
