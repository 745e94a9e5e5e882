"""The argument `verify`: what it may be, and the options that it stands for."""

import pytest
import straightline as sl
from straightline.verification.options import comparison_options


def test_options_of_a_comparison():
    assert comparison_options(False) is None
    assert comparison_options(True) == {}
    assert comparison_options("proof") == {"prove": "only"}
    assert comparison_options({"samples": 2}) == {"samples": 2}
    with pytest.raises(sl.VerifyError, match="no option 'bogus'"):
        comparison_options({"bogus": 1})
    with pytest.raises(sl.VerifyError, match=r"verify is 'proof', True, False or .* not 'prove'"):
        comparison_options("prove")
