"""Random flat models, simplified: proved, equal when they run, and no smaller at a second time. A
longer run: python tests/support/random_flat.py --models 1000."""

import numpy as np
import pytest
from depth import DEEP
from random_flat import check


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_flat_models():
    with np.errstate(all="ignore"):
        found = [status for seed in range(400 if DEEP else 15) for status in check(seed)]
    assert found.count("proved") > 0.9 * len(found) and "refuted" not in found
