"""Every refusal is raised by a test that reads what it says."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest
from conversions import assert_refuses
from straightline import convert_version, version_converter
from straightline.version_converter import ConversionError
from tables import cases

TESTS = Path(__file__).parents[1]
SOURCES = Path(version_converter.__file__ or "").parent

ASKED = {
    "required_constant": "{} of it",
    "required_rank": "{} needs the rank",
    "required_dtype": "{} needs the one element type",
    "required_elem_type": "{} needs the one element type",
}
"""What is said where something is asked for that is not known, by method."""

REFUSING = ("refuse", "refuse_unknown", "Refused", "ConversionError")

NEAR = 4
"""So many words in a row tell one message from all others; all of those that have fewer."""


test_refused_conversions = cases(
    assert_refuses,
    ("y, m, v, n, w = BatchNormalization (x, s, s, s, s) z = Neg (m)", 8, 9,
     "its outputs are training statistics, whose meaning changed", "float[1, 2, 3] x, float[2] s"),
    ("a, y = Dropout (x)", 10, 9, "its mask is used, which has another type in the other version",
     "float[2] x"),
    ("y = Gemm (x, x)", 11, 10, "a bias of zeros needs the one element type", "x"),
    ("y = LayerNormalization <axis = 1> (x, s)", 17, 16, "a positive 'axis' needs the rank",
     "float[] x, float[3] s"),
    ("y = GridSample (x, g)", 20, 19, "GridSample before opset 20 needs the rank",
     "float[] x, float[1, 2, 2, 2] g"),
    ("y = Round (x)", 11, 10, "a half needs the one element type", "x"),
    ("y = Trilu (x)", 14, 13, "a matrix of zeros needs the one element type", "x"),
    ("y = ReduceSum (x, a)", 13, 12, "a sum or product needs the one element type",
     "x, int64[1] a"),
    ("y = Equal (x, x)", 11, 10, "Equal needs the one element type", "x"),
    ("y = Mod (x, x)", 10, 9, "Mod needs the one element type", "x"),
    ("y = Pow (x, z)", 12, 11, "Pow needs the one element type", "float[2] x, z"),
    ('y = ScatterElements <reduction = "sub"> (x, i, x)', 16, 15, "no opset has a reduction 'sub'",
     "float[2] x, int64[2] i"),
    ("t = SequenceMap <body = b (float[2] e) => (r) { r = Identity (u) }> (s) y = SequenceAt (t,"
     " k)",
     17, 16, "an empty sequence needs the element type of 'r'", "seq(float[2]) s, u, int64 k"),
    ('a = Cast <to = 1> (x) y = ScatterND <reduction = "add"> (a, i, u)', 16, 15,
     "a Loop needs the type of its loop-carried state", "x, int64[2, 1] i, float[2] u"),
    ("y = Reshape <allowzero = 1> (x, s)", 14, 13,
     "a run-time shape that may have zeros needs the one element type", "x, int64[2] s"),
    ("y = Bernoulli (x)", 15, 14,
     "a number to compare it with needs the one element type of input 0", "x"),
    ("y = Compress <axis = 0> (x, c)", 9, 8, "the condition of it is computed at run time",
     "float[3] x, bool[3] c"),
    ("c = Constant <value = bool[3] {1, 0, 1}> () y = Compress <axis = 0> (x, c)", 9, 8,
     "a constant condition needs the length that it chooses from, which is not known",
     "float[N, 4] x"),
    ("c = Constant <value = bool[3] {1, 0, 1}> () y = Compress <axis = 0> (x, c)", 9, 8,
     "longer than its data", "float[2, 4] x"),
    ("y = CumSum (x, a)", 11, 10, "the axis of it is computed", "float[3] x, int64 a"),
    ("a = Constant <value_int = 0> () y = CumSum (x, a)", 11, 10,
     "a Scan needs the one element type of input 0, which is not", "x"),
    ("a = Constant <value_int = 0> () v = Reshape (x, s) y = CumSum (v, a)", 11, 10,
     "a Scan needs the rank of input 0, which is not known; declare its shape",
     "float[3] x, int64[N] s"),
    ("a = Constant <value_int = 0> () y = CumSum (x, a)", 11, 10,
     "a scalar has no axis to add along", "float x"),
    ("y = Equal (x, z)", 19, 18, "is a tensor.string., which Equal does not support in opset 18",
     "string[2] x, string[2] z"),
    ("y = Expand (x, s)", 8, 7,
     "below opset 8 it needs the rank of input 0, and the number of lengths",
     "float[M] x, int64[K] s"),
    ("y = EyeLike (x)", 9, 8, "its element type is the input's, which", "x"),
    ("y = Flatten (x)", 9, 8,
     "Reshape needs one length of the matrix, known and not 0, for this type", "string[M, N] x"),
    ("y = Flatten (x)", 9, 8,
     "Reshape needs one length of the matrix, known and not 0, for this type", "string[0, 0] x"),
    ("y = Gemm <alpha = 0.5> (x, z, b)", 9, 8,
     "factors of integers other than 1 have no agreed meaning",
     "int64[2, 2] x, int64[2, 2] z, int64[2] b"),
    ("y = IsInf (x)", 10, 9,
     "IsInf needs the one element type of input 0, which is not known; declare it", "x"),
    ("y = IsNaN (x)", 9, 8,
     "IsNaN needs the one element type of input 0, which is not known; declare it", "x"),
    ("y = LayerNormalization (x, s, b)", 17, 16,
     "the precision needs the one element type of input 0, which is not known; declare it",
     "x, float[4] s, float[4] b"),
    ("v = Reshape (x, s) y = MatMul (v, z)", 9, 8, "MatMul before opset 9 needs the rank",
     "int64[4] x, int64[K] s, int64[2, 2] z"),
    ("y = MatMul (x, z)", 9, 8, "MatMul does not support scalars", "int64 x, int64[2, 2] z"),
    ("y = MatMul (x, z)", 9, 8, "products are not exact",
     "int64[2, 2000000] x, int64[2000000, 2] z"),
    ("y = Mean (x, z)", 8, 7,
     "opset 7 does not broadcast here, and the shapes are not known to be equal", "x, z"),
    ("y = MeanVarianceNormalization (x)", 9, 8,
     "the least divisor needs the one element type of input 0, which is not known", "x"),
    ("y = Mod (x, z)", 28, 27, "fmod = 0 supports only integers", "float[2] x, float[2] z"),
    ("y = NonZero (x)", 9, 8, "of a scalar has no agreed meaning", "float x"),
    ("v = Reshape (x, s) y = NonZero (v)", 9, 8,
     "only of a vector without zeros.*NonZero before opset 9 needs the rank",
     "float[4] x, int64[K] s"),
    ("y = OneHot (x, d, v)", 11, 10,
     "an index that may be negative needs the one element type of input 0, which is not",
     "x, int64 d, float[2] v"),
    ("y = OneHot (i, d, v)", 9, 8, "an index of type float32 may not be a whole number",
     "float[2] i, int64 d, float[2] v"),
    ("y = OneHot (i, d, v)", 9, 8, "the axis of the classes needs the rank of input 0",
     "int64[] i, int64 d, float[2] v"),
    ("y = OneHot (i, d, v)", 9, 8,
     "a comparison with each class needs the one element type of input 0",
     "i, int64 d, float[2] v"),
    ("y = PRelu (x, s)", 9, 8, "does not broadcast to the data", "int32[2, 1] x, int32[3] s"),
    ("a = Constant <value_ints = [0]> () y = Pad (x, p, , a)", 18, 17, "'axes' needs the rank",
     "x, int64[2] p"),
    ("y = Pad (x, p, , a)", 18, 17, "'axes'", "float[2] x, int64[2] p, int64[1] a"),
    ('y = Pad <mode = "edge"> (x, p)', 11, 10, "'edge' with run-time pads",
     "float[2, 3] x, int64[4] p"),
    ("y = Pad (x, p)", 11, 10,
     "another form: the value needs the one element type of input 0, which is not known; ",
     "x, int64[4] p"),
    ("v = Reshape (x, s) y = Pad (v, p)", 11, 10,
     "another form: padding by run-time pads needs the rank of input 0, which is not known",
     "float[6] x, int64[N] s, int64[4] p"),
    ("y = Pow (x, e)", 12, 11, "Pow needs the one element type of input 1, which is not known",
     "float[3] x, e"),
    ("y = ReduceSum (x, a)", 13, 12,
     "computed at run time, and opset 12 requires it constant.*how many axes there are",
     "float[2, 3] x, int64[K] a"),
    ("y = ReduceSum (x, a)", 13, 12,
     "computed at run time, and opset 12 requires it constant.*how many axes there are",
     "float[2, 3] x, int64[0] a"),
    ("y = ReduceLogSum (x, a)", 18, 17,
     r"\(another form: its longer form needs Log, which does not support tensor\(int32\) as"
     r" 'input' in opset 18\)",
     "int32[2, 3] x, int64[1] a"),
    ("y = Relu (x)", 14, 13,
     "Relu before opset 14 needs the one element type of input 0, which is not known", "x"),
    ("v = Reshape (x, s) y = Scatter (v, i, u)", 9, 8,
     "Scatter before opset 9 needs the rank of input 0",
     "float[6] x, int64[K] s, int64[1, 3] i, float[1, 3] u"),
    ("i = Constant <value = int64[1, 1] {2}> () y = Scatter (x, i, u)", 9, 8,
     "an index of it is out of range", "float[2, 3] x, float[1, 1] u"),
    ("y = Shrink <bias = 0.5> (x)", 9, 8, "it computes with floats and cuts", "int32[2] x"),
    ("y = Slice (x, s, e, a)", 11, 10,
     "a Slice along run-time axes needs the rank of input 0, which is not known",
     "float[] x, int64[1] s, int64[1] e, int64[1] a"),
    ("y, z = Split (x, n)", 13, 12, "its lengths are not 2, one for each output",
     "float[4] x, int64[3] n"),
    ("y = ThresholdedRelu (x)", 10, 9,
     "another form: the threshold needs the one element type of input 0, which is not known", "x"),
    ("t = Constant <value = float {2}> () a = Constant <value = float {5}> () y = Tile (x, t, a)",
     5, 9, "input 0 has no axis 5"),
    ("y, i = TopK (x, k)", 10, 9, "needs the length of axis -1", "float[3, N] x, int64[1] k"),
    ("k = Constant <value_ints = [2]> () y, i = TopK <largest = 0> (x, k)", 11, 10,
     "another order needs the one element type of input 0, which is not known", "x"),
    ("y = Trilu (x)", 14, 13, "Trilu exists from opset 14 on, and strings have no zero",
     "string[2, 2] x"),
    ('y = Resize <coordinate_transformation_mode = "half_pixel_symmetric"> (x, , s)', 19, 18,
     "'half_pixel_symmetric' does not exist in opset 18", "float[2, 3] x, float[2] s"),
    ("s = Constant <value_floats = [2.0]> () y = Resize <axes = [1]> (x, , s)", 18, 17,
     "'axes' needs the rank of input 0, which is not known; declare its shape", "x"),
    ("y = Resize <axes = [1]> (x, , s)", 18, 17,
     "input 'scales' of it is computed at run time.* depends on input 's'; decided by data",
     "float[2, 3] x, float[A] s"),
    ('s = Constant <value_floats = [2.0]> () y = Resize <axes = [1],'
     ' coordinate_transformation_mode = "tf_crop_and_resize"> (x, r, s)',
     18, 17, "input 'roi' of it is computed at run time, and opset 17 requires it constant",
     "float[2, 3] x, float[A] r"),
    ("y = Resize <axes = [1]> (x, , , t)", 18, 17,
     "input 'sizes' of it is computed at run time, and opset 17 requires it constant",
     "float[2, 3] x, int64[A] t"),
    ("k = Constant <value = int64[2] {1, 2}> () y, i = TopK (x, k)", 10, 9,
     "'k' must be one number, not 2"),
    ("y = Gemm (x, x)", 11, 10, "needs the one element type of input 0", "x"),
    ("y = Relu (x)", 13, 12, "'x' is a tensor.bfloat16., which Relu does not support in opset 12",
     "bfloat16[2] x"),
    ("y = Concat <axis = -1> (x, x)", 11, 10,
     "a negative 'axis' needs the rank of input 0, which is not known", "x"),
    ("y = Squeeze <axes = [0, -1]> (x)", 11, 10,
     "a negative 'axes' needs the rank of input 0, which is not known", "x"))  # fmt: skip


def test_training_graphs_are_not_converted() -> None:
    proto = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 13]> g (float[2] x) => (float[2] y) { y = Neg (x) }'
    )
    info = proto.training_info.add()
    info.algorithm.node.append(onnx.helper.make_node("Softmax", ["x"], ["z"], name="s"))
    said = "Softmax 's' of the training information is not the same in opset 12; training graphs"
    with pytest.raises(ConversionError, match=said):
        convert_version(proto, 12)


def runs_of_words(node: ast.expr) -> list[str]:
    """The texts between what is filled into a message."""
    if isinstance(node, ast.JoinedStr):
        runs = [""]
        for part in node.values:
            if isinstance(part, ast.Constant):
                runs[-1] += str(part.value)
            else:
                runs.append("")
        return runs
    if isinstance(node, ast.BinOp):
        return [*runs_of_words(node.left), *runs_of_words(node.right)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def messages() -> Iterator[tuple[str, list[str]]]:
    """Where something is refused, and what is said there."""
    for path in sorted(SOURCES.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call):
                continue
            function = call.func
            name = function.attr if isinstance(function, ast.Attribute) else ""
            name = function.id if isinstance(function, ast.Name) else name
            if name not in (*REFUSING, *ASKED):
                continue
            runs = [run for argument in call.args for run in runs_of_words(argument)]
            if any(map(words, runs)):
                runs = ASKED.get(name, "{}").format("\n".join(runs)).split("\n")
                yield f"{path.relative_to(SOURCES)}:{call.lineno}", runs


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.replace("\\", ""))


def in_a_row(text: str, count: int) -> Iterator[tuple[str, ...]]:
    found = words(text)
    for start in range(len(found) - count + 1):
        yield tuple(found[start : start + count])


def test_each_message_is_read_by_a_test() -> None:
    read: set[tuple[str, ...]] = set()
    for path in [
        *TESTS.glob("version_converter/**/*.py"),
        *TESTS.glob("*.py"),
        *TESTS.glob("driver/*.py"),
        *TESTS.glob("cli/*.py"),
    ]:
        for node in ast.walk(ast.parse(path.read_text())):
            for text in runs_of_words(node) if isinstance(node, ast.expr) else ():
                for count in range(1, NEAR + 1):
                    read.update(in_a_row(text, count))
    unread = [
        f"{place} {runs}"
        for place, runs in messages()
        if not any(
            part in read
            for run in filter(words, runs)
            for part in in_a_row(run, min(NEAR, len(words(run))))
        )
    ]
    assert not unread, "\n".join(unread)
    assert len(list(messages())) > 140
