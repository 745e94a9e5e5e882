"""Values that are certainly finite: no infinity and no NaN, whatever the inputs.

An infinity or a NaN times 0 is NaN. A weight of ones and zeros selects columns of a finite operand
only; otherwise the other columns become NaN, too.
"""

import math
from collections.abc import Sequence

import numpy as np
import onnx

from ....facts.types import IEEE_FLOATS
from ....ir import Value
from ..weights import Unfit
from .extents import Extent, Extents, extent_of_array


class Finiteness(Extents):
    """Extents of which none holds an infinity, and no value beyond them is NaN."""

    def holds(self, factors: Sequence[Value]) -> bool:
        """Test whether an elementwise product is certainly finite."""
        try:
            magnitudes = [max(map(abs, self.of(value))) for value in factors]
        except Unfit:
            return False
        return math.prod(magnitudes) <= self._largest(factors[0])

    def _open(self, value: Value) -> Extent:
        """The extent of a value of which nothing is known.

        Raises:
            Unfit: no integers or truth values.
        """
        node = value.producer
        if node is not None and node.is_op("ConstantOfShape") and not node.op.references:
            filler = node.attribute("value")
            return self._checked(
                value,
                (0, 0) if filler is None else extent_of_array(onnx.numpy_helper.to_array(filler)),
            )
        limits = self._limits(value)
        if not all(map(math.isfinite, limits)):
            raise Unfit(f"'{value.name}' may be infinite")
        return limits

    def _find(self, value: Value, depth: int) -> Extent:
        if value.array is not None and not np.isfinite(value.array).all():
            raise Unfit(f"'{value.name}' is infinite")
        return self._checked(value, super()._find(value, depth))

    def _checked(self, value: Value, extent: Extent) -> Extent:
        if max(map(abs, extent)) > self._largest(value):
            raise Unfit(f"'{value.name}' may be infinite")
        return extent

    def _largest(self, value: Value) -> float:
        """The largest number of an element type, halved for floats to absorb rounding."""
        elem_type = self._recurrence.fact(value).elem_type
        if elem_type not in IEEE_FLOATS:
            return math.inf
        return float(np.finfo(onnx.helper.tensor_dtype_to_np_dtype(elem_type)).max) / 2
