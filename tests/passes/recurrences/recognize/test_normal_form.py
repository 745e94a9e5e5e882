from straightline.passes.recurrences.recognize.coefficients import ONE, ZERO
from straightline.passes.recurrences.recognize.normal_form import Bounded, Step


def test_bounds_and_conditions():
    plain = Bounded((ONE,))
    assert not plain.is_bounded and not plain.is_independent
    assert Bounded((None,), ONE, upper=ZERO).is_bounded and Bounded((None,), ONE).is_independent
    assert not Step(plain).is_reset and Step(plain, ONE, ZERO).is_constant
