"""Traits of operators: answers of one word or number, in one table.

    steered_by (1,): Gather GatherND       the elements of their input 1 are positions
    fixed_rank 2: NonZero                  its result is a matrix, whatever it reads

A class of rules has the same fields, for operators that the table does not name.
"""

import ast
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from .cost_estimates import EACH

ALL_OPERANDS = sys.maxsize

OperandRanks = Mapping[int, tuple[int, ...]]
"""Ranks that operands may have, by position."""
SCALAR, VECTOR, ONE_NUMBER = (0,), (1,), (0, 1)


class Traits:
    """Answers of one word or number about an operator, each with its default."""

    kept_from_folding: ClassVar[bool] = False
    """Test whether the operator stays in a model although its result is constant."""

    steps: ClassVar[int] = EACH
    """Steps of the reference for each element, unless `work` returns another number."""

    risky_inputs: ClassVar[tuple[int, ...]] = ()
    """Inputs some elements of which make it fail; without any of those it gives a result, if the
    shapes fit."""

    why_unbatchable: ClassVar[str] = "has no batching rule"
    """Reason why an operator without a batching rule is not computed for all iterations at once."""

    sized_by: ClassVar[tuple[int, ...]] = ()
    """Inputs whose elements, not their shapes, say how large the outputs are."""

    sized_like: ClassVar[tuple[int, ...] | None] = None
    """Inputs whose shapes say how large the outputs are; None for all that are not sized by."""

    operand_ranks: ClassVar[OperandRanks] = MappingProxyType({})
    """The ranks that operands such as axes, sizes and limits may have. The checker accepts others,
    onnxruntime refuses them or reads them in its own way. A vector of one element where the
    specification wants a scalar is allowed (`ONE_NUMBER`) if onnxruntime and onnx's reference read
    both alike."""

    accepts_more_from: ClassVar[int] = 7
    """The first opset that accepts operands of sizes that earlier ones refuse."""

    required_ranks: ClassVar[OperandRanks] = MappingProxyType({})
    """The ranks of operands with which alone it runs, by the specification and in onnxruntime."""

    steered_by: ClassVar[tuple[int, ...] | None] = None
    """Inputs whose elements are sizes, axes or positions: other ones may ask for all memory, or
    fail. None for those that it is sized by."""

    exact: ClassVar[bool] = False
    """Test whether the specification determines every bit of the outputs, but for those of a NaN,
    for all elements of the operands."""

    names_axes_of_first: ClassVar[bool] = False
    """Test whether its attributes `axis` and `axes` name axes that the first input must have."""

    roundings: ClassVar[int | None] = None
    """0 where it moves or compares numbers, 1 where the specification fixes each rounding; None
    where kernels choose, but 0 where the class is exact."""

    ignores_zero_sign: ClassVar[int] = 0
    """Number of leading operands with a sign of zero that changes at most signs of zeros in the
    outputs, unless these are strings, and no failure."""

    reads_sizes_only: ClassVar[bool] = False
    """Test whether the elements of its outputs follow from the sizes of its inputs alone."""

    commutative: ClassVar[bool] = False
    """Commutativity of its two operands, from opset 7 on."""

    associative: ClassVar[bool] = False
    """Associativity and commutativity, up to rounding, from opset 8 on."""

    elementwise: ClassVar[bool] = False
    """Test whether it computes each element by itself; several inputs broadcast."""

    inferred_from_types: ClassVar[bool] = False
    """Test whether onnx infers its outputs from types and sizes of operands, not from elements, as
    it does for each elementwise one."""

    fixed_rank: ClassVar[int | None] = None
    """The rank of the first output, where that is always the same."""


