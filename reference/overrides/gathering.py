"""GatherND and GatherElements: what onnx.reference refuses where a batch is empty, and where
indices reach along a part of an axis only."""

from __future__ import annotations

import math

import numpy as np
from onnx.reference.op_run import OpRun

from ..bodies import Array


class GatherND(OpRun):
    """GatherND: tuples of indices into the axes behind the batch."""

    def _run(self, data: Array, indices: Array, batch_dims: int = 0) -> tuple[Array, ...]:
        batch, count = indices.shape[:batch_dims], indices.shape[-1]
        rows, places = math.prod(batch), indices.shape[batch_dims:-1]
        flat = data.reshape((rows, *data.shape[batch_dims:]))
        tuples = indices.reshape((rows, math.prod(places), count))
        row = np.arange(rows)[:, np.newaxis]
        places_of_rows = (row, *np.moveaxis(tuples, -1, 0))
        slices = flat[places_of_rows]
        return (slices.reshape((*batch, *places, *data.shape[batch_dims + count :])),)


class GatherElements(OpRun):
    """GatherElements: along the other axes an element is taken from where its index stands."""

    def _run(self, data: Array, indices: Array, axis: int) -> tuple[Array, ...]:
        places: list[Array] = list(np.indices(indices.shape, sparse=True))
        places[axis] = indices
        return (data[tuple(places)],)


GATHERING_OPERATORS: tuple[type[OpRun], ...] = (GatherND, GatherElements)
