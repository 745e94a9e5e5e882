"""Bernoulli: random truth values, with a probability for each element.

- 15: the operator appears.
- 22: bfloat16.
"""

from ..registry import INEXACT_BODIES, AdapterResult, NodeDraft, downgrade

# It gives 1 where the number drawn is greater than the probability.
INEXACT_BODIES.add("Bernoulli")


@downgrade(15, "Bernoulli")
def compare_with_random(draft: NodeDraft) -> AdapterResult:
    """Opset 14: compare a random number from 0 to 1 with the probability."""
    own = draft.required_elem_type(0, "a number to compare it with")
    seed = {name: m for name, m in draft.attributes.items() if name == "seed"}
    sample = draft.emit("RandomUniformLike", [draft.data], "drawn", attributes=seed)
    is_one = draft.emit("Less", [sample, draft.data], "is_one")
    return [draft.emit("Cast", [is_one], to=draft.attribute("dtype") or own)]
