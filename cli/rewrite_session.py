"""What `rewrite` and `convert` do around their work: open, compare, write, tell."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from . import report
from .comparing import keep, verified
from .exit_codes import EXIT_CONTROL_FLOW_LEFT, finish
from .opening import opened
from .pages import require_page, tell_page, write_page
from .piping import write_model
from .rerun_command import command_again

if TYPE_CHECKING:
    from ..driver.result import Outcome
    from ..ir import ModelFile
    from ..verification.mismatch import MismatchError
    from ..verification.runs.options import VerifyOptions
    from .options import Sharing


@dataclasses.dataclass(frozen=True)
class Opened:
    """A model, and the files that are read with it."""

    model: ModelFile
    read: list[Path]


@dataclasses.dataclass(frozen=True)
class Making:
    """One command from one model to another, apart from what it does with the model.

    Attributes:
        context: of the command.
        source: where the model comes from.
        target: where the result goes.
        comparison: how both are compared; None where they are not.
        certificate: where the proof is kept.
        page: where the report goes.
        force: overwrite also what is no model.
        as_json: print one JSON document.
        silent: show no progress.
        link_data: how data files are shared rather than copied.
    """

    context: typer.Context
    source: Path
    target: Path
    comparison: VerifyOptions | None
    certificate: Path | None
    page: Path | None
    force: bool
    as_json: bool
    silent: bool
    link_data: Sharing | None = None

    def opened(
        self, most: int | None, given: Iterable[Path | None], bound: Iterable[str]
    ) -> Opened:
        """The model; what can be refused without the long work is refused.

        Args:
            most: refuse a file with more bytes.
            given: files that are read beside it.
            bound: the inputs that are set.

        Raises:
            Error: it cannot be read, something would be lost, or a size is for no input.
        """
        from ..verification import with_sample_shapes

        kept = self.certificate, self.force, self.link_data
        model, read = opened(self.source, most, self.target, list(given), *kept)
        taken = [*read, *model.data_files, self.source, self.target]
        require_page(self.page, taken, self.force)
        if self.comparison is not None:
            with_sample_shapes(model, self.comparison, list(bound))
        return Opened(model, read)

    def end(
        self,
        outcome: Outcome,
        original: Opened,
        *,
        strict: bool = False,
        straight: bool = False,
        lacking: bool = False,
    ) -> int:
        """Compare, write, tell; the exit code.

        Args:
            outcome: what was made.
            original: what it was made of.
            strict: fail where nothing could be compared.
            straight: write nothing where control flow is left.
            lacking: write nothing, since the target does not take something.
        """
        withheld = lacking or (straight and outcome.left)
        mismatch, code = None, EXIT_CONTROL_FLOW_LEFT if withheld else 0
        if self.comparison is not None and not code:
            with report.progress("verifying", quiet=self.silent) as told:
                outcome, mismatch, code = verified(outcome, self.comparison, told, strict)
        if not code:
            write_model(
                outcome.ir,
                self.target,
                force=self.force,
                keep=original.read,
                link_data=self.link_data,
            )
            keep(self.certificate, outcome, original.model, self.force)
        return self._tell(outcome, mismatch, code, lacking)

    def _tell(
        self, outcome: Outcome, mismatch: MismatchError | None, code: int, lacking: bool
    ) -> int:
        written, again = (
            None if code else self.target,
            functools.partial(command_again, self.context),
        )
        write_page(self.page, outcome, self.source, written, again)
        failure = report.failure_of(outcome, mismatch, lacking) if code else []

        def tell() -> None:
            ended = report.Ended(code, failure)
            report.show_outcome(outcome, mismatch, written, self.as_json, again, ended)
            tell_page(self.page, self.as_json)

        code = finish(code, tell, product=False)
        if failure:
            report.show_error(*failure)
        elif outcome.verdict is not None and not outcome.verdict.equal:
            report.show_warning(f"not verified: {outcome.verdict.reason}")
        return code
