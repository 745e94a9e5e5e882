"""Raising: nodes become operators outside of ONNX that a runtime computes faster.

a = Mul (x, cos)   r = Concat (-x2, x1)   y = Add (a, Mul (r, sin))
->
y = com.microsoft.RotaryEmbedding (x, [0], cos, sin)
"""

from __future__ import annotations

from ..ir import Model, Node
from ..passes import MergeSubexpressions, PassContext
from ..passes.remarks import RAISED, Remark
from ..passes.simplify.library import RAISED as RULES
from ..passes.simplify.rules.rule import Rule
from ..passes.simplify.rules.worklist import Driver


def raise_operators(model: Model, pass_name: str, context: PassContext, target: str) -> bool:
    """Apply the rules that bring in operators of a runtime.

    Args:
        model: the model, changed in place.
        pass_name: the pass that its remarks name.
        context: the context of the pass.
        target: the runtime.
    """

    def observe(rule: Rule, node: Node, path: str) -> None:
        what = RAISED(rule=rule.name, target=target)
        context.remarks.add(Remark(pass_name, node.op_type, path, "rewritten", what))

    context.analyses.invalidate()
    if not Driver(model, RULES, context.inference(model), observe, rounds=True).run(True):
        return False
    context.analyses.invalidate()
    MergeSubexpressions().run(model, context)  # operands that rules made of the same values
    return True
