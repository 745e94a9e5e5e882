"""Command `check-certificate`: the replay of a proof that others have made."""

from pathlib import Path

from . import interrupts
from .exit_codes import finish
from .options import JSON, MAX_INPUT_SIZE, argument
from .piping import read_model
from .report import show_result


def check_certificate(
    certificate: Path = argument("FILE", "The certificate."),
    before: Path = argument("A", "The original; '-' is standard input."),
    after: Path = argument("B", "Its rewrite; '-' is standard input."),
    *,
    max_input_size: int | None = MAX_INPUT_SIZE,
    as_json: bool = JSON,
) -> int:
    """Replay the derivation of a certificate by a small checker, without the prover.

    Whatever the checker cannot derive again is refused.
    """
    from ..display import Line
    from ..verification.certificate_check import check_certificate as check

    interrupts.raise_from_now_on()
    models = [read_model(path, max_input_size) for path in (before, after)]
    result = check(certificate, models[0], models[1])

    def show() -> None:
        count = f"{result.steps} steps, {result.terms} terms"
        line = Line(f": {result.claim} ({count})", status="accepted")
        fields = {"accepted": True, "claim": result.claim, **result._asdict()}
        show_result(lambda: fields, [line], as_json)

    return finish(0, show, product=True)
