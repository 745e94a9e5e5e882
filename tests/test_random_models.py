"""Random nested models: the reference agrees with onnxruntime, and so do rewrites.

Each batch is drawn from a fixed seed. onnxruntime runs in a process of its own, so a crash of it is
a failure of one model. What onnxruntime is known to get wrong is not drawn: `KNOWN_FAULTS` in
strategies.py names it. A longer run with other seeds: `make fuzz`.
"""

import pytest
from depth import DEEP, examples
from harness import check_model
from hypothesis import HealthCheck, Phase, given, seed, settings
from straightline import ir
from straightline.passes import straighten
from straightline.reference import Workers
from straightline.verification.runs.options import VerifyOptions
from straightline.verification.runs.verify import run
from strategies import model_and_feeds, scan_8_model_and_feeds

BATCH = examples(10)
NUMBERS = range(2 if DEEP else 1)
STATIC = [("static", model_and_feeds(static_only=True), number) for number in NUMBERS]
DYNAMIC = [("any", model_and_feeds(), number) for number in NUMBERS]
SCANS = [("scan-8", scan_8_model_and_feeds(), number) for number in range(1)]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("kind", "drawn", "number"), STATIC + DYNAMIC + SCANS, ids=lambda value: str(value)[:8]
)
def test_batch(kind, drawn, number):
    with Workers() as workers:

        @seed(number)
        @settings(
            max_examples=BATCH,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(drawn)
        def check(case):
            model, feeds = case
            rewritten = rewrite(model, straight=kind == "static")
            verdict = run(
                model, rewritten, VerifyOptions(feeds=feeds, runtime="both"), workers=workers
            )
            assert verdict.status == "equal", str(verdict)
            assert not verdict.disagreements, str(verdict)

        check()


def rewrite(model, straight):
    """The default pipeline, with what must hold of its result."""
    result = straighten(max_nodes=200_000).run(model)
    ir.verify(ir.load(result.model))
    check_model(result.model)
    left = [remark for remark in result.kept if remark.op_type in ("Loop", "If")]
    assert not (straight and left), [str(remark) for remark in left]
    return result.model
