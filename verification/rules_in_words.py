"""The rules of the prover in words, for readers of a report."""

from collections.abc import Iterable

from ..facts.notions import Equality

NOTIONS_IN_WORDS: dict[Equality, str] = {
    "bits": "The outputs are the same, bit for bit: type, shape and every element, for every input"
    " on which the original gives outputs.",
    "values": "The outputs are the same, except that -0.0 and 0.0 count as equal, for every input"
    " on which the original gives outputs.",
    "reals": "The outputs would be the same if floats were real numbers. In floating point they may"
    " differ by rounding.",
}
"""Notions of equality as sentences."""

_SENTENCES: dict[str, str] = {
    "An Identity, and a Cast to the type that a tensor has, change nothing.": (
        "Identity Cast CastLike BitCast Dropout"
    ),
    "A Reshape, Squeeze, Unsqueeze, Flatten or Expand is its output shape; two in a row are one.": (
        "Reshape Squeeze Unsqueeze Flatten Expand view"
    ),
    "Two Transposes in a row are one.": "Transpose",
    "A Slice, Gather or Split at known places is a part of its operand; a part of a part is one.": (
        "Slice Gather GatherND GatherElements Split narrow reversed Compress"
    ),
    "A part of a Concat is a part of one of its operands; adjacent parts joined are the whole.": (
        "Concat ConcatFromSequence"
    ),
    "A choice with a known condition, or between equal values, is the value.": "Where choose",
    "Truth values are simplified by the laws of logic.": "And Or Not Xor",
    "A function of entries of a constant is entries of the function of the constant.": (
        "Abs BitwiseNot Neg Sign"
    ),
    "Operands of a commutative operator may be exchanged; a comparison is its mirror image.": (
        "Add Mul Equal Greater GreaterOrEqual Less LessOrEqual"
    ),
    "Sums, differences and products of integers are polynomials modulo a power of two.": (
        "polynomial Mod Div Sum"
    ),
    "Sizes are polynomials of the declared symbols; bounds decide minima and maxima.": (
        "Max Min Range Clip"
    ),
    "A loop whose condition compares a counter with a fixed bound has a trip count.": "counted",
    "Padding by nothing changes nothing; a filled tensor is its element, expanded.": (
        "Pad padded ConstantOfShape NonZero"
    ),
    "Operations on sequences act element by element.": (
        "SequenceEmpty SequenceConstruct SequenceInsert SequenceErase SequenceAt SequenceLength"
        " SplitToSequence"
    ),
    "The axes of an operator have one form.": (
        "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd"
        " ReduceSum ReduceSumSquare Softmax LogSoftmax Hardmax LpNormalization ArgMax ArgMin"
        " CumSum TopK"
    ),
    "Writing every element in order gives the written elements.": (
        "ScatterElements ScatterND Scatter"
    ),
    "Repeating once, and reordering blocks of depth and space, are movements of elements.": (
        "Tile DepthToSpace SpaceToDepth Einsum Trilu OneHot"
    ),
    "An initial state of zeros is the default of a recurrent operator.": "RNN GRU LSTM",
    "Windows without pads and with steps of 1 are the defaults of a convolution or a pooling.": (
        "Conv AveragePool MaxPool LpPool"
    ),
    "A Resize or Upsample has one form in every opset.": "Resize Upsample",
    "Quantization along an axis has one form in every opset.": "QuantizeLinear DequantizeLinear",
}


def rules_in_words(rules: Iterable[str]) -> tuple[str, ...]:
    """The sentences about rules of a proof, each once; a rule without one by its name.

    >>> rules_in_words(["Transpose", "Squeeze", "view"])[0]
    'Two Transposes in a row are one.'
    """
    sentences = {rule: sentence for sentence, names in _SENTENCES.items() for rule in names.split()}
    other = "{} is brought to one form by a rule of its own."
    return tuple(dict.fromkeys(sentences.get(rule, other.format(rule)) for rule in rules))
