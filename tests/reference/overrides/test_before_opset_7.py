import numpy as np
import pytest
from conversions import model
from older_forms import FEEDS, OLDER_FORMS, SIGNATURE, OlderForm
from reference_oracle import assert_same
from straightline import reference
from straightline.reference import EvaluationError
from tables import table


@pytest.mark.parametrize("form", OLDER_FORMS, ids=str)
def test_the_result_is_that_of_the_specification(form: OlderForm) -> None:
    assert_same(reference.run(form.model, FEEDS), [np.asarray(form.result)], rtol=1e-5, atol=1e-6)


@table(
    (6, "y = Add (x, r)", "differ without 'broadcast'"),
    (6, "y = Add <broadcast = 1, axis = 1> (x, p)", "is not a part of"),
    (6, "y = Dropout (x)", "training before opset 7"),
    (1, "y, z = Split (x)", "no default for 'axis'"),
    (1, "y = GlobalLpPool <p = 1.5> (i)", "is not implemented"),
)
def test_undefined_nodes_fail(opset: int, body: str, reason: str) -> None:
    with pytest.raises(EvaluationError, match=reason):
        reference.run(model(body, opset, SIGNATURE), FEEDS)
