"""What the body of a Loop is given on each trip besides its carried values."""

from __future__ import annotations

import numpy as np

from ...ir import Graph, Tensor, Value


def iteration_number(body: Graph, trip: int) -> Tensor:
    """The iteration number as a body sees it: of the rank that it declares, else a scalar."""
    return Tensor(array=np.full(_declared_shape(body.inputs[0]), trip, np.int64))


def given_condition(body: Graph, holds: bool) -> Tensor:
    """The condition as a body sees it: of the rank that it declares, else a scalar."""
    return Tensor(array=np.full(_declared_shape(body.inputs[1]), holds, np.bool_))


def _declared_shape(value: Value) -> tuple[int, ...]:
    return (1,) * len(value.shape or ())
