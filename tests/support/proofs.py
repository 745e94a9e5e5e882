"""What tests of proofs share: two models in ONNX text, and what is found of them."""

import contextlib
import functools
from collections.abc import Iterator
from typing import Any
from unittest import mock

import onnx
from depth import DEEP
from straightline.verification.proof import Proof, prove

LOOP = """Loop <body = b (int64 i, bool c{inputs}) => (bool c2{outputs}) {{
    c2 = Identity (c) {nodes} }}>"""


def model(text: str, opset: int = 18) -> onnx.ModelProto:
    """A model from the text of its graph, or of more."""
    head = f'<ir_version: 10, opset_import: ["" : {opset}, "local" : 1]>\n'
    return onnx.parser.parse_model(text if text.lstrip().startswith("<") else head + text)


_QUESTION = "straightline.verification.proof.prove._Question"
_NO_WEAKER = mock.patch(f"{_QUESTION}.weaker", lambda _, answer, equality: answer)
_NO_EXPLANATION = mock.patch(f"{_QUESTION}.explained", lambda _, error: Proof("open", str(error)))


def proof_of(before: str, after: str, opset: int = 18) -> Proof:
    """What is found of two models."""
    return prove(model(before, opset), model(after, opset))


def assert_proved(before: str, after: str, opset: int = 18) -> Proof:
    """Check that two models are proved to be equal."""
    proof = proof_of(before, after, opset)
    assert proof.proved, str(proof)
    return proof


def assert_open(
    before: str, after: str, reason: str = "", opset: int = 18, weaker: bool = False
) -> Proof:
    """Check that two models are not proved to be equal, for a reason, or by weaker notions too."""
    with _unread() if not (reason or weaker) else contextlib.nullcontext():
        proof = proof_of(before, after, opset)
    assert proof.status in ("open", "refuted"), str(proof)
    assert reason in proof.reason
    return proof


def is_proved(
    before: str | onnx.ModelProto, after: str | onnx.ModelProto, opset: int = 18, **options: Any
) -> bool:
    """Test whether two models are proved to be equal, with the options of `prove`."""
    pair = [model(each, opset) if isinstance(each, str) else each for each in (before, after)]
    with _unread(options.get("equality", "bits")):
        return prove(*pair, **options).proved


over_reals = functools.partial(is_proved, equality="reals")
"""Test whether two models are proved to be equal if floats were real numbers."""


@contextlib.contextmanager
def _unread(equality: str = "bits") -> Iterator[None]:
    """Proofs without weaker notions and explanations, for answers whose reason nobody reads: they
    change no status and are two fifths of the work. The longer run has them."""
    with contextlib.ExitStack() as stack:
        if not DEEP:
            stack.enter_context(_NO_EXPLANATION)
            stack.enter_context(_NO_WEAKER if equality == "bits" else contextlib.nullcontext())
        yield


_ALIKE = """g (float x, float y, int64 n, bool q) => (float a, float b, z) {
    a = Loop (n, "", x) <body = p (int64 i, bool c, float s) => (bool d, float r) {
        d = Identity (c) t = Neg (s) r = Abs (t) }>
    b = Loop (n, "", y) <body = p (int64 i, bool c, float s) => (bool d, float r) {
        d = Identity (c) t = Neg (s) r = Abs (t) }>
    z = If (q) <then_branch = h () => (u) { u = Exp (x) }, else_branch = h () => (v) {
        v = Exp (x) }> }"""


def of_any_size(places):
    """Two loops and two branches alike, whose values have any sizes but those that they declare."""
    proto = model(_ALIKE)
    bodies = [attribute.g for node in proto.graph.node for attribute in node.attribute]
    for graph in (proto.graph, *bodies):
        for info in (*graph.input, *graph.output):
            if info.name not in ("n", "q", "i", "c", "d"):
                info.type.tensor_type.ClearField("shape")
    for body, name in places:
        bodies[body].value_info.append(onnx.helper.make_tensor_value_info(name, 1, [3]))
    return proto
