"""Nodes of opsets before 7, with their results by numpy after the text of the specification."""

from typing import Any, NamedTuple

import numpy as np
import onnx
from conversions import model

SIGNATURE = """float[2, 3, 3] x, float[3] r, float[2] p, float s, float[1, 1] u,
    bool[2, 3, 3] b, bool[3] c, float[n, 3, 4, 4] i, float[2, 3] m"""

_RANDOM = np.random.default_rng(7)
X = _RANDOM.standard_normal((2, 3, 3)).astype(np.float32)
R = np.array([1, -2, 3], np.float32)
P = np.array([2, -5], np.float32)
B = _RANDOM.random((2, 3, 3)) < 0.5
C = np.array([True, False, True])
IMAGE = _RANDOM.standard_normal((1, 3, 4, 4)).astype(np.float32)
M = X[0, :2]
FEEDS: dict[str, Any] = {"x": X, "r": R, "p": P, "s": np.array(2, np.float32), "m": M, "i": IMAGE}
FEEDS |= {"u": np.array([[3]], np.float32), "b": B, "c": C}


class OlderForm(NamedTuple):
    """A body with the output y in an opset before 7, and its result."""

    opset: int
    body: str
    result: Any

    def __str__(self) -> str:
        return f"{self.opset}: {self.body}"

    @property
    def model(self) -> onnx.ModelProto:
        """The model, of an IR version of that time."""
        proto = model(self.body, self.opset, SIGNATURE)
        proto.ir_version = 3
        elem_type = onnx.helper.np_dtype_to_tensor_dtype(np.asarray(self.result).dtype)
        output = onnx.helper.make_tensor_value_info("y", elem_type, [None] * self.result.ndim)
        proto.graph.output[0].CopyFrom(output)
        return proto


def _column(row: Any) -> Any:
    return row[:, None]


_CHANNELS = R.reshape(3, 1, 1)
_RELU = np.maximum(X, 0)
_SHARED = ", consumed_inputs = [0, 0]"

OLDER_FORMS = [
    OlderForm(6, "y = Add <broadcast = 1, axis = 1> (x, r)", X + _column(R)),
    OlderForm(6, "y = Sub <broadcast = 1> (x, r)", X - R),
    OlderForm(6, "y = Sub <broadcast = 1, axis = -1> (x, r)", X - R),
    OlderForm(6, "y = Mul <broadcast = 1, axis = 0> (x, p)", X * P.reshape(2, 1, 1)),
    OlderForm(6, "y = Div <broadcast = 1, axis = 2> (x, u)", X / np.float32(3)),
    OlderForm(6, "y = Mul <broadcast = 1, axis = 2> (x, s)", X * np.float32(2)),
    OlderForm(6, "y = Add <axis = 1> (x, x)", X + X),
    OlderForm(1, f"y = Add <broadcast = 1, axis = 1{_SHARED}> (x, r)", X + _column(R)),
    OlderForm(2, "a = Relu <consumed_inputs = [0]> (x) y = Mul <broadcast = 1, axis = 1> (a, r)",
     _RELU * _column(R)),
    OlderForm(6, "y = Pow <broadcast = 1> (x, s)", X**2),
    OlderForm(6, "y = Less <broadcast = 1, axis = 1> (x, r)", _column(R) > X),
    OlderForm(3, "y = Greater <broadcast = 1, axis = 1> (x, r)", _column(R) < X),
    OlderForm(6, "y = And <broadcast = 1, axis = 1> (b, c)", B & _column(C)),
    OlderForm(6, "y = Or <broadcast = 1> (b, c)", B | C),
    OlderForm(6, "y = Xor <broadcast = 1, axis = 1> (b, c)", B ^ _column(C)),
    OlderForm(6, "y = Equal <broadcast = 1, axis = 1> (b, c)", _column(C) == B),
    OlderForm(6, "y = PRelu (x, r)", np.where(X < 0, X * _column(R), X)),
    OlderForm(5, "y = PRelu <consumed_inputs = [0, 0]> (m, r)", np.where(M < 0, M * R, M)),
    OlderForm(6, "y = Gemm <broadcast = 1, transB = 1> (m, m, p)", M @ M.T + P),
    OlderForm(5,
     "v = Mul (r, r)"
     " y = BatchNormalization <is_test = 1, consumed_inputs = [0, 0, 0, 1, 1]> (i, r, r, r, v)",
     (IMAGE - _CHANNELS) / np.sqrt(_CHANNELS**2 + np.float32(1e-5)) * _CHANNELS + _CHANNELS),
    OlderForm(6, "y, unread = Dropout <is_test = 1, ratio = 0.25> (x)", X),
    OlderForm(1, "y = Reshape <shape = [0, -1], consumed_inputs = [0]> (x)", X.reshape(2, 9)),
    OlderForm(3, "y = Reshape <shape: ints = []> (s)", FEEDS["s"]),
    OlderForm(3, 'y = Cast <to = "INT32"> (x)', X.astype(np.int32)),
    OlderForm(3, 'y = Cast <to = "bool"> (x)', X.astype(bool)),
    OlderForm(3, "y = Concat (x, x)", np.concatenate([X, X], 1)),
    OlderForm(1, "y = Pad <paddings = [0, 1, 0, 0, 0, 2], value = 3.0> (x)",
     np.pad(X, ((0, 0), (1, 0), (0, 2)), constant_values=3)),
    OlderForm(1, "a, y = Split <axis = 1, split = [1, 2]> (x)", X[:, 1:]),
    OlderForm(1, "l = Constant <value = float[2] {2, 1}> () a, y = Split <axis = 1> (x, l)",
     X[:, 2:]),
    OlderForm(5,
     "t = Constant <value = float {2}> () a = Constant <value = float {1}> () y = Tile (x, t, a)",
     np.tile(X, (1, 2, 1))),
    OlderForm(6, "y = Upsample <height_scale = 2.0, width_scale = 3.0> (i)",
     IMAGE.repeat(2, 2).repeat(3, 3)),
    OlderForm(1, "y = Selu <consumed_inputs = [0]> (x)",
     np.where(X > 0, np.float32(1.0506999) * X,
     np.float32(1.0506999) * np.float32(1.6732) * (np.exp(X) - 1)).astype(np.float32)),
    OlderForm(1, "y = Clip <consumed_inputs = [0], max = 0.5> (x)", np.minimum(X, np.float32(0.5))),
    OlderForm(1, "y = GlobalLpPool <p = 2.0> (i)", np.sqrt((IMAGE**2).sum((2, 3), keepdims=True))),
    OlderForm(1, "y = LpPool <p = 1.0, kernel_shape = [2, 2], strides = [2, 2]> (i)",
     np.abs(IMAGE).reshape(1, 3, 2, 2, 2, 2).sum((3, 5))),
    OlderForm(1, "y = AveragePool <kernel_shape = [2, 2], strides = [2, 2]> (i)",
     IMAGE.reshape(1, 3, 2, 2, 2, 2).mean((3, 5))),
    OlderForm(5, "y = Mean <consumed_inputs = [0, 0]> (x, x)", X)]  # fmt: skip
