"""Arithmetic of sizes next to where integers wrap."""

import pytest
import size_arithmetic
from straightline.facts.magnitudes import Magnitudes


@pytest.mark.parametrize("seed", range(12))
def test_facts_say_what_is_computed(seed):
    assert size_arithmetic.faults(seed) == []


def test_a_fact_that_forgets_to_wrap_is_noticed(monkeypatch):
    monkeypatch.setattr(Magnitudes, "hold", lambda *_: True)
    assert any(size_arithmetic.faults(seed) for seed in range(12))
