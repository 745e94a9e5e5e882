"""How large the values of all trips may be."""

import pytest
from harness import run_passes
from loops import HEAD
from straightline.passes import VectorizeLoops


@pytest.mark.parametrize(("most", "kept"), [(48, False), (47, True)])
def test_values_of_all_trips_that_are_too_large(most, kept):
    text = """g (float[4, 3] x) => (float[4, 3] z) { z = Scan <num_scan_inputs = 1,
        body = b (float[3] e) => (float[3] r) { r = Exp (e) }> (x) }"""
    result = run_passes(HEAD + text, VectorizeLoops(max_bytes=most))
    assert result.changed is not kept
    assert not kept or "all trips take 48 bytes, over max_bytes=47" in result.kept[0].reason
