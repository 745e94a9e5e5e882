import pickle
from pathlib import Path

import numpy as np
import pytest
import straightline as sl
from straightline.verification.runs.options import VerifyError, VerifyOptions
from tables import table


@pytest.mark.parametrize("runtime", ["auto", "onnxruntime", "reference", "both"])
def test_values_in_range_are_accepted(runtime):
    VerifyOptions(runtime=runtime, samples=np.int64(1), rtol=np.float32(1e-3), atol=0, timeout=0.5)


@table(
    ("runtime", "cuda", "no runtime 'cuda'; there are 'auto'"),
    ("rtol", -1, "rtol is -1; it must be a number"),
    ("atol", float("nan"), "atol is nan"),
    ("samples", 0, "samples is 0; .* 1 or more"),
    ("samples", 1.5, "samples is 1.5"),
    ("seed", -1, "seed is -1; .* 0 or more"),
    ("timeout", "long", "timeout is 'long'"),
)
def test_values_out_of_range_are_named(option, value, words):
    with pytest.raises(VerifyError, match=words):
        VerifyOptions(**{option: value})
    with pytest.raises(VerifyError, match=words):
        VerifyOptions.of({option: value})


def test_a_runtime_that_is_not_installed_is_an_error(monkeypatch):
    monkeypatch.setattr("straightline.verification.runs.options.has_onnxruntime", lambda: False)
    for runtime in ("onnxruntime", "both"):
        with pytest.raises(VerifyError, match=r"pip install 'straightline\[ort\]'"):
            VerifyOptions(runtime=runtime)
    VerifyOptions()


def test_forms_of_the_argument_verify():
    assert VerifyOptions.of(False) is None
    assert VerifyOptions.of(True) == VerifyOptions(unproved="samples")
    assert VerifyOptions.of("proof") == VerifyOptions(prove="only", unproved="samples")
    assert VerifyOptions.of("proof", "keep") == VerifyOptions(prove="only", unproved="keep")
    assert VerifyOptions.of({"samples": 2}) == VerifyOptions(samples=2, unproved="samples")
    assert VerifyOptions.of({"prove": "only"}) == VerifyOptions(prove="only", unproved="allow")
    with pytest.raises(sl.VerifyError, match="no unproved 'kept'; did you mean 'keep'"):
        VerifyOptions.of(True, "kept")
    with pytest.raises(sl.VerifyError, match="leave out prove=False"):
        VerifyOptions.of({"prove": False}, "keep")
    with pytest.raises(sl.VerifyError, match="no option 'bogus'"):
        VerifyOptions.of({"bogus": 1})
    with pytest.raises(
        sl.VerifyError, match=r"verify must be 'proof', True, False or .* not 'prove'"
    ):
        VerifyOptions.of("prove")


def test_options_reach_another_process_as_they_are():
    options = VerifyOptions.of({"samples": 2, "sample_shapes": {"x": (1, None)}, "feeds": "in.npz"})
    assert pickle.loads(pickle.dumps(options)) == options
    assert options.with_absolute_paths().feeds == Path("in.npz").absolute()
