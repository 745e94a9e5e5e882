"""Remove the model's own functions that no node calls any more.

agraph (float[2] x) => (float[2] y) { y = Relu (x) }        agraph (float[2] x) => ...
<domain: "local", ...> unused (a) => (b) { ... }       ->
"""

from typing import ClassVar

from ...ir import Model
from ..base import Part, Pass, PassContext
from .calls import live_functions


class EliminateDeadFunctions(Pass):
    """Remove functions that the main graph does not reach."""

    name: ClassVar[str] = "eliminate-dead-functions"
    keeps_facts: ClassVar[bool] = True
    by_default: ClassVar[bool] = True
    needs_graphs: ClassVar[bool] = True
    cleans_up: ClassVar[bool] = True
    changes: ClassVar[tuple[Part, ...]] = ("functions",)

    def run(self, model: Model, context: PassContext) -> bool:
        """Remove them all at once; graphs of training information may call any, so then none."""
        if not model.functions or model.training_info:
            return False
        unused = model.functions.keys() - live_functions(model)
        for key in unused:
            del model.functions[key]
        return bool(unused)

    def violation(self, model: Model) -> str | None:
        """Return the functions that no node calls."""
        if model.training_info:
            return None
        return ", ".join(map(str, model.functions.keys() - live_functions(model))) or None
