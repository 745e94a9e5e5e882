"""The iteration number and condition as inputs of a Loop's body."""

import numpy as np

from ...ir import Graph, Tensor, Value


def iteration_number(body: Graph, iteration: int) -> Tensor:
    """The iteration number as a body sees it: of the declared rank, else a scalar."""
    return shaped_number(declared_shape(body.inputs[0]), iteration)


def shaped_number(shape: tuple[int, ...], iteration: int) -> Tensor:
    """The iteration number of a known shape, from `declared_shape` of the input."""
    array = np.array(iteration, np.int64)
    return Tensor(array=array.reshape(shape) if shape else array)


def condition_tensor(body: Graph, holds: bool) -> Tensor:
    """The condition as a body sees it: of the declared rank, else a scalar."""
    return Tensor(array=np.full(declared_shape(body.inputs[1]), holds, np.bool_))


def declared_shape(value: Value) -> tuple[int, ...]:
    """The shape of the iteration number or condition: of one element."""
    return (1,) * len(value.shape or ())
