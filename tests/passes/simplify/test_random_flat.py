"""Random flat models, simplified: proved, equal when they run, and no smaller at a second time. A
longer run: python tests/support/random_flat.py --models 1000."""

import numpy as np
import pytest
from depth import DEEP
from random_flat import check


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_flat_models():
    with np.errstate(all="ignore"):
        statuses = [status for seed in range(400 if DEEP else 15) for status in check(seed)]
    assert statuses.count("proved") > 0.9 * len(statuses) and "refuted" not in statuses
