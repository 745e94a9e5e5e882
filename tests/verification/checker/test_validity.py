"""Models that onnx refuses are not for the checker."""

import pytest
from proofs import model
from straightline.verification.checker.terms import CertificateError
from straightline.verification.checker.validity import require_valid


def check(text):
    proto = model(text)
    require_valid(proto, {info.name: info.type for info in proto.graph.input})


@pytest.mark.parametrize(
    "nodes",
    [
        "y = Add (x, d)",
        "y = Neg (b)",
        "y = If (b) <then_branch = a () => (u) { u = Neg (b) },"
        " else_branch = e () => (v) { v = Abs (x) }>",
        "y = If (b) <then_branch = a () => (int64[n] u) { u = Neg (x) },"
        " else_branch = e () => (v) { v = Abs (x) }>",
    ],
)
def test_nodes_of_wrong_types_are_refused(nodes):
    with pytest.raises(CertificateError, match="onnx refuses a node"):
        check(f"g (float[n] x, double[n] d, bool b) => (y) {{ {nodes} }}")


def test_sizes_that_a_model_declares_are_not_its_types():
    check("g (float[n] x) => (float[7] y) <float[5] v> { v = Abs (x) y = Neg (v) }")


def test_a_sequence_that_a_model_declares_keeps_its_type():
    check(
        "g (float[n] x, int64 k, bool b) => (seq(float[]) y) { e = SequenceEmpty ()"
        " y = Loop (k, b, e) <body = l (int64 i, bool c, seq(float[]) s) =>"
        " (bool d, seq(float[]) t) { d = Identity (c) t = SequenceInsert (s, x) }> }"
    )
