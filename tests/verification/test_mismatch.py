import warnings

import pytest
from straightline.passes import Remark
from straightline.verification.mismatch import (
    MismatchError,
    NotVerifiedError,
    NotVerifiedWarning,
    require_compared,
)
from straightline.verification.runs.verdict import Verdict
from tables import table

DIFFERENT = Verdict("different", "y: different")


@table(
    ("", 0, "the outputs changed; y: different; nothing was written"),
    ("p", 0, "the pass p changed the outputs; y: different; nothing was written"),
    ("p", 1,
     "the pass p changed the outputs when it rewrote If 'z'; y: different; nothing was written"),
    ("p", 3,
     "the pass p changed the outputs when it rewrote If 'z' (and 2 more); y: different;"
     " nothing was written"))  # fmt: skip
def test_an_error_names_the_pass_and_the_place(culprit, remarks, message):
    error = MismatchError(DIFFERENT, culprit, [Remark("p", "If", "z", "rewritten", "")] * remarks)
    assert str(error) == message
    assert error.verdict is DIFFERENT and len(error.remarks) == remarks


def test_an_invalid_result_is_not_called_a_change_of_outputs():
    verdict = Verdict.invalid("no Neg")
    words = "{} invalid{}; the rewrite is not a valid model: no Neg; nothing was written"
    assert str(MismatchError(verdict, "")) == words.format("the result is", "")
    assert str(MismatchError(verdict, "p")) == words.format("the pass p produced an", " model")
    assert "fault" not in verdict.to_dict()


def test_a_verification_that_compared_nothing_warns_or_raises():
    nothing = Verdict("not verified", "no input was found")
    with pytest.warns(NotVerifiedWarning, match=r"^it was not verified: no input was found$"):
        require_compared(nothing, "it", demanded=False)
    with pytest.raises(NotVerifiedError, match=r"^it was not verified"):
        require_compared(nothing, "it", demanded=True)


@pytest.mark.parametrize("status", ["equal", "open"])
def test_a_verification_that_did_what_was_asked_is_silent(status):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        require_compared(Verdict(status, ""), "it", demanded=True)
