"""One transformation, from what is asked for to the outcome: passes, conversion, comparison."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .hints import Advice, advise, corrected
from .leftovers import left_over
from .outcome import Outcome
from .passes import Pipeline
from .passes.pipeline import require_all_rewritten
from .rewriting import Rewriting, Rewritten
from .showing import OnProgress, silent
from .verification.mismatch import require_compared
from .verification.options import Verify, comparison_options

if TYPE_CHECKING:
    from .conversion import Converted


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
        comparison = comparison_options(self.verify)
        self._check_samples(comparison or {})
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
        outcome = outcome.verified(on_progress=self.on_progress, loaded=True, **comparison)
        assert outcome.verdict is not None
        demanded = self.strict or comparison.get("prove") is True
        require_compared(outcome.verdict, what, demanded)
        return outcome

    def _check_samples(self, comparison: Mapping[str, Any]) -> None:
        shapes = comparison.get("sample_shapes")
        if shapes:
            from .verification import checked_sample_shapes

            given = self.rewriting
            checked_sample_shapes(
                given.original, shapes, None, given.values, comparison.get("feeds")
            )

    def _made(self) -> tuple[Rewritten, Converted | None]:
        if self.opset is None:
            return self.rewriting.run(lambda *told: self.on_progress("rewriting", *told)), None
        from .conversion import Conversion

        how = (self.opset, self.ir_version, self.rewrite, self.on_progress)
        converted = Conversion(self.rewriting, *how).run()
        return converted.rewritten, converted
