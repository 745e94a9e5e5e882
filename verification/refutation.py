"""Search where a proof stays open: an input that refutes, or conditions that decide it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx

from .. import reference
from ..display import OnProgress
from ..facts.named_dimensions import Minima
from ..facts.notions import EQUAL, Equality
from ..ir import BaseDir, ModelSource, to_proto
from ..ops.agreement import is_float
from ..records import record, replace
from ..reference.errors import EvaluationError
from ..reference.signature import Signature
from .conditions import Sizes, declared_shapes, sufficient
from .correspondence import with_names_of
from .proof import Condition, Proof
from .proof import prove as decide
from .runs.options import VerifyOptions
from .runs.verdict import Verdict
from .runs.verify import run

_WEAKER = {"values": "-0.0 and 0.0 are alike", "reals": "floats are real numbers"}
"""Weaker notions of equality as conditions."""

_BY_POSITION = "inputs and outputs correspond by position"

_MANY_SAMPLES = 16
"""Number of samples for outputs that differ in their last bits only."""


@record(frozen=True)
class Search:
    """Search for what decides an open proof of two models.

    Attributes:
        options: options of the runs; the shapes of samples are sizes that the caller chose.
        bound: values of inputs.
        base_dir: the folder of the external data of models given in memory.
        equality: the notion that is to be refuted.
    """

    before: ModelSource
    after: ModelSource
    options: VerifyOptions
    bound: Mapping[str, Any]
    base_dir: BaseDir
    on_progress: OnProgress
    equality: Equality = "bits"

    def refuted(self, proof: Proof) -> Proof:
        """Refute an open proof by an input, or show one on which bits differ."""
        over_reals, verdict = proof.equality == "reals", self._run()
        if over_reals and verdict.status != "different":
            verdict = self._run(rtol=0.0, atol=0.0, samples=_MANY_SAMPLES)
        elif verdict.status == "equal" and proof.first is not None:
            verdict = self._on_empty_inputs(verdict)
        if verdict.status != "different" or verdict.feeds is None:
            return proof
        reason, feeds = verdict.difference, verdict.feeds
        if over_reals:
            reason = f"{EQUAL['reals']}, not bit for bit: {reason}"
            return replace(proof, reason=reason, feeds=feeds)
        if self.equality == "reals" and not self._are_numbers(feeds):
            reason = f"{proof.reason}; overflowing values differ: {reason}"
            return replace(proof, reason=reason, feeds=feeds)
        other: dict[str, Any] = {"needed": "", "conditions": (), "feeds": feeds}
        return replace(proof, status="refuted", reason=reason, **other)

    def _are_numbers(self, feeds: Mapping[str, Any]) -> bool:
        """Test whether all outputs are finite, and no node overflows on the way: other values stand
        for no real numbers, and a comparison or choice may hide them.

        A model that fails has no outputs, over the reals either.
        """
        feeds, models = {**self.bound, **feeds}, (to_proto(self.before), to_proto(self.after))
        try:
            return all(_stays_finite(model, feeds, self.base_dir) for model in models)
        except EvaluationError:
            return True

    def _on_empty_inputs(self, verdict: Verdict) -> Verdict:
        """Run both models with all open sizes 0; return the other verdict if nothing differs. A
        difference counts if the reference has it, too: kernels of runtimes differ there."""
        declared = [
            declared_shapes(to_proto(model), self.bound, self._sizes)
            for model in (self.before, self.after)
        ]
        inputs = Signature.of(to_proto(self.before)).inputs  # those without a default
        (before, after), minima = declared, self.options.minima
        common = [name for name in before if name in after and name in inputs]
        shapes = {name: _least(before[name], after[name], minima) for name in common}
        if not any(0 in dims for dims in shapes.values()):
            return verdict
        settings: dict[str, Any] = {"sample_shapes": shapes, "samples": 1}
        if self._run(**settings, runtime="reference").status != "different":
            return verdict
        return self._run(**settings)

    def with_conditions(self, proof: Proof) -> Proof:
        """Add conditions under which an open proof succeeds."""
        weaker = proof.equality
        if weaker is not None:
            options, arguments = ("--equality", weaker), {"equality": weaker}
            condition = Condition(_WEAKER[weaker], options, arguments)
            return replace(proof, conditions=(condition,))
        if proof.first is None:
            return self._by_position(proof)
        if proof.conditions:  # all but a size of 0 is decided
            return proof
        self.on_progress("proving", "conditions", 0, 0)
        protos = to_proto(self.before), to_proto(self.after)
        sizes = self._sizes

        def attempt(values: dict[str, Any], more: Sizes, minima: Minima) -> Proof:
            both = {name: _merged(sizes.get(name), dims) for name, dims in more.items()}
            subject = {"bound": {**self.bound, **values}, "sizes": {**sizes, **both}}
            return self._decide(self.after, **subject, minima={**minima, **self.options.minima})

        conditions = sufficient(*protos, attempt, self.bound, sizes)
        return replace(proof, conditions=conditions)

    def _by_position(self, proof: Proof) -> Proof:
        """Add the condition that inputs and outputs correspond by position, if that decides it."""
        signatures = [Signature.of(to_proto(model)) for model in (self.before, self.after)]
        names = [(list(one.inputs), one.outputs) for one in signatures]
        if names[0] == names[1] or [*map(len, names[0])] != [*map(len, names[1])]:
            return proof
        renamed = with_names_of(self.before, self.after, self.base_dir)
        subject = {"bound": self.bound, "sizes": self._sizes, "minima": self.options.minima}
        if not self._decide(renamed, **subject).proved:
            return proof
        condition = Condition(_BY_POSITION, ("--by-position",), {"by_position": True})
        return replace(proof, conditions=(condition,))

    def _decide(self, after: ModelSource, **subject: Any) -> Proof:
        """Proof that gives up soon."""
        subject |= {"base_dir": self.base_dir, "loaded": True, "brief": True}
        subject["equality"] = self.equality
        return decide(self.before, after, **subject)

    @property
    def _sizes(self) -> Sizes:
        return self.options.sample_shapes or {}

    def _run(self, **changes: Any) -> Verdict:
        options = replace(self.options, **changes)
        shared: dict[str, Any] = {"bound": self.bound, "base_dir": self.base_dir}
        return run(
            self.before, self.after, options, **shared, on_progress=self.on_progress, minimized=True
        )


def _stays_finite(model: onnx.ModelProto, feeds: Mapping[str, Any], base_dir: BaseDir) -> bool:
    """Test whether outputs are finite, and results of finite operands. Masks are infinite."""
    traced, names = onnx.ModelProto(), [info.name for info in model.graph.output]
    traced.CopyFrom(model)
    inside = {name for node in model.graph.node for name in node.output if name}
    inside |= {tensor.name for tensor in model.graph.initializer}
    inside -= {*names, *feeds}
    traced.graph.output.extend([onnx.ValueInfoProto(name=name) for name in sorted(inside)])
    results = reference.run(traced, feeds, base_dir=base_dir)
    values = dict(zip([*names, *sorted(inside)], results, strict=True))
    infinite = {name for name, value in values.items() if not _is_finite(value)}
    infinite |= {name for name, value in feeds.items() if not _is_finite(value)}
    return infinite.isdisjoint(names) and all(
        node.op_type == "Constant" or not infinite.isdisjoint(node.input)
        for node in model.graph.node
        if not infinite.isdisjoint(node.output)
    )


def _is_finite(value: Any) -> bool:
    if not isinstance(value, np.ndarray) or not is_float(value):
        return True
    return bool(np.isfinite(value.astype(np.float64)).all())


def _merged(sizes: Sequence[int | None] | None, more: Sequence[int | None]) -> Sequence[int | None]:
    """Sizes of an input, with those of a condition."""
    if sizes is None:
        return more
    return [b if a is None else a for a, b in zip(sizes, more, strict=True)]


def _least(
    before: Sequence[int | str | None], after: Sequence[int | str | None], minima: Minima
) -> list[int]:
    """The smallest sizes of an input: without elements where both models leave a size open."""
    pairs = [
        (one, other, minima.get(str(one), 0)) for one, other in zip(before, after, strict=True)
    ]
    return [next(n for n in pair if isinstance(n, int)) for pair in pairs]
