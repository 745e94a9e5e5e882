"""Turn inputs with a default into constants.

agraph (float[2] x, float[2] w) => (float[2] y)      agraph (float[2] x) => (float[2] y)
<float[2] w = {1, 2}> { y = Mul(x, w) }        ->    <float[2] w = {1, 2}> { y = Mul(x, w) }

From IR version 4 on, an initializer that is also an input is a default, which a caller may
override, so no other pass treats it as a constant. Opt-in, because it changes the signature;
`--freeze-initializers` runs it first.
"""

from typing import ClassVar

from ...ir import Array, Model, Value
from ..base import Part, Pass, PassContext


class FreezeInitializers(Pass):
    """Remove inputs with a default from the signature, so that the default is a constant."""

    name: ClassVar[str] = "freeze-initializers"
    keeps_sizes: ClassVar[bool] = True
    changes: ClassVar[tuple[Part, ...]] = ("inputs",)

    def run(self, model: Model, context: PassContext) -> bool:
        """Freeze inputs of the main graph; bodies and functions read theirs from their node."""
        frozen = _inputs_with_default(model)
        for value in frozen:
            model.graph.freeze_input(value)
        return bool(frozen)

    def violation(self, model: Model) -> str | None:
        """Return the inputs that still have a default."""
        return ", ".join(value.name for value in _inputs_with_default(model)) or None


def frozen_defaults(model: Model) -> dict[str, Array]:
    """Return the defaults that the pass makes constants, by the names of their inputs.

    A default that cannot be read here, such as external data that is missing, is left out.
    """
    tensors = {value.name: model.graph.initializers[value] for value in _inputs_with_default(model)}
    return {name: tensor.numpy() for name, tensor in tensors.items() if tensor.is_readable}


def _inputs_with_default(model: Model) -> list[Value]:
    defaults = model.graph.initializers.keys() - model.trained if model.allows_overrides else ()
    return [value for value in model.graph.inputs if value in defaults]