# Axes of Unsqueeze may be one scalar, as onnx's own function AffineGrid writes them. onnxruntime
# reads a vector as the first operand of Gemm as a row, and refuses one as the second.
_TABLE = """\
exact True: Add And BitCast BitwiseAnd BitwiseOr BitwiseXor CenterCropPad Compress Concat
  ConcatFromSequence Constant ConstantOfShape DepthToSpace Dropout Equal Expand EyeLike Flatten
  Gather GatherElements GatherND Greater GreaterOrEqual Identity Less LessOrEqual Mul Neg NonZero
  Not Optional OptionalGetElement OptionalHasElement Or Pad Reshape ReverseSequence SequenceAt
  SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength Shape Size Slice
  SpaceToDepth Split SplitToSequence Squeeze StringConcat Sub Tile Transpose Trilu Unsqueeze Where
  Xor
roundings 0: Abs ArgMax ArgMin BitwiseNot Cast CastLike Ceil Clip Floor GlobalMaxPool Hardmax IsInf
  IsNaN Max MaxPool MaxUnpool Min Neg OneHot ReduceMax ReduceMin Relu Round Scatter ScatterElements
  ScatterND Sign TopK Unique
roundings 1: Add CumSum DequantizeLinear Div Mod Mul PRelu Sqrt Sub
commutative True: Add And BitwiseAnd BitwiseOr BitwiseXor Equal Mul Or Xor
associative True: Add And BitwiseAnd BitwiseOr BitwiseXor Max Min Mul Or Sum Xor
ignores_zero_sign 1: Abs Acos Acosh AffineGrid Asin Asinh Atan Atanh AveragePool BitwiseNot Cast
  CastLike Ceil Celu CenterCropPad Col2Im Compress Cos Cosh CumProd CumSum DFT DepthToSpace Div
  Dropout Elu Erf Exp Expand Flatten Floor Gather GatherElements GatherND Gelu GlobalAveragePool
  GlobalLpPool GlobalMaxPool GridSample HardSigmoid HardSwish Identity IsInf IsNaN LRN LeakyRelu
  Log LogSoftmax LpNormalization LpPool MaxPool MaxUnpool MeanVarianceNormalization Mish Neg
  NegativeLogLikelihoodLoss NonZero QuantizeLinear ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp
  ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Resize
  ReverseSequence RoiAlign Round STFT Selu Shrink Sigmoid Sign Sin Sinh Slice Softmax
  SoftmaxCrossEntropyLoss Softplus Softsign SpaceToDepth Split Sqrt Squeeze Swish Tan Tanh
  ThresholdedRelu Tile TopK Transpose Trilu Unsqueeze Upsample
ignores_zero_sign ALL: Add Attention Clip Concat Conv ConvTranspose DequantizeLinear Einsum Equal
  GRU Gemm Greater GreaterOrEqual GroupNormalization InstanceNormalization LSTM LayerNormalization
  Less LessOrEqual MatMul Max Mean Min Mod Mul OneHot PRelu Pad RMSNormalization RNN
  RotaryEmbedding Scatter ScatterElements ScatterND Sub Sum Where
ignores_zero_sign 4: BatchNormalization
inferred_from_types True: BatchNormalization Concat Conv ConvTranspose Gather GatherElements
  GatherND Gemm LayerNormalization MatMul Scatter ScatterElements ScatterND Transpose
reads_sizes_only True: EyeLike SequenceLength Shape Size
kept_from_folding True: Constant DequantizeLinear DynamicQuantizeLinear QuantizeLinear
names_axes_of_first False: DequantizeLinear OneHot QuantizeLinear
names_axes_of_first True: Flatten Gather SplitToSequence
fixed_rank 2: Flatten Gemm NonMaxSuppression NonZero
fixed_rank 1: Range Shape
fixed_rank 0: Size
fixed_rank 4: RoiAlign
risky_inputs (1,): Div Gather GatherElements GatherND Mod Pow Scatter ScatterElements ScatterND
sized_by (1,): AffineGrid CenterCropPad Compress Expand OneHot ReduceL1 ReduceL2 ReduceLogSum
  ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Reshape Split
  SplitToSequence Squeeze Tile TopK Unsqueeze Upsample
sized_by (0,): BlackmanWindow ConstantOfShape HammingWindow HannWindow NonZero StringNormalizer
  StringSplit
sized_by (0, 1, 2, 3, 4): NonMaxSuppression Unique
sized_by (1, 2): Col2Im DFT
sized_by (1, 3): Pad STFT
sized_by (0, 1): MelWeightMatrix
sized_by (0, 1, 2): Range
sized_by (1, 2, 3): Resize
sized_by (1, 2, 3, 4): Slice
sized_by (2,): MaxUnpool
steered_by (1,): CumProd CumSum Gather GatherElements GatherND ReverseSequence Scatter
  ScatterElements ScatterND SequenceAt SequenceErase
steered_by (): Compress NonZero StringNormalizer StringSplit Unique
steered_by (1, 2): MaxUnpool RoiAlign
steered_by (2,): NonMaxSuppression SequenceInsert
steered_by (0, 1): OneHot
steered_by (0, 1, 2, 3, 4): MelWeightMatrix
operand_ranks {1: (1,)}: AffineGrid CenterCropPad Compress Expand ReduceL1 ReduceL2 ReduceLogSum
  ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Reshape
  ReverseSequence Split Squeeze Tile TopK Upsample
operand_ranks {1: (0, 1)}: CumSum SplitToSequence Trilu Unsqueeze
operand_ranks {0: (0,)}: BlackmanWindow HammingWindow HannWindow
operand_ranks {1: (0,), 2: (0,)}: Clip DFT Dropout
operand_ranks {1: (0,)}: CumProd SequenceAt SequenceErase
operand_ranks {2: (1,)}: MaxUnpool RoiAlign
operand_ranks {0: (0,), 1: (0,), 2: (0,), 3: (0,), 4: (0,)}: MelWeightMatrix
operand_ranks {0: (0,), 1: (0,), 2: (0,)}: Range
operand_ranks {0: (1,)}: ConstantOfShape
operand_ranks {1: (0, 1), 2: (1,)}: OneHot
operand_ranks {1: (0,), 2: (1,), 3: (0,)}: STFT
operand_ranks {1: (1,), 2: (0, 1), 3: (1,)}: Pad
operand_ranks {1: (1,), 2: (1,), 3: (1,), 4: (1,)}: Slice
operand_ranks {1: (1,), 2: (1,), 3: (1,)}: Resize
operand_ranks {1: (1,), 2: (1,)}: Col2Im
operand_ranks {2: (0, 1), 3: (0, 1), 4: (0, 1)}: NonMaxSuppression
operand_ranks {2: (0,)}: SequenceInsert
required_ranks {0: (3,), 1: (3,), 2: (3,)}: GRU LSTM RNN
required_ranks {0: (4,)}: DepthToSpace SpaceToDepth
required_ranks {0: (1, 2), 1: (2,)}: Gemm
required_ranks {0: (3,), 1: (3,)}: NonMaxSuppression
axis 0: ArgMax ArgMin GatherElements Scatter ScatterElements Split
axis 1: Concat
axis -1: LayerNormalization LpNormalization OneHot RMSNormalization TopK
carriers None: Concat GatherElements Scatter ScatterElements
new_axes 1: OneHot
"""
"""A trait with its value, and the operators that have it; ALL stands for all operands."""


def _read_table() -> dict[str, dict[str, Any]]:
    traits: dict[str, dict[str, Any]] = {}
    for row in _TABLE.replace("\n  ", " ").splitlines():
        head, names = row.rsplit(": ", 1)  # a value may be a dict
        trait, text = head.split(" ", 1)
        value = ALL_OPERANDS if text == "ALL" else ast.literal_eval(text)
        for name in names.split():
            traits.setdefault(name, {})[trait] = value
    return traits


_TRAITS = _read_table()


def operators_with(trait: str) -> list[str]:
    """The operators that have a trait by the table."""
    return [name for name, traits in _TRAITS.items() if traits.get(trait)]


def traits_of(name: str) -> Mapping[str, Any]:
    """The traits that the table has of an operator, by `Operator.qualname`."""
    return _TRAITS.get(name, {})
