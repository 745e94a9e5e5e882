"""Course of `rewrite` and `convert`: open, rewrite, compare, write, report."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..records import record, replace
from . import interrupts, report
from .arguments import (
    ComparisonArguments,
    ManyArguments,
    ModelArguments,
    OutputArguments,
    ProofArguments,
    TableArguments,
)
from .config_options import applied_to, dict_of
from .exit_codes import (
    EXIT_CONTROL_FLOW_LEFT,
    EXIT_DIFFERENT,
    EXIT_NOT_REPLAYED,
    EXIT_NOT_VERIFIED,
    finish,
)
from .loading import load_files
from .pages import require_page, tell_page, write_page
from .parsing import files_in
from .piping import read_model, require_place, write_model
from .printing import logged, printed
from .rerun_command import command_again

if TYPE_CHECKING:
    from ..display import OnProgress
    from ..driver.options import RewriteOptions
    from ..driver.result import Outcome
    from ..ir import ModelFile
    from ..verification.certificate import Certificate
    from ..verification.mismatch import MismatchError
    from ..verification.runs.options import VerifyOptions


def _require_opset(opset: int) -> None:
    """Require an opset to which models are converted.

    Raises:
        BadParameter: it is another one.
    """
    from ..ir.model import MAX_OPSET
    from ..version_converter.schemas import OLDEST

    if not OLDEST <= opset <= MAX_OPSET:
        raise typer.BadParameter(f"--opset {opset}: write a number from {OLDEST} to {MAX_OPSET}")


@record(frozen=True)
class Session:
    """One `rewrite` or `convert`.

    Attributes:
        stage: the name of the work in progress bars.
        table: options of the rewrite.
        comparison: arguments about how the result is compared.
        keywords: further keywords of the rewrite.
        straight_line: withhold a result with control flow.
        whole_target: withhold a result that the target does not support as a whole.
    """

    context: typer.Context
    stage: str
    table: TableArguments
    about: ModelArguments
    proof: ProofArguments
    comparison: ComparisonArguments
    output: OutputArguments
    many: ManyArguments
    keywords: dict[str, Any]
    straight_line: bool = False
    whole_target: bool = False

    def check(self) -> None:
        """Check what needs no model.

        Raises:
            BadParameter: options contradict each other, or lack another one.
        """
        target = self.table.target()
        if self.whole_target and target is None:
            raise typer.BadParameter("--require-target needs a target; name one with --target")
        if self.stage == "converting" and self.table["opset"] is None and target is None:
            raise typer.BadParameter("name a destination: --opset N, or --target NAME")
        if self.table["opset"] is not None:
            _require_opset(self.table["opset"])
        self.proof.demanded()

    @property
    def rewriting(self) -> RewriteOptions:
        """The options of the rewrite; the files of inputs are read.

        Raises:
            FeedError: a file cannot be read.
        """
        return self.table.options(timeout=self.comparison.timeout, **self.keywords)

    @property
    def verification(self) -> VerifyOptions | None:
        """The options of the verification; None for none."""
        if not self.proof.verify:
            return None
        return self.comparison.options(self.proof.asked(), unproved=self.proof.unproved)

    def run(self, source: Path, target: Path) -> int:
        """Rewrite one model; return the exit code.

        Raises:
            Error: the model cannot be read, the options do not fit it, or it cannot be written.
        """
        from ..driver.calls import transform_model
        from ..limits import governed

        verification, output = self.verification, self.output
        interrupts.raise_from_now_on()
        options = self.rewriting
        self.context.with_resource(governed(options.limits))
        load_files(self.about)
        self.context.with_resource(logged(output.verbose))
        with (
            printed(output.print_after, output.print_before),
            report.progress(self.stage, quiet=output.silent) as progress,
        ):
            original, read = self._open(source, target, verification, options)
            outcome = transform_model(original, options, on_progress=progress)
        mismatch, code = None, self._withheld(outcome)
        # A result that is withheld anyway need not be compared.
        if verification is not None and not code:
            with report.progress("verifying", quiet=output.silent) as progress:
                outcome, mismatch, code = self._compare(outcome, verification, progress)
            # The comparison may have kept further constructs.
            code = code or self._withheld(outcome)
        if not code:
            record = self._certificate(outcome, original)  # which may fail: nothing is written yet
            sharing: dict[str, Any] = {"keep": read, "link_data": output.link_data}
            write_model(outcome.ir, target, force=output.force, **sharing)
            outcome = self._write_certificate(outcome, record)
        return self._report(outcome, mismatch, code, source, None if code else target)

    def _withheld(self, outcome: Outcome) -> int:
        """Return the exit code of a result with control flow, or unfit for the target; else 0."""
        withheld = (self.whole_target and outcome.untaken) or (self.straight_line and outcome.left)
        return EXIT_CONTROL_FLOW_LEFT if withheld else 0

    def _open(
        self,
        source: Path,
        target: Path,
        verification: VerifyOptions | None,
        options: RewriteOptions,
    ) -> tuple[ModelFile, list[Path]]:
        """Read the model, and refuse what can be refused without the long work.

        Returns:
            the model, and the files beside it that must not be overwritten.

        Raises:
            Error: the model cannot be read, a file would be lost, or a size is for no input.
        """
        from ..runtimes.feeds import files_of
        from ..verification import with_sample_shapes

        output, certificate = self.output, self.proof.certificate
        beside = [self.comparison.inputs, *files_in(self.table["values"])]
        read = [file for path in beside if path is not None for file in files_of(path)]
        model = read_model(source, self.about.max_input_size)
        files = [*read, *model.data_files]
        require_place(target, files, model, force=output.force, link_data=output.link_data)
        if certificate is not None:
            from ..verification.certificate import place_of

            place_of(certificate, [*files, source, target], force=output.force)
            read.append(certificate)
        require_page(output.page, [*read, *model.data_files, source, target], output.force)
        if verification is not None:
            with_sample_shapes(model, verification, list(options.values))
        return model, read

    def _compare(
        self, outcome: Outcome, options: VerifyOptions, on_progress: OnProgress
    ) -> tuple[Outcome, MismatchError | None, int]:
        """Compare with the original; return the outcome with its verdict, the error, the exit code.

        Raises:
            NotVerifiedError: (`strict`) nothing could be compared.
        """
        from ..verification.mismatch import MismatchError, NotVerifiedError

        try:
            outcome = outcome.compared(options, on_progress=on_progress)
        except MismatchError as error:
            return replace(outcome, verdict=error.verdict), error, EXIT_DIFFERENT
        verdict = outcome.verdict
        assert verdict is not None
        if options.prove is True and not verdict.proved:
            return outcome, None, EXIT_NOT_VERIFIED
        if self.table["strict"] and verdict.status == "not verified":
            raise NotVerifiedError(f"the rewrite was not verified: {verdict.reason}")
        return outcome, None, 0

    def _certificate(self, outcome: Outcome, original: ModelFile) -> Certificate | None:
        """Make the certificate that is asked for."""
        if self.proof.certificate is None:
            return None
        from ..verification.certificate import Certificate

        verdict = outcome.verdict
        assert verdict is not None and verdict.proof is not None
        return Certificate.of(original, outcome.ir, verdict.proof, outcome.bound)

    def _write_certificate(self, outcome: Outcome, record: Certificate | None) -> Outcome:
        """Write a certificate; return the outcome with the checker's word."""
        if record is None or self.proof.certificate is None:
            return outcome
        record.write(self.proof.certificate, force=self.output.force)
        assert outcome.verdict is not None
        verdict = replace(outcome.verdict, proof=record.proof)
        return replace(outcome, verdict=verdict)

    def _report(
        self,
        outcome: Outcome,
        mismatch: MismatchError | None,
        code: int,
        source: Path,
        path: Path | None,
    ) -> int:
        lacking = self.whole_target and bool(outcome.untaken)
        command_with = functools.partial(command_again, self.context)
        write_page(self.output.page, outcome, mismatch, source, path, command_with)
        failure: Sequence[str] = report.failure_of(outcome, mismatch, lacking) if code else []
        proof = None if code or outcome.verdict is None else outcome.verdict.proof
        not_replayed = f"{proof.word}: {proof.unreplayed}" if proof and proof.unreplayed else ""
        code = EXIT_NOT_REPLAYED if not_replayed else code

        def show() -> None:
            as_json, brief = self.output.as_json, not self.output.verbose
            lines = failure or ([not_replayed] if not_replayed else [])
            content = outcome, mismatch, path, as_json, command_with, code, lines
            report.show_outcome(*content, brief=brief, config=dict_of(applied_to(self.context)))
            tell_page(self.output.page, as_json)

        code = finish(code, show, product=False)
        for remark in outcome.alarms:
            report.show_warning(remark.reason)
        if failure:
            report.show_error(*failure)
        elif outcome.verdict is not None and not outcome.verdict.equal:
            report.show_warning(f"not verified: {outcome.verdict.reason}")
        return code
