"""The options of raise-recurrences."""

from ....records import record
from ...costs.table import Costs
from ...iteration.iterations import ROW_BYTES


@record(frozen=True)
class RaiseOptions:
    """The options of raise-recurrences.

    Attributes:
        exact: replace only bit-exactly; remarks offer the other replacements, also for unrolled
            nodes.
        straight: emit only straight-line code of fewer nodes than copies of the body.
        max_bytes: the size limit of a batched value of known size.
        row_bytes: the size limit of one iteration of a batched value with an unknown trip count.
        max_identity: the limit of columns of an addend that an operator multiplies by ones and
            zeros, since it has no addends without a weight.
        costs: the target where cells stay if the operator is slower, and sums may be reordered.
        spread_nan: allow operators that multiply values that may be infinite or NaN by ones and
            zeros, which spreads NaN to other gates and columns.
        keep_nan: leave cells, since onnxruntime's GRU, LSTM and RNN may turn a NaN into a number.
    """

    exact: bool = False
    straight: bool = False
    max_bytes: int = 1 << 28
    row_bytes: int = ROW_BYTES
    max_identity: int = 384
    costs: Costs = "none"
    spread_nan: bool = False
    keep_nan: bool = False
