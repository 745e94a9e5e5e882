"""Measured costs of onnxruntime: loops, copies, Scans, recurrent operators, loading.

The numbers come from `dev/benchmarks/unrolling_cost.py`, `dev/benchmarks/recurrence_cost.py` and
`dev/benchmarks/load_cost.py`, which document their method. A rewrite that pays makes no model
slower to run or to load.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Costs = Literal["none", "onnxruntime"]
"""The target whose costs decide a rewrite: an option of passes."""

MEASURED = "2026-11-22, onnxruntime 1.31.1, x86_64, one thread"

MOST_ADDED = 6
"""The weight limit of all copies of a body but the first; a node weighs 1."""
ROW = 6
"""The weight of a row that an iteration reads or writes: index, axis, concatenation."""
PACKED = 1 << 15
"""The number of matrix elements that weigh as much as a node: each copy packs them."""

MOST_NUMBERS = {
    ("GRU", "Sigmoid"): 2048,
    ("LSTM", "Sigmoid"): 8192,
    ("LSTM", "HardSigmoid"): 512,
    ("RNN", "Tanh"): 128,
    ("RNN", "Relu"): 256,
}
"""The size limit of a state, batch times hidden size, by operator and first activation.

Above it the operator is slower than a Scan: it computes activations one number at a time.
"""


LEAST_SCANNED = 5
"""The trip count from which a Scan is faster than a Loop."""

LOAD = {
    "session": 8.3,
    "node": 1.0,
    "inside": 0.15,
    "constant": 0.5,
    "packed": 1.5,
    "Identity": 0.5,
    "Constant": 0.5,
    "Loop": 1.4,
    "Scan": 1.7,
    "If": 3.1,
}
"""The cost of loading, in nodes: a session, a node, a node in a body, a constant, and others.

"packed" is the cost of `PACKED` elements of a weight matrix; some operators cost more. Two thirds
of the computed ratios are within 8 % of the measured ones.
"""

LEAST_LOAD = {
    ("much", "Loop"): 0.93,
    ("much", "Scan"): 0.97,
    ("some", "Loop"): 0.97,
    ("some", "Scan"): 1.06,
}
"""The required gain in loading, by the gain in running and the original's loops.

A form with a Scan loads slower than computed (by 0.9), a form with a Loop faster (by 1.1). A gain
is "much" if the form runs `MUCH` times faster.
"""
MUCH = 5

RUN = {"node": 1.0, "trip": 4.0, "carried": 1.0, "Scan": -2.0, "If": 2.0}
"""The cost of running besides arithmetic, in nodes.

A node, an iteration of a Loop or Scan (less in a Scan), an input or output of an iteration, an If.
"""

USUAL_TRIPS = 64
"""The assumed trip count where it is known only at run time."""


def unrolling_pays(trips: int, nodes: int, rows: int = 0, packed: int = 0) -> bool:
    """Test whether copies of a body are as fast as its loop; a single one always is.

    Args:
        trips: the trip count.
        nodes: the number of nodes in the body, without Identities and Constants.
        rows: the number of rows that an iteration reads (scanned, or by its number) or writes.
        packed: the number of elements in captured weight matrices.
    """
    return trips <= 1 or (trips - 1) * (nodes + ROW * rows + packed // PACKED) <= MOST_ADDED


def operator_pays(op_type: str, activations: Sequence[str], numbers: int | None) -> bool:
    """Test whether GRU, LSTM or RNN is as fast as an equivalent Scan.

    Args:
        op_type: the operator.
        activations: the activations of one direction.
        numbers: the size of a state, batch times hidden size; None if unknown.
    """
    most = MOST_NUMBERS.get((op_type, activations[0]), 0)
    return numbers is not None and numbers <= most
