"""Where constructs are found: by their operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..compile_graph import Step
    from ..symbolic_execution import Execution, Frame, Value

Construct = Callable[["Execution", "Step", "tuple[Value, ...]", "Frame"], "Sequence[Value]"]

CONSTRUCTS: dict[str, Construct] = {}
"""What runs the nodes of an operator that is more than a function of tensors."""


def construct(*names: str) -> Callable[[Construct], Construct]:
    """Let a function run operators."""

    def register(function: Construct) -> Construct:
        for name in names:
            assert name not in CONSTRUCTS, name
            CONSTRUCTS[name] = function
        return function

    return register
