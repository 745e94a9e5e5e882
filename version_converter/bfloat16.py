"""Operators that take bfloat16 later than other floats.

- 16: LeakyRelu, PRelu, GreaterOrEqual, LessOrEqual.
- 20: IsInf.
- 22: convolutions, pools, recurrent layers, functions of single elements.
- 24: TopK.
- 28: Celu, Compress, Einsum, ReverseSequence, Unique.
"""

from .via_wider_type import compute_via, of_bfloat16

SINCE = {
    16: ("LeakyRelu", "PRelu", "GreaterOrEqual", "LessOrEqual"),
    20: ("IsInf",),
    22: (
        *("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Sin", "Sinh", "Tan"),
        *("Elu", "HardSigmoid", "HardSwish", "Mish", "Selu", "Softplus", "Softsign"),
        *("ThresholdedRelu", "Round", "Det", "Conv", "ConvTranspose", "DeformConv"),
        *("AveragePool", "LpPool", "MaxPool", "MaxRoiPool", "MaxUnpool", "RoiAlign"),
        *("GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "GridSample"),
        *("GRU", "LSTM", "RNN", "InstanceNormalization", "LpNormalization"),
        "NegativeLogLikelihoodLoss",
    ),
    24: ("TopK",),
    28: ("Celu", "Compress", "Einsum", "ReverseSequence", "Unique"),
}
"""By opset: the operators that take bfloat16 from there on."""

for _version, _op_types in SINCE.items():
    for _op_type in _op_types:
        compute_via(_version, _op_type, row=of_bfloat16(_version, _op_type))
