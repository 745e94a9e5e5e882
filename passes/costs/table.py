"""Tables of measured costs in a runtime: loading, calls, iterations, recurrent operators.

`straightline calibrate` writes such a table for the machine on which it runs. A model costs the sum
of its items (`cost_model.py`).
"""

import dataclasses
import functools
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from ...ir.io.toml_text import parse_toml
from ...ir.kinds import short
from ...ir.lazy import lazy_property
from ...records import record
from ..base import PassOptionError

Costs: TypeAlias = str
"""The costs that decide a rewrite, an option of passes: "none", a shipped table, or a file."""

LOAD_ITEMS = (
    *("session", "node", "inside", "constant", "packed"),
    *("Loop", "Scan", "If", "Identity", "Constant"),
)
"""A session, a node, a node in a body besides, a constant, `PACKED` elements of a matrix, others
besides what a node takes."""
ARITHMETIC = ("element", "product", "activation")
"""1,024 elements that nodes give out, as many multiplications of matrices, and activations of GRU,
LSTM or RNN, which compute them one by one."""
RUN_ITEMS = (
    *("call", "node", "If", "Loop", "loop trip", "loop slot"),
    *("Scan", "scan trip", "scan slot", *ARITHMETIC),
)
"""A run of a model, a node, an If, a loop, an iteration, an input or output of an iteration, and
arithmetic."""

BLOCK_BYTES = 1 << 20
_MEMORY = {"block": float(BLOCK_BYTES), "far": 0.35, "span": 6.6}
"""The bytes of values that a level-2 cache holds, and the microseconds that 1,024 elements of large
values, and as many starts of a broadcasting kernel, take besides; typical ones, for tables without
a column of them."""

_SHIPPED = Path(__file__).with_name("shipped")


@record(frozen=True)
class CostTable:
    """Measured costs.

    Attributes:
        load: microseconds for each of `LOAD_ITEMS`.
        run: microseconds for each of `RUN_ITEMS`.
        most_numbers: by recurrent operator and first activation, the largest state (batch times
            hidden size) for which the operator is as fast as a Scan: it computes activations one
            number at a time.
        about: the runtime, its version, the machine and the day.
        memory: the bytes of a block of iterations, and microseconds of "far" elements and spans.
    """

    load: Mapping[str, float]
    run: Mapping[str, float]
    most_numbers: Mapping[str, int]
    about: Mapping[str, str]
    memory: Mapping[str, float] = dataclasses.field(default_factory=_MEMORY.copy)

    def operator_pays(self, op_type: str, activations: Sequence[str], numbers: int | None) -> bool:
        """Test whether GRU, LSTM or RNN is as fast as an equivalent Scan.

        Args:
            activations: the activations of one direction.
            numbers: the size of a state, batch times hidden size; None if unknown.
        """
        most = self.most_numbers.get(f"{op_type} {activations[0]}", 0)
        return numbers is not None and numbers <= most

    @property
    def block(self) -> int:
        """The bytes of a block of iterations."""
        return int(self.memory["block"])

    @lazy_property
    def least_scanned(self) -> int:
        """The trip count from which a Scan of one state runs faster than the Loop.

        Besides the state, a Loop takes the iteration number and takes and gives its condition.
        """
        run = self.run
        gain = run["loop trip"] + 5 * run["loop slot"] - run["scan trip"] - 2 * run["scan slot"]
        lost = run["Scan"] - run["Loop"]
        return 1 << 31 if gain <= 0 else max(1, int(lost // gain) + 1)

    def to_toml(self) -> str:
        """The text of the file that `cost_table` reads."""
        lines = ["# Costs of onnxruntime in microseconds, by `straightline calibrate`."]
        for field in dataclasses.fields(self):
            lines += ["", f"[{field.name}]"]
            column: Mapping[str, Any] = getattr(self, field.name)
            lines += [f"{json.dumps(key)} = {json.dumps(cost)}" for key, cost in column.items()]
        return "\n".join([*lines, ""])


@functools.cache
def cost_table(costs: Costs) -> CostTable | None:
    """Return a table of costs; None for "none".

    Args:
        costs: "none", the name of a shipped table such as "onnxruntime", or the path of a file
            that `straightline calibrate` wrote.

    Raises:
        PassOptionError: there is no such table, or it does not fit.
    """
    if costs == "none":
        return None
    path = Path(costs) if costs.endswith(".toml") else _SHIPPED / f"{costs}.toml"
    if not os.path.isfile(path):  # Path.is_file raises where a name is too long
        names = ", ".join(sorted(f"'{each.stem}'" for each in _SHIPPED.glob("*.toml")))
        raise PassOptionError(
            f"costs: there is no table {short(costs)}; write 'none', {names}, or the file"
            " NAME.toml that straightline calibrate wrote"
        )
    return _read(path, costs)


def holds_costs(path: Path) -> bool:
    """Test whether a file is a table of costs."""
    try:
        return bool(_read(path, str(path)))
    except PassOptionError:
        return False


def _read(path: Path, name: str) -> CostTable:
    try:
        data = parse_toml(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise PassOptionError(f"costs: '{name}' cannot be read: {error}") from error
    columns = []
    for key, items in (("load", LOAD_ITEMS), ("run", RUN_ITEMS), ("most_numbers", ())):
        column = data.get(key)
        if not isinstance(column, dict) or not all(map(_is_cost, column.values())):
            raise PassOptionError(f"costs: '{name}' has no table '{key}' of numbers")
        missing = [item for item in items if item not in column]
        if missing:
            raise PassOptionError(
                f"costs: '{name}' lacks '{missing[0]}' in '{key}'; run straightline calibrate again"
            )
        columns.append(column)
    about = {str(key): str(value) for key, value in dict(data.get("about", {})).items()}
    memory = data.get("memory", {})
    if not isinstance(memory, dict) or not all(map(_is_cost, memory.values())):
        raise PassOptionError(f"costs: '{name}' has no table 'memory' of numbers")
    load, run, most = columns
    return CostTable(load, run, most, about, {**_MEMORY, **memory})


def _is_cost(value: object) -> bool:
    # A truth value is an int, too; the bounds exclude NaN and infinity.
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12
