"""Which nodes draw random numbers: those are never folded, merged, hoisted or repeated."""

from __future__ import annotations

from ..ir import Node

ALWAYS = frozenset(
    {
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
        "Multinomial",
        "Bernoulli",
        # Of onnxruntime's own operators.
        "com.microsoft::BiasDropout",
        "com.microsoft::BitmaskBiasDropout",
        "com.microsoft::BitmaskDropout",
        "com.microsoft::Sampling",
    }
)


def draws_random_numbers(node: Node) -> bool:
    """Whether the node is random itself: the Random operators, Multinomial, Bernoulli, and Dropout
    unless it is certain not to train."""
    op = node.op.qualname
    return op in ALWAYS or (op == "Dropout" and _may_train(node))


def _may_train(node: Node) -> bool:
    assert node.graph is not None
    opset = node.graph.root.opset()
    if opset < 7:
        return node.op.references or not node.attribute("is_test", 0)
    if opset < 12:
        return False
    training = node.input(2)
    if training is None:
        return False
    constant = training.constant
    return constant is None or not constant.is_readable or bool(constant.numpy().any())
