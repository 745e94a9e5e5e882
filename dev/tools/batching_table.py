"""Write docs/batching-table.md: the operators that `vectorize-loops` batches.

python dev/tools/batching_table.py
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import onnx
from straightline.ir import Operator
from straightline.ops import OperatorRules, rules_of

PAGE = Path(__file__).parents[2] / "docs" / "batching-table.md"

INTRODUCTION = """# Batching table

The operators of onnx's default domain that [vectorize-loops](passes/vectorize-loops.md) can batch
over the iterations of a loop, by the file of `ops/` with the batching rule: the method `batch` of
the operator's class. Written by `python dev/tools/batching_table.py`.

| file | operators |
|---|---|
"""

WITHOUT = """
## Those without a rule

A node of one of these operators stays in the loop, and so do the nodes between two of them.

| operators | why |
|---|---|
"""

REASONS = {
    "hold graphs, whose nodes are batched instead": "If Loop Scan SequenceMap",
    "draw random numbers": (
        "Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike"
    ),
    "produce or read sequences or optionals": (
        "ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt"
        " SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength"
        " SplitToSequence"
    ),
    "produce constants, or read sizes only, which must be loop-invariant": (
        "BlackmanWindow Constant ConstantOfShape HammingWindow HannWindow MelWeightMatrix"
    ),
    "have output sizes that depend on data": (
        "NonMaxSuppression NonZero StringNormalizer StringSplit TfIdfVectorizer Unique"
    ),
    "compute one scale for the whole operand": "DynamicQuantizeLinear",
    "normalize over the batch of each iteration": "MeanVarianceNormalization",
    "refer to images of a batch by number": "MaxRoiPool MaxUnpool RoiAlign",
    "fail on an empty batch in onnxruntime, or end its process": "Attention GRU LSTM RNN",
    "update a state of their own": "CausalConvWithState LinearAttention TensorScatter",
    "are rare in loops": (
        "AffineGrid ImageDecoder NegativeLogLikelihoodLoss RotaryEmbedding STFT"
        " SoftmaxCrossEntropyLoss SwiGLU"
    ),
}


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The text of the page."""
    files: dict[str, list[str]] = {}
    for name in with_rule():
        files.setdefault(type(rules_of(Operator(name))).__module__.split(".")[-1], []).append(name)
    rows = [f"| {file} | {_listed(names)} |" for file, names in sorted(files.items())]
    reasons = [f"| {_listed(names.split())} | {reason} |" for reason, names in REASONS.items()]
    return INTRODUCTION + "\n".join(rows) + "\n" + WITHOUT + "\n".join(reasons) + "\n"


def operators() -> list[str]:
    """All operators of the default domain in the newest opset."""
    schemas = onnx.defs.get_all_schemas()
    return sorted({s.name for s in schemas if not s.domain and not s.deprecated})


def with_rule() -> list[str]:
    """The operators with a batching rule."""
    return [n for n in operators() if rules_of(Operator(n)).defines(OperatorRules.batch)]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


if __name__ == "__main__":
    main()
