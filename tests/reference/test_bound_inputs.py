import numpy as np
from straightline.reference.bound_inputs import bound_conditions
from tables import table


@table(
    (np.array(16000), "is 16000"),
    (np.array([True, False]), "is [True, False]"),
    (np.array([np.nan, -0.0], np.float32), "is [nan, -0.0]"),
    (np.array(["a"], object), "is ['a']"),
    (np.zeros((0, 3), np.float32), "is []"),
    (np.arange(17), "has the value that was set"),
    (np.array(["a" * 100], object), "has the value that was set"),
)
def test_a_short_value_is_written_out(value, text):
    assert bound_conditions({"k": value}, {"x"}) == {f"input 'k' {text}"}
    assert bound_conditions({"k": value}, {"k"}) == {
        f"input 'k', which the rewrite still has, {text}"
    }
