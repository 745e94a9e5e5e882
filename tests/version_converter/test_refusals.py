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

CASES = [
    # What is said, nodes, opset before and after, inputs.
    ("its outputs are training statistics, whose meaning changed",
     "y, m, v, n, w = BatchNormalization (x, s, s, s, s) z = Neg (m)", 8, 9,
     "float[1, 2, 3] x, float[2] s"),
    ("its mask is used, which has another type in the other version", "a, y = Dropout (x)", 10, 9,
     "float[2] x"),
    ("a bias of zeros needs the one element type", "y = Gemm (x, x)", 11, 10, "x"),
    ("a positive 'axis' needs the rank", "y = LayerNormalization <axis = 1> (x, s)", 17, 16,
     "float[] x, float[3] s"),
    ("GridSample before opset 20 needs the rank", "y = GridSample (x, g)", 20, 19,
     "float[] x, float[1, 2, 2, 2] g"),
    ("a half needs the one element type", "y = Round (x)", 11, 10, "x"),
    ("a matrix of zeros needs the one element type", "y = Trilu (x)", 14, 13, "x"),
    ("a sum or product needs the one element type", "y = ReduceSum (x, a)", 13, 12,
     "x, int64[1] a"),
    ("Equal needs the one element type", "y = Equal (x, x)", 11, 10, "x"),
    ("Mod needs the one element type", "y = Mod (x, x)", 10, 9, "x"),
    ("Pow needs the one element type", "y = Pow (x, z)", 12, 11, "float[2] x, z"),
    ("no opset has a reduction 'sub'", 'y = ScatterElements <reduction = "sub"> (x, i, x)', 16, 15,
     "float[2] x, int64[2] i"),
    ("an empty sequence needs the element type of 'r'",
     "t = SequenceMap <body = b (float[2] e) => (r) { r = Identity (u) }> (s)"
     " y = SequenceAt (t, k)", 17, 16, "seq(float[2]) s, u, int64 k"),
    ("a Loop needs the type of its loop-carried state",
     'a = Cast <to = 1> (x) y = ScatterND <reduction = "add"> (a, i, u)', 16, 15,
     "x, int64[2, 1] i, float[2] u"),
    ("a run-time shape that may have zeros needs the one element type",
     "y = Reshape <allowzero = 1> (x, s)", 14, 13, "x, int64[2] s")]  # fmt: skip


@pytest.mark.parametrize(("said", "nodes", "source", "target", "signature"), CASES)
def test_refused_conversions(
    said: str, nodes: str, source: int, target: int, signature: str
) -> None:
    assert_refuses(nodes, source, target, re.escape(said), signature)


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
