"""Float constants: each is the number that was meant, or the float itself."""

import math

import numpy as np
import pytest
from straightline.verification.proof.reals.constants import simplest
from straightline.verification.proof.reals.field import Field
from straightline.verification.proof.terms.budget import Budget


@pytest.mark.parametrize(
    ("number", "same"),
    [
        (1.4142135, 2**0.5),
        (0.70710677, 0.5**0.5),
        (0.7978846, (2 / math.pi) ** 0.5),
        (1e-5, 1e-5),
        (-0.33333334, -1 / 3),
        (0.59460354, 8**-0.25),
        (-0.29730177, -(128**-0.25)),
        (0.1234567, np.float32(0.1234567)),
    ],
)
def test_a_constant_is_the_simplest_number_that_rounds_to_it(number, same):
    field = Field(Budget())
    simple = simplest(field, np.float32(number))
    pi = field.atoms[field._numbers["pi", ()]] if ("pi", ()) in field._numbers else None
    if pi is not None:
        pi.value = complex(math.pi)
    assert field.value(simple).real == pytest.approx(float(same), rel=1e-12)
