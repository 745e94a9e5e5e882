import warnings
from pathlib import Path

import pytest
from straightline.ir.faults import FAULTS, FaultWarning, described, raises_faults, warn_of_fault


def test_the_warning_is_at_the_place_of_the_caller():
    with pytest.warns(FaultWarning, match="a part failed") as caught:
        warn_of_fault("a part failed")
    assert Path(caught[0].filename) == Path(__file__)


def test_the_environment_decides(monkeypatch):
    assert raises_faults()
    for value in ("", "warn"):
        monkeypatch.setenv(FAULTS, value)
        assert not raises_faults()


def test_an_exception_is_described_in_one_line():
    assert described(KeyError()) == "KeyError"
    assert described(ValueError("one\n  two")) == "ValueError: one two"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(FaultWarning):
            warn_of_fault("a part failed")
