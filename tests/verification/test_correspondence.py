import numpy as np
import onnx
import pytest
import straightline as sl
from proofs import model
from straightline.verification.correspondence import CorrespondenceError, with_names_of
from tables import table

BEFORE = "g (float[n] x, float[n] w) => (float[n] y, float[n] z) { y = Sub (x, w) z = Exp (y) }"


def names(proto):
    return [[info.name for info in infos] for infos in (proto.graph.input, proto.graph.output)]


@table(
    "g (float[n] a, float[n] b) => (float[n] c, float[n] d) { c = Sub (a, b) d = Exp (c) }",
    # names of the other model, in other places and inside
    "g (float[n] w, float[n] x) => (float[n] z, float[n] y) { z = Sub (w, x) y = Exp (z) }",
    """g (float[n] in0, float[n] in1) => (float[n] o, float[n] p) {
            x = Identity (in0) w = Sub (x, in1) o = Identity (w) y = Exp (w) p = Identity (y) }""",
)
def test_names_of_another_model(after):
    before, after = model(BEFORE), model(after)
    old = after.SerializeToString()
    copy = sl.ir.to_proto(with_names_of(before, after))
    assert names(copy) == names(before) and after.SerializeToString() == old
    onnx.checker.check_model(copy)
    assert not sl.prove(before, after, search=False).proved
    assert sl.prove(before, after, by_position=True).proved
    swapped = model(BEFORE.replace("Sub (x, w)", "Sub (w, x)"))
    assert sl.prove(swapped, after, by_position=True).status == "refuted"


def test_only_inputs_that_must_be_fed_correspond():
    text = (
        "g (float[2] %s, float[2] %s) => (float[2] %s) <float[2] %s = {1, 2}> { %s = Add (%s, %s) }"
    )
    one = model(text % ("x", "w", "y", "w", "y", "x", "w"))
    other = model(text % ("c", "in", "out", "c", "out", "in", "c"))
    copy = sl.ir.to_proto(with_names_of(one, other))
    assert names(copy) == [["c", "x"], ["y"]]
    np.testing.assert_equal(sl.reference.run(copy, {"x": np.ones(2, np.float32)})[0], [2, 3])


@table(
    ("g (float[n] a) => (float[n] c, float[n] d) { c = Neg (a) d = Exp (c) }", "2 and 1 inputs"),
    ("g (float[n] a, float[n] b) => (float[n] c) { c = Add (a, b) }", "2 and 1 outputs"),
)
def test_other_numbers_are_an_error(after, message):
    with pytest.raises(CorrespondenceError, match=message):
        sl.prove(model(BEFORE), model(after), by_position=True)


def test_an_output_that_is_an_input():
    text = "g (float[n] %s, float[n] b) => (float[n] %s, float[n] d) { d = Neg (b) }"
    one = model(
        "g (float[n] x, float[n] w) => (float[n] y, float[n] z) { y = Identity (x) z = Neg (w) }"
    )
    assert sl.prove(one, model(text % ("a", "a")), by_position=True).proved
