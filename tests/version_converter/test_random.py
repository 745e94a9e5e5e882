"""Drawn models with nested control flow, to drawn versions: equal, or refused."""

from typing import Any

import numpy as np
from depth import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from straightline import convert_version, ir, reference
from straightline.version_converter import ConversionError
from strategies import model_and_feeds, scan_8_model_and_feeds

TARGETS = (8, 9, 10, 11, 12, 13, 16, 18, 21, 25, 28)


@settings(max_examples=examples(6), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.one_of(model_and_feeds(), scan_8_model_and_feeds()),
    st.lists(st.sampled_from(TARGETS), min_size=1, max_size=2),
)
def test_random_models_are_converted_equal_or_refused(drawn: Any, targets: list[int]) -> None:
    model, feeds = drawn
    wanted = reference.run(model, feeds)
    for target in targets:
        try:
            model = convert_version(model, target)
        except ConversionError as error:
            assert error.failures
            return
        ir.verify(ir.load(model))
        for one, other in zip(wanted, reference.run(model, feeds), strict=True):
            assert np.asarray(one).dtype == np.asarray(other).dtype
            np.testing.assert_array_equal(other, one)
