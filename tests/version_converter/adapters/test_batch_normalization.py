"""BatchNormalization: inference is carried over, training is refused."""

import pytest
from conversions import assert_refuses, assert_writes

STATISTICS = "float[2, 3] x, float[3] s"


@pytest.mark.parametrize("source", [8, 13])
def test_training_statistics_are_refused_where_they_are_used(source):
    node = "BatchNormalization (x, s, s, s, s)"
    assert_writes(f"y = {node}", source, source + 1, [node], STATISTICS)
    assert_writes(f"y, a = {node}", source, source + 1, [node], STATISTICS)
    assert_refuses(f"a, y = {node}", source, source + 1, "training statistics", STATISTICS)


def test_a_training_mode_is_refused_before_opset_14():
    node = "BatchNormalization <training_mode = {}> (x, s, s, s, s)"
    reason = "'training_mode' = 1 does not exist in opset 13"
    assert_refuses(f"y, a, b = {node.format(1)}", 14, 13, reason, STATISTICS)
    wanted = ["BatchNormalization (x, s, s, s, s)"]
    assert_writes(f"y = {node.format(0)}", 14, 13, wanted, STATISTICS)
