import pytest
from conversions import model
from older_forms import OLDER_FORMS, SIGNATURE, OlderForm
from straightline import convert_version, prove
from tables import table

OPEN = ("Split", "Tile", "Clip", "GlobalLpPool", "LpPool")
"""Forms that the proof does not know: equal by name only."""


@pytest.mark.sample(19)
@pytest.mark.parametrize("form", OLDER_FORMS, ids=str)
def test_a_form_and_its_newer_one_are_proved_equal(form: OlderForm) -> None:
    proof = prove(form.model, convert_version(form.model, 7))
    is_open = any(f"{name} " in form.body for name in OPEN)
    assert bool(proof) is not is_open, proof


@pytest.mark.sample(5)
@table(
    (6, "y = Add <broadcast = 1, axis = 1> (x, r)", "y = Add (x, r)"),
    (6, "y = Sub <broadcast = 1> (x, r)", "k = Unsqueeze <axes = [1]> (r) y = Sub (x, k)"),
    (6, "y = PRelu (x, r)", "y = PRelu (x, r)"),
    (6, "y = Dropout (x)", "y = Identity (x)"),
    (3, 'y = Cast <to = "INT32"> (x)', "y = Cast <to = 7> (x)"),
    (3, "y = Concat (x, x)", "y = Concat <axis = 0> (x, x)"),
    (1, "y = Selu (x)", "y = Selu (x)"),
    (3, "y = Reshape <shape = [0, -1]> (x)", "y = Flatten <axis = 2> (x)"),
)
def test_forms_that_differ_stay_open(opset: int, before: str, after: str) -> None:
    pair = model(before, opset, SIGNATURE), model(after, 7, SIGNATURE)
    assert not prove(*pair)
