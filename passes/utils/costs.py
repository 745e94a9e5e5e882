"""What pays under onnxruntime: unrolling a loop, a Scan or a recurrent operator in its place, and
which of several forms of a model loads and runs fastest.

The numbers are those of `dev/benchmarks/unrolling_cost.py`, `dev/benchmarks/recurrence_cost.py` and
`dev/benchmarks/load_cost.py`, which say how they were found. What pays makes nothing slower to run
or to load.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Costs = Literal["none", "onnxruntime"]
"""Whose costs a pass asks before it does what it could: an option of passes."""

MEASURED = "2026-11-22, onnxruntime 1.31.1, x86_64, one thread"

MOST_ADDED = 6
"""What all copies of a body but the first may weigh; a node weighs 1."""
ROW = 6
"""What a row weighs that a trip reads or writes: its index, its axis, its part in joining."""
PACKED = 1 << 15
"""How many numbers of a matrix weigh as much as a node: it is packed for each copy."""

MOST_NUMBERS = {
    ("GRU", "Sigmoid"): 2048,
    ("LSTM", "Sigmoid"): 8192,
    ("LSTM", "HardSigmoid"): 512,
    ("RNN", "Tanh"): 128,
    ("RNN", "Relu"): 256,
}
"""The largest state, batch times hidden size, with which an operator with that first activation is
not slower than a Scan: it computes activations one number at a time."""


LEAST_SCANNED = 5
"""With so many trips a Scan is faster than a Loop."""

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
"""What loading takes, in nodes: of any model, and for each node, node in a body, constant, and
`PACKED` numbers of a matrix that is multiplied by; more for some operators. Ratios that are
reckoned so are within 8 % of those that are measured, two times out of three."""

LEAST_LOAD = {
    ("much", "Loop"): 0.93,
    ("much", "Scan"): 0.97,
    ("some", "Loop"): 0.97,
    ("some", "Scan"): 1.06,
}
"""How many times faster a form must seem to load, by whether it runs `MUCH` times faster, and what
the model had before: what leaves a Scan loads slower than is reckoned (0.9 of it), what leaves a
Loop faster (1.1)."""
MUCH = 5

RUN = {"node": 1.0, "trip": 4.0, "carried": 1.0, "Scan": -2.0, "If": 2.0}
"""What running takes besides arithmetic, in nodes: a node, a trip of a Loop or Scan (which is less
in a Scan), what is handed in or out of a trip, an If."""

USUAL_TRIPS = 64
"""How many trips are reckoned with where only run time tells."""


def unrolling_pays(trips: int, nodes: int, rows: int = 0, packed: int = 0) -> bool:
    """Whether copies of a body are not slower than its loop; a single one never is.

    Args:
        trips: how many there are.
        nodes: how many the body has, without Identities and Constants.
        rows: how many rows each trip reads (scanned, or by its number) or writes.
        packed: how many numbers the captured matrices have that the body multiplies by.
    """
    return trips <= 1 or (trips - 1) * (nodes + ROW * rows + packed // PACKED) <= MOST_ADDED


def operator_pays(op_type: str, activations: Sequence[str], numbers: int | None) -> bool:
    """Whether GRU, LSTM or RNN is not slower than a Scan that computes the same.

    Args:
        op_type: the operator.
        activations: those of one direction.
        numbers: the size of a state, batch times hidden size; None where it is not known.
    """
    most = MOST_NUMBERS.get((op_type, activations[0]), 0)
    return numbers is not None and numbers <= most
