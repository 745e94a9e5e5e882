"""Raising: nodes become operators outside of ONNX that a runtime computes faster.

a = Mul (x, cos)   r = Concat (-x2, x1)   y = Add (a, Mul (r, sin))
->
y = com.microsoft.RotaryEmbedding (x, [0], cos, sin)
"""

from ..ir import Model, Node
from ..passes import CancelMovement, EliminateDeadNodes, MergeSubexpressions, PassContext
from ..passes.remarks import RAISED, Remark
from ..passes.simplify.library import RAISED as RULES
from ..passes.simplify.rules.rule import Rule
from ..passes.simplify.rules.worklist import Driver
from ..passes.utils.fixpoint import run_passes
from .causal_convolution import RaiseCausalConvolution
from .grouped_attention import RaiseGroupedAttention
from .linear_attention import raise_linear_attention

_OPERATORS = (RaiseGroupedAttention(), RaiseCausalConvolution())
_ROTATIONS = [rule for rule in RULES if rule.name.startswith("rotary")]


def raise_operators(model: Model, pass_name: str, context: PassContext, target: str) -> bool:
    """Apply the rules that bring in operators of a runtime.

    Args:
        model: the model, changed in place.
        pass_name: the pass that its remarks name.
        target: the runtime.
    """

    def observe(rule: Rule, node: Node, path: str) -> None:
        what = RAISED(rule=rule.name, target=target)
        context.remarks.add(Remark(pass_name, node.op_type, path, "rewritten", what))

    context.analyses.invalidate()
    changed = raise_loops(model, pass_name, context, target)
    for rules in (_ROTATIONS, RULES):
        if Driver(model, rules, context.inference(model), observe, rounds=True).run(True):
            changed = True
            context.analyses.invalidate()
        if rules is _ROTATIONS:  # attention reads what it rotates
            changed |= run_passes(_OPERATORS, model, context, repeat=False)
    if changed:
        context.analyses.invalidate()
        MergeSubexpressions().run(model, context)  # operands that rules made of the same values
    return changed


def raise_loops(model: Model, pass_name: str, context: PassContext, target: str) -> bool:
    """Replace Scans and Loops that operators of a runtime compute; arguments as above."""
    changed = False
    for graph in list(model.graphs()):
        for loop in graph.nodes_of("Scan", "Loop"):
            path = loop.path
            if raise_linear_attention(loop, context.inference(model)):
                what = RAISED(rule="linear-attention", target=target)
                context.remarks.add(Remark(pass_name, loop.op_type, path, "rewritten", what))
                context.analyses.invalidate()
                changed = True
    if changed:
        run_passes((CancelMovement(), EliminateDeadNodes()), model, context, repeat=False)
    return changed
