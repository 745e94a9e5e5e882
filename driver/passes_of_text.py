"""One transformation, from what is asked for to the outcome: passes, conversion, comparison."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from ..display import OnProgress, silent
from ..passes import Pipeline
from ..passes.manager.pipeline import require_all_rewritten
from ..verification.mismatch import require_compared
from ..verification.runs.options import Verify, VerifyOptions
from .residual import left_over
from .result import Outcome
from .rewrite import Rewriting, Rewritten
from .suggestions import Advice, advise, corrected

if TYPE_CHECKING:
    from .convert import Converted


@dataclasses.dataclass(frozen=True)
class Transformation:
    """One transformation as a caller asks for it.

    Attributes:
        rewriting: the model, what is known of its inputs, and the passes.
        opset: convert to this opset, if to any.
        ir_version: the version of the file format that goes with it.
        rewrite: straighten what the opset cannot hold.
        verify: whether the result is compared with the original, or how.
        strict: raise for what stays, and where nothing could be compared.
        hints: try what would decide what is left.
        selects: the pipeline that may be offered for that.
        on_progress: told of long work.
    """

    rewriting: Rewriting
    opset: int | None = None
    ir_version: int | None = None
    rewrite: bool = True
    verify: Verify = False
    strict: bool = False
    hints: bool = False
    selects: Pipeline | None = None
    on_progress: OnProgress = silent

    def run(self, what: str) -> Outcome:
        """Do it; `what` names the result in messages.

        Raises:
            Error: as `straightline.transform`.
        """
        comparison = VerifyOptions.of(self.verify)
        self._check_samples(comparison)
        rewritten, converted = self._made()
        if self.strict:
            require_all_rewritten(rewritten.result.remarks)
        left, advice = [], Advice()
        if self.rewriting.has_passes:
            left = left_over(rewritten.result, converted is not None)
        if left and self.hints:
            advice = advise(self.rewriting, rewritten.model, self.selects, self.on_progress)
            left = corrected(left, advice)
        outcome = Outcome.of(rewritten, converted, left, advice.hints)
        if comparison is None:
            return outcome
        outcome = outcome.compared(comparison, on_progress=self.on_progress)
        assert outcome.verdict is not None
        demanded = self.strict or comparison.prove is True
        require_compared(outcome.verdict, what, demanded)
        return outcome

    def _check_samples(self, options: VerifyOptions | None) -> None:
        if options is not None:
            from ..verification import with_sample_shapes

            with_sample_shapes(self.rewriting.original, options, self.rewriting.values)

    def _made(self) -> tuple[Rewritten, Converted | None]:
        if self.opset is None:
            return self.rewriting.run(lambda *told: self.on_progress("rewriting", *told)), None
        from .convert import Conversion

        how = (self.opset, self.ir_version, self.rewrite, self.on_progress)
        converted = Conversion(self.rewriting, *how).run()
        return converted.rewritten, converted
