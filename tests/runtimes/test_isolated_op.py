import numpy as np
import pytest
from onnx.helper import make_node
from straightline.reference.errors import EvaluationError
from straightline.runtimes.isolated_op import Apart
from straightline.runtimes.workers import RuntimeFailure


def test_operators_are_computed_apart_one_after_the_other():
    apart = Apart()
    ones = np.ones(3, np.float32)
    try:
        clip = make_node("Clip", ["a", "", "c"], ["y"])
        (found,), spent = apart.run(clip, {"": 20}, [2 * ones, None, ones[0]], 60)
        assert found.tolist() == [1, 1, 1] and 0 <= spent < 60
        unique = make_node("Unique", ["a"], ["y", "", "", "n"])
        found, _ = apart.run(unique, {"": 20}, [np.array([5, 3, 5])], 60)
        assert [array.tolist() for array in found] == [[3, 5], [1, 2]]
        with pytest.raises(EvaluationError, match="Add"):
            wrong = make_node("Add", ["a", "b"], ["y"])
            apart.run(wrong, {"": 20}, [np.ones(2, np.float32), ones], 60)
        with pytest.raises(RuntimeFailure, match="timed out"):
            trap = make_node("RegexFullMatch", ["x"], ["y"], pattern="(a+)+$")
            apart.run(trap, {"": 20}, [np.array(["a" * 40 + "b"], object)], 0.2)
        (words,), _ = apart.run(
            make_node("Identity", ["x"], ["y"]), {"": 20}, [np.array(["a"], object)], 60
        )
        assert words.tolist() == ["a"], "it is started anew"
    finally:
        apart.close()
