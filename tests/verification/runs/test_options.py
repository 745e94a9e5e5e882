"""Options of a verification: what is in range."""

import numpy as np
import pytest
from straightline.verification.runs.options import VerifyError, check_options

GOOD = {"runtime": "auto", "rtol": None, "atol": 0, "samples": 3, "seed": 0, "timeout": 0.5}


@pytest.mark.parametrize("runtime", ["auto", "onnxruntime", "reference", "both"])
def test_what_is_in_range_passes(runtime):
    check_options(**{**GOOD, "runtime": runtime, "samples": np.int64(1), "rtol": np.float32(1e-3)})


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("runtime", "cuda", "no runtime 'cuda'; there are 'auto'"),
        ("rtol", -1, "rtol is -1; it must be a number"),
        ("atol", float("nan"), "atol is nan"),
        ("samples", 0, "samples is 0; .* 1 or more"),
        ("samples", 1.5, "samples is 1.5"),
        ("seed", -1, "seed is -1; .* 0 or more"),
        ("timeout", "long", "timeout is 'long'"),
    ],
)
def test_what_is_not_is_named(option, value, words):
    with pytest.raises(VerifyError, match=words):
        check_options(**{**GOOD, option: value})
