"""What the body of a Loop is given on each trip besides its carried values."""

from __future__ import annotations

import numpy as np

from ...ir import Graph, Tensor, Value


def iteration_number(body: Graph, trip: int) -> Tensor:
    """The iteration number as a body sees it: of the rank that it declares, else a scalar."""
    return shaped_number(declared_shape(body.inputs[0]), trip)


def shaped_number(shape: tuple[int, ...], trip: int) -> Tensor:
    """The same where many are made for a body, of whose first input `declared_shape` was asked."""
    array = np.array(trip, np.int64)
    return Tensor(array=array.reshape(shape) if shape else array)


def given_condition(body: Graph, holds: bool) -> Tensor:
    """The condition as a body sees it: of the rank that it declares, else a scalar."""
    return Tensor(array=np.full(declared_shape(body.inputs[1]), holds, np.bool_))


def declared_shape(value: Value) -> tuple[int, ...]:
    """The shape of what a body is given besides its carried values: of one element."""
    return (1,) * len(value.shape or ())
