"""What callers catch."""

from __future__ import annotations

import pytest
import straightline
from straightline import ir


@pytest.mark.parametrize("error", [ir.ModelError, ir.LoadError, ir.SaveError, ir.GraphError])
def test_every_error_is_one_of_straightline_s(error: type[Exception]) -> None:
    assert issubclass(error, straightline.Error)
    assert not issubclass(straightline.Error, ValueError | KeyError | AssertionError)
