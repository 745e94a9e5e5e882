"""The table docs/data/recognized.csv: proofs of what the passes write, and of forms by hand."""

import onnx
import pytest
import straightline as sl
from straightline.dev.recognized.pairs import pair
from straightline.dev.recognized.rows import LOOPS, check, columns, rows

TABLE = rows()
NAMES = sorted({name for loops in LOOPS.values() for name in loops})


def test_each_row_has_loops_of_its_own():
    assert sorted(row.loops for row in TABLE) == sorted(LOOPS.values())


@pytest.mark.sample(4)
@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.loops[0])
def test_a_row_says_how_its_loops_are_checked(row):
    assert row.cells[-2:] == columns([check(name) for name in row.loops]), (
        "run python -m straightline.dev.recognized.rows"
    )


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", NAMES)
def test_a_loop_is_rewritten_and_equal_to_its_form_by_hand(name):
    loop, by_hand = pair(name)
    outcome = sl.transform(loop, "accelerate", verify=False, max_run_memory=0)
    assert any(remark.action == "rewritten" for remark in outcome.remarks)
    for model in [outcome.model] if by_hand is None else [outcome.model, by_hand]:
        onnx.checker.check_model(model, full_check=True)
        verdict = sl.verify(loop, model, prove=False, rtol=1e-3, atol=1e-3)
        assert verdict.status in ("equal", "not verified"), verdict.reason
