"""Write docs/data/batching.csv: the operators that `vectorize-loops` batches, and why not others.

python dev/tools/batching_table.py
"""

import onnx
from straightline.dev.tools import data_files
from straightline.ir import Operator
from straightline.ops import OperatorRules, rules_of

HEAD = ("operator", "file of ops/ with the rule", "reason for none")

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
        "BlackmanWindow Constant HammingWindow HannWindow MelWeightMatrix"
    ),
    "have output sizes that depend on data": (
        "NonMaxSuppression NonZero StringNormalizer StringSplit TfIdfVectorizer Unique"
    ),
    "normalize over the batch of each iteration": "MeanVarianceNormalization",
    "refer to images of a batch by number": "MaxRoiPool MaxUnpool",
    "fail on an empty batch in onnxruntime, or end its process": "Attention GRU LSTM RNN",
    "update a state of their own": "CausalConvWithState LinearAttention TensorScatter",
    "are rare in loops": (
        "AffineGrid ImageDecoder NegativeLogLikelihoodLoss RotaryEmbedding STFT"
        " SoftmaxCrossEntropyLoss SwiGLU"
    ),
}


def main() -> None:
    """Write the table."""
    data_files.write("batching", HEAD, rows())


def rows() -> list[tuple[str, str, str]]:
    """Return a row for each operator of the default domain."""
    reasons = {name: reason for reason, names in REASONS.items() for name in names.split()}
    files = {name: type(rules_of(Operator(name))).__module__.split(".")[-1] for name in with_rule()}
    return [(name, files.get(name, ""), reasons.get(name, "")) for name in operators()]


def operators() -> list[str]:
    """All operators of the default domain in the newest opset."""
    schemas = onnx.defs.get_all_schemas()
    return sorted({s.name for s in schemas if not s.domain and not s.deprecated})


def with_rule() -> list[str]:
    """The operators with a batching rule."""
    return [n for n in operators() if rules_of(Operator(n)).defines(OperatorRules.batch)]


if __name__ == "__main__":
    main()
