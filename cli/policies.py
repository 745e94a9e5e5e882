"""Policies of continuous integration: conditions that a model, or its rewrite, must satisfy."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from ..analysis.iterations.constructs import control_flow
from ..driver.calls import transform_model
from ..driver.options import RewriteOptions
from ..driver.specialize import typed_values
from ..ir import Model, ModelSource, load
from ..passes import Remark
from ..records import asdict, record
from ..targets import Target
from ..verification import compare
from ..verification.mismatch import MismatchError
from ..verification.runs.options import VerifyOptions
from ..verification.runs.verdict import Verdict
from .target_checks import lacking, listed

Problem = Literal[
    "", "control flow left", "other opset", "not taken", "outputs differ", "not verified",
    "proved, not replayed",
]  # fmt: skip
_MOST_NAMED = 3
"""Limit of constructs that a reason names."""


@record(frozen=True)
class PolicyResult:
    """Result of one policy for a model.

    Attributes:
        policy: its name, that of an option.
        problem: the kind of the violation; "" where the policy is satisfied.
        reason: the cause of the violation, or a detail of the satisfied policy.
    """

    policy: str
    problem: Problem = ""
    reason: str = ""

    @property
    def holds(self) -> bool:
        """Test whether the policy is satisfied."""
        return not self.problem

    def to_dict(self) -> dict[str, Any]:
        """Return the result in types that JSON has."""
        return {**asdict(self), "holds": self.holds}


@record(frozen=True)
class Policies:
    """Conditions on the form of a model.

    Attributes:
        straight_line: no Loop, Scan, If or other operator that holds a graph.
        opset: exactly this version of ONNX's operator set.
        max_opset: at most this version.
    """

    straight_line: bool = False
    opset: int | None = None
    max_opset: int | None = None
    target: Target | None = None

    def judge(
        self, model: Model, residual: Sequence[Remark] | None = None
    ) -> Iterator[PolicyResult]:
        """Yield the result of each policy.

        Args:
            residual: remarks on the residual constructs of a rewrite, under the names of its
                original; None for a model as it is.
        """
        if self.straight_line:
            constructs = (
                [f"{node.op_type} '{node.path}'" for node in control_flow(model)]
                if residual is None
                else [f"{one.op_type} '{one.path}': {one.reason}" for one in residual]
            )
            more = len(constructs) - _MOST_NAMED
            text = "; ".join(constructs[:_MOST_NAMED]) + (f"; {more} more" if more > 0 else "")
            yield _result("straight-line", "control flow left", text)
        opset = model.opset()
        if self.opset is not None:
            # A model without ONNX's own operators has opset 0, and fits any.
            other = f"opset {opset}, not {self.opset}" if opset not in (0, self.opset) else ""
            yield _result("opset", "other opset", other)
        if self.max_opset is not None:
            other = f"opset {opset}, above {self.max_opset}" if opset > self.max_opset else ""
            yield _result("max-opset", "other opset", other)
        if self.target is not None:
            counts = lacking(self.target, model)
            lacks = f"{self.target.name} lacks {listed(counts)}" if counts else ""
            yield _result("target", "not taken", lacks)


def judge_rewrite(
    model: ModelSource, options: RewriteOptions, verification: VerifyOptions, policies: Policies
) -> Iterator[PolicyResult]:
    """Yield the results of the policies for the rewrite of a model.

    Raises:
        Error: the model cannot be read, or an option does not fit it.
    """
    outcome = transform_model(model, options)
    try:
        outcome = outcome.compared(verification)
        assert outcome.verdict is not None
        outputs = _judged(outcome.verdict, verification)
    except MismatchError as error:
        outputs = PolicyResult("outputs", "outputs differ", str(error))
    yield from policies.judge(outcome.ir, [remark.brief for remark in outcome.left])
    yield outputs


def judge_model(
    model: ModelSource,
    policies: Policies,
    reference: ModelSource | None,
    values: Mapping[str, Any],
    verification: VerifyOptions,
) -> Iterator[PolicyResult]:
    """Yield the results of the policies for a model and a comparison with a reference.

    Args:
        reference: a model that must give equal outputs; None for no such policy.
        values: values of inputs that only the reference has.
        verification: how outputs are compared.

    Raises:
        Error: a model cannot be read, or an option does not fit it.
    """
    yield from policies.judge(load(model))
    if reference is not None:
        bound = typed_values(reference, values)
        yield _judged(compare(reference, model, verification, bound=bound), verification)


def _judged(verdict: Verdict, options: VerifyOptions) -> PolicyResult:
    if verdict.differs:
        return PolicyResult("outputs", "outputs differ", verdict.reason)
    if not verdict.equal or (options.prove and not verdict.proved):
        return PolicyResult("outputs", "not verified", verdict.reason)
    proof = verdict.proof if verdict.proved else None
    if proof is not None and proof.unreplayed:
        return PolicyResult("outputs", "proved, not replayed", proof.unreplayed)
    return PolicyResult("outputs", reason="equal on samples" if proof is None else proof.word)


def _result(policy: str, problem: Problem, reason: str) -> PolicyResult:
    return PolicyResult(policy, problem if reason else "", reason)
