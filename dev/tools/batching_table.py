"""Write docs/batching-table.md: which operators `vectorize-loops` computes for all trips at once.

python dev/tools/batching_table.py
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import onnx
from straightline.ir import Operator
from straightline.ops import OperatorRules, rules_of

PAGE = Path(__file__).parents[2] / "docs" / "batching-table.md"

INTRODUCTION = """# Which operators are computed for all trips at once

The operators of onnx's default domain that [vectorize-loops](passes/vectorize-loops.md) can
compute for all trips of a loop at once, by the file of `ops/` in which the rule of each
stands: the method `batch` of its class. Made by `python dev/tools/batching_table.py`.

| file | operators |
|---|---|
"""

WITHOUT = """
## Those without a rule

A node of one of these stays in the loop, and so does what lies between two such nodes.

| operators | why |
|---|---|
"""

REASONS = {
    "hold graphs, which are dissolved first": "If Loop Scan SequenceMap",
    "draw random numbers": (
        "Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike"
    ),
    "make or take sequences or optionals": (
        "ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt"
        " SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength"
        " SplitToSequence"
    ),
    "make constants, or take sizes only, which must be the same on every trip": (
        "BlackmanWindow Constant ConstantOfShape HammingWindow HannWindow MelWeightMatrix"
    ),
    "give a number of elements that their data decide": (
        "NonMaxSuppression NonZero StringNormalizer StringSplit TfIdfVectorizer Unique"
    ),
    "choose one scale for all that they are given": "DynamicQuantizeLinear",
    "normalize over the batch, which a trip has for itself": "MeanVarianceNormalization",
    "number the images of a batch": "MaxRoiPool MaxUnpool RoiAlign",
    "abort onnxruntime on an empty batch, or fail in it": "Attention GRU LSTM RNN",
    "update a state of their own": "CausalConvWithState LinearAttention TensorScatter",
    "are seldom in a loop": (
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
    """All operators of the default domain that the newest opset has."""
    schemas = onnx.defs.get_all_schemas()
    return sorted({s.name for s in schemas if not s.domain and not s.deprecated})


def with_rule() -> list[str]:
    """Those that have a batching rule."""
    return [n for n in operators() if rules_of(Operator(n)).defines(OperatorRules.batch)]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


if __name__ == "__main__":
    main()
