"""Proof of a rule: the driver rewrites the cases that it claims, and `prove` compares them."""

import time
from collections.abc import Iterable, Iterator, Sequence

import onnx

from ....analysis.shapes.inference import ShapeInference
from ....definitions.pattern import RuleError
from ....ir import load, to_proto
from ....records import record
from ....verification import prove as prove_or_refute
from ....verification.proof import Proof, prove
from .case_model import CaseModel, model_of
from .rule import Rule, sample
from .rule_cases import Setting, settings
from .worklist import Driver

_MOST_DRAWN = 2000
"""The number of cases above which all are taken."""
_BATCH = 48
"""The number of cases that are proved at once."""


@record(frozen=True)
class RuleProof:
    """Result of the proof of a rule.

    Attributes:
        cases: the number of cases that were proved.
        opsets: the opsets of these, oldest first.
        failure: the first case that was not proved; None if all were.
        proof: the open or refuted proof of it.
        seconds: time spent.
    """

    rule: Rule
    cases: int
    opsets: tuple[int, ...]
    failure: Setting | None = None
    proof: Proof | None = None
    seconds: float = 0.0

    @property
    def proved(self) -> bool:
        """True if every case was proved, and there are some."""
        return self.failure is None and self.cases > 0

    def __str__(self) -> str:
        if self.proved:
            return f"{self.rule} is proved in {self.cases} cases"
        if self.failure is None:
            return f"{self.rule} applies to none of the cases that it claims"
        assert self.proof is not None
        feeds = self.proof.to_dict()["feeds"] or {}
        values = ", ".join(f"{name} = {text}" for name, text in feeds.items())
        where = f"{f', on {values}' if values else ''} ({self.failure})"
        return f"{self.rule} is {self.proof.status}: {self.proof.reason}{where}"


def prove_rule(rule: Rule, most: int | None = None) -> RuleProof:
    """Prove a rule in the cases that it claims.

    Args:
        most: the limit of cases, drawn from all; None for all. More are drawn while the rule
            applies to none.

    Raises:
        RuleError: the rule contradicts itself.
    """
    started = time.perf_counter()
    count, opsets = 0, set[int]()
    for opset, batch in _batches(rule, most):
        fired = _rewritten(rule, batch, opset)
        failure = _failure(rule, fired, opset)
        count, opsets = count + len(fired), opsets | ({opset} if fired else set())
        if failure is not None:
            spent = time.perf_counter() - started
            return RuleProof(rule, count, tuple(sorted(opsets)), *failure, seconds=spent)
    if not count and most is not None:
        return prove_rule(rule, 8 * most if 8 * most < _MOST_DRAWN else None)
    return RuleProof(rule, count, tuple(sorted(opsets)), seconds=time.perf_counter() - started)


def require_proof(rule: Rule, most: int | None = None) -> RuleProof:
    """Prove a rule.

    Raises:
        RuleError: the rule is open or refuted, or never applies.
    """
    answer = prove_rule(rule, most)
    if not answer.proved:
        raise RuleError(str(answer))
    return answer


def _batches(rule: Rule, most: int | None) -> Iterator[tuple[int, list[CaseModel]]]:
    """Yield valid cases of one opset, some at a time."""
    every = [(pattern, one) for pattern in rule.patterns for one in settings(rule, pattern)]
    chosen = every if most is None else sample(every, most)
    by_opset: dict[int, list[CaseModel]] = {}
    for number, (pattern, setting) in enumerate(chosen):
        case = CaseModel(rule, pattern, setting, f"c{number}_")
        if case.is_valid():
            by_opset.setdefault(setting.opset, []).append(case)
    for opset, cases in by_opset.items():
        for start in range(0, len(cases), _BATCH):
            yield opset, cases[start : start + _BATCH]


def _driven(rule: Rule, cases: Sequence[CaseModel], opset: int) -> tuple[onnx.ModelProto, set[str]]:
    """The model of cases after the rule, and the prefixes of cases that it changed."""
    model = load(model_of(cases, opset))
    names = {name for case in cases for name in case.assumed}
    assumed = frozenset(value for value in model.graph.inputs if value.name in names)
    fired: set[str] = set()

    def observe(_: Rule, __: object, path: str) -> None:
        fired.add(path.partition("_")[0] + "_")

    Driver(model, [rule], ShapeInference(model), observe, assumed).run()
    return to_proto(model), fired


def _rewritten(rule: Rule, cases: Sequence[CaseModel], opset: int) -> list[CaseModel]:
    """The cases that the rule changes."""
    _, fired = _driven(rule, cases, opset)
    return [case for case in cases if case.prefix in fired]


def _failure(rule: Rule, cases: Sequence[CaseModel], opset: int) -> tuple[Setting, Proof] | None:
    """The first case that is not proved; None if all are."""
    if not cases:
        return None
    if len(cases) == 1:  # the names of the rule itself
        cases = [CaseModel(rule, cases[0].pattern, cases[0].setting, "")]
        cases[0].is_valid()
    before = model_of(cases, opset)
    after, _ = _driven(rule, cases, opset)
    proof = prove(before, after, equality=rule.exactness, brief=len(cases) > 1)
    if proof.proved:
        return None
    if len(cases) == 1:
        return cases[0].setting, prove_or_refute(before, after, equality=rule.exactness)
    middle = len(cases) // 2
    halves: Iterable[Sequence[CaseModel]] = (cases[:middle], cases[middle:])
    failures = (_failure(rule, half, opset) for half in halves)
    return next((failure for failure in failures if failure is not None), None)
