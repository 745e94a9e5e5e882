"""Apply rewrite rules to a fixpoint.

y = Transpose <perm = [1, 0]> (x)
z = Transpose <perm = [1, 0]> (y)     ->     w = Relu (x)
w = Relu (z)

`straightline rules` lists the rules. `bits` holds neutral elements, operators that return their
operand, and chains; `values` adds `x + 0.0` where no reader tells -0.0 apart; `reals` adds MatMul
and Add as Gemm, and biases, scales and BatchNormalization in weights. A rule applies if the nodes
get fewer, or as many that cost less.

Kept: defaults that a caller may override, values of unknown type or shape, large constants that
other nodes read, values that a reader rounds to integers or divides by (over the reals), and the
unit scale and zero bias of a normalization in steps, which onnxruntime fuses only as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from ...facts.notions import Equality
from ...facts.reason import Message
from ...ir import Model, Node
from ...records import field, record
from ..base import Pass, PassContext
from ..remarks import Remark

if TYPE_CHECKING:
    from .rules.rule import Rule

_APPLIED = Message("rule-applied", "by the rule {rule}")
_TRUSTED = Message("trusted-rule-applied", "by the rule {rule}, which is trusted and not proved")


def uses_trusted_rules(remarks: Iterable[Remark]) -> bool:
    """Test for a rule that is not proved, so that models must be run."""
    return any(remark.code == "trusted-rule-applied" for remark in remarks)


@record(frozen=True)
class ApplyRules(Pass):
    """Replace subgraphs by smaller equal ones, by rules that are proved.

    Options:
        exactness: the weakest notion of equality that a rule may keep.
        repeats: visit all nodes again after a change; a pipeline that repeats does that anyway.
    """

    name: ClassVar[str] = "apply-rules"
    keeps_facts: ClassVar[bool] = True
    exactness: Equality = "values"
    repeats: bool = field(default=True, metadata={"code_only": True})

    def run(self, model: Model, context: PassContext) -> bool:
        """Apply the rules in every graph."""
        # The rules are read by who simplifies: other rewrites need no pattern.
        from .rule_set import rules_within
        from .rules.worklist import Driver

        def observe(rule: Rule, node: Node, path: str) -> None:
            what = (_TRUSTED if rule.trusted else _APPLIED)(rule=rule.name)
            context.remarks.add(Remark(self.name, node.op_type, path, "rewritten", what))

        rules = rules_within(self.exactness)
        rounds = self.exactness == "reals"
        inference, keeps_bits = context.inference(model), self.exactness == "bits"
        driver = Driver(model, rules, inference, observe, rounds=rounds, keeps_bits=keeps_bits)
        return driver.run(self.repeats)
