"""Operators of a model after the rules, with a proof and runs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from harness import as_model, assert_rewrites, op_types, run_passes
from spelled import RUNTIMES, feeds, model
from straightline.facts.notions import Equality
from straightline.passes import ApplyRules, EliminateDeadNodes, Pass
from straightline.verification.proof import prove

X = "(float[N, 3] x) => (y)"


def assert_exact(
    passes: Sequence[Pass], before: str, after: str, *feeds: Mapping[str, Any], opset: int = 17
) -> None:
    """Check that passes turn one text into another, which is proved bit for bit and run."""
    pair = [as_model(text, opset) for text in (before, after)]
    assert_rewrites(passes, *pair, feeds)
    proof = prove(*pair)
    assert (proof.status, proof.equality) == ("proved", "bits")


def operators(
    nodes: str, signature: str = X, exactness: Equality = "bits", opset: int = 17
) -> list[str]:
    """The operators that rules leave; a proof in the class of exactness and runs agree."""
    before = onnx.shape_inference.infer_shapes(model(nodes, opset, signature))
    result = run_passes(before, ApplyRules(exactness=exactness), EliminateDeadNodes())
    after = result.model
    assert isinstance(after, onnx.ModelProto)
    if result.changed:
        proof = prove(before, after, equality=exactness)
        assert proof.proved or exactness == "reals", proof
        for seed, run in enumerate(RUNTIMES.values()):
            arguments = feeds(before, seed if exactness != "reals" else 0)
            for one, other in zip(run(before, arguments), run(after, arguments), strict=True):
                assert one.dtype == other.dtype
                np.testing.assert_allclose(other, one, rtol=1e-5 if exactness == "reals" else 0)
    return op_types(after)
