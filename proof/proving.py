"""`prove`: run both models on terms and compare what they give out."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Mapping
from typing import Any

import onnx

from ..ir import Array, ModelSource, base_dir_of, read, to_proto
from ..reference.signature import Signature, mismatches
from .algebra import Terms
from .answer import Proof
from .budget import Budget, OpenError
from .comparison import Comparison, Difference
from .execution import Execution
from .inputs import input_terms, overridable
from .printing import shown
from .programs import Compiler
from .terms import Term, descendants


def prove(
    before: ModelSource,
    after: ModelSource,
    *,
    bound: Mapping[str, Any] | None = None,
    base_dir: str | os.PathLike[str] | None = None,
    budget: Budget | None = None,
) -> Proof:
    """Whether two models give equal outputs for every input.

    Both are run on symbols by the reference semantics, and what they give out is compared as terms.

    Args:
        before: the original: a path, bytes, ModelProto, onnx_ir.Model or straightline.ir.Model.
        after: the rewrite.
        bound: values of inputs that the rewrite no longer has.
        base_dir: the folder of the external data of models given in memory.
        budget: what the proof may cost.

    Raises:
        LoadError: a model cannot be read.
    """
    start = time.perf_counter()
    question = _Question(before, after, bound or {}, base_dir, budget or Budget())
    return dataclasses.replace(question.answer(), seconds=time.perf_counter() - start)


class _Question:
    """Two models that are to be compared."""

    def __init__(
        self,
        before: ModelSource,
        after: ModelSource,
        bound: Mapping[str, Array],
        base_dir: str | os.PathLike[str] | None,
        budget: Budget,
    ) -> None:
        self.sources = read(before), read(after)
        self.protos = [to_proto(source) for source in self.sources]
        self.folders = [base_dir or base_dir_of(source) for source in self.sources]
        self.bound = bound
        self.terms = Terms(budget)

    def answer(self) -> Proof:
        """The answer."""
        signatures = [Signature.of(proto) for proto in self.protos]
        problems = mismatches(signatures[0], signatures[1], self.bound)
        if problems:
            return Proof("open", f"the signatures differ: {'; '.join(problems)}")
        try:
            inputs = input_terms(self.terms, self.protos[0], self.protos[1], self.bound)
            one, other = (self._run(side, inputs) for side in (0, 1))
            comparison = Comparison(self.terms)
            for info, a, b in zip(self.protos[0].graph.output, one, other, strict=True):
                comparison.require(a, b, info.name)
        except Difference as difference:
            pair = (shown(difference.before), shown(difference.after))
            return Proof("open", str(difference), tuple(sorted(self.terms.used)), first=pair)
        except (OpenError, RecursionError) as error:
            return Proof("open", str(error), tuple(sorted(self.terms.used)))
        names = [info.name for info in self.protos[0].graph.output]
        counts = dict(zip(names, map(_size, one), strict=True))
        rules = tuple(sorted(self.terms.used))
        assumptions = tuple(sorted(comparison.assumptions))
        return Proof("proved", "equal for every input", rules, counts, assumptions)

    def _run(self, side: int, inputs: Mapping[str, Term]) -> list[Term | None]:
        proto = self.protos[side]
        execution = Execution(self.terms, ("before", "after")[side], self.folders[side])
        program = Compiler(self.terms.heads, proto).main
        free = overridable(proto)
        given: list[Term | None] = []
        fixed = {place for place, _ in program.constants}
        by_place = {place: message for place, message in program.constants}
        for name, place in zip(program.names, program.inputs, strict=True):
            default = place in fixed and name not in free
            given.append(execution.constant(by_place[place]) if default else inputs[name])
        return execution.run(program, given)


def _size(term: Term | None) -> int:
    return sum(1 for _ in descendants([term]))
