import ml_dtypes
import numpy as np
from straightline.runtimes.value_text import text_of
from tables import table


@table(
    (np.array(3), "int64 3"),
    (np.array([1, np.nan], np.float32), "float32[2] [1.0, nan]"),
    (np.array([1], ml_dtypes.bfloat16), "bfloat16[1] [1.0]"),
    (np.array(["a"], object), "string[1] ['a']"),
    (np.full(99, "a", object), "string[99]"),
    (np.zeros((5, 5)), "float64[5, 5] of 0"),
    (np.eye(1, 20, 7, dtype=np.int8), "int8[1, 20], 0 but 1 at [0, 7]"),
    (np.ones(20, bool), "bool[20]"),
    (None, "absent"),
    ([np.array(True), None], "[bool True, absent]"),
    ([np.array(1)] * 9, "[int64 1, int64 1, int64 1, ...]"),
    ({1: 2}, "a map of 1"),
)
def test_a_value_is_one_line(value, text):
    assert text_of(value) == text
