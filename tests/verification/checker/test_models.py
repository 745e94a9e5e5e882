import numpy as np
import onnx
import pytest
from certificates import assert_derived, assert_none, certificate
from proofs import model
from straightline.verification.certificate_check import Definitions, check
from straightline.verification.checker.execution import execute, require_valid
from straightline.verification.checker.terms import CertificateError
from tables import cases, table


def g(inputs, outputs="float y", ir=10, default=None):
    head = f'<ir_version: {ir}, opset_import: ["" : 18]>'
    proto = model(f"{head} g ({inputs}) => ({outputs}) {{ y = Abs (x) }}")
    if default is not None:
        value = np.array([default], np.float32)
        proto.graph.initializer.append(onnx.numpy_helper.from_array(value, "x"))
    return proto


test_signatures_that_differ = cases(
    assert_none,
    (g("float[n] x"), "g (float[n] z) => (float y) { y = Abs (z) }"),
    (g("float[n] x"), g("double[n] x", "double y")),
    (g("float[3] x"), g("float[4] x")),
    (g("float[n] x"), g("float[n, m] x")),
    (g("float[n] x, float[n] w"), g("float[n] w, float[n] x")),
    (g("float[n] x"), g("float[n] x", "float y, float x")),
    (g("float[1] x", default=1), g("float[1] x", default=2)),
    (g("float[1] x"), g("float[1] x", default=2)),
    (g("float[1] x", default=2), g("float[1] x")),
)


def test_a_declaration_of_the_rewrite_alone_is_an_assumption():
    result = assert_derived(g("float[n] x"), g("float[3] x"))
    assert result.assumptions == ("input 'x' is float[3], as the rewrite declares it",)
    assert assert_derived(g("float[3] x"), g("float[n] x")).assumptions == ()


def test_sizes_that_the_rewrite_alone_names_are_assumptions():
    before = "g (float[n, m] x) => (y) <int64[1] a = {0}> { y = ReduceMax (x, a) }"
    assert_none(before, "g (float[m, n] x) => (y) <int64[1] a = {1}> { y = ReduceMax (x, a) }")
    shape = "g (float[{}] x, float[{}] w) => (y) {{ s = Shape ({}) y = Expand (x, s) }}"
    assert_none(shape.format("n", "m", "x"), shape.format("n", "k", "w"))
    result = assert_derived(
        shape.format("n", "m", "x"), shape.format("n", "n", "w"), "known-elements"
    )
    assert "input 'w' is float[n], as the rewrite declares it" in result.assumptions


def test_defaults_of_inputs_are_equal():
    same = g("float[1] x", default=1)
    assert_derived(same, same)
    assert_none(same, g("", default=1))


def test_below_ir_version_4_an_initializer_is_no_input():
    old = g("float[1] x, float[1] w", ir=3, default=-1)
    assert_derived(old, g("float[1] w", default=-1))
    assert_none(old, g("float[1] w", default=2))


def test_bound_inputs_are_constants():
    before = model("g (float[n] x, int64[1] k) => (float[n] y) { y = Expand (x, k) }")
    after = model("g (float[n] x) => (float[n] y) <int64[1] k = {1}> { y = Expand (x, k) }")
    bound = {"k": np.array([1], np.int64)}
    assert check(certificate(before, after, bound), before, after).steps == 0
    for wrong in ({"k": np.array([2], np.int64)}, {"k": np.array(1, np.int64)}, {"z": bound["k"]}):
        assert isinstance(certificate(before, after, wrong)["derivation"], str)
    with pytest.raises(CertificateError, match="different inputs"):
        execute((before, after), {}, (None, None), Definitions("bits"))


def check_types(text):
    proto = model(text)
    require_valid(proto, {info.name: info.type for info in proto.graph.input})


@table(
    "y = Add (x, d)",
    "y = Neg (b)",
    "y = If (b) <then_branch = a () => (u) { u = Neg (b) },"
    " else_branch = e () => (v) { v = Abs (x) }>",
    "y = If (b) <then_branch = a () => (int64[n] u) { u = Neg (x) },"
    " else_branch = e () => (v) { v = Abs (x) }>",
)
def test_nodes_of_wrong_types_are_refused(nodes):
    with pytest.raises(CertificateError, match="onnx refuses a node"):
        check_types(f"g (float[n] x, double[n] d, bool b) => (y) {{ {nodes} }}")


def test_sizes_that_a_model_declares_are_not_its_types():
    check_types("g (float[n] x) => (float[7] y) <float[5] v> { v = Abs (x) y = Neg (v) }")


def test_a_sequence_that_a_model_declares_keeps_its_type():
    check_types(
        "g (float[n] x, int64 k, bool b) => (seq(float[]) y) { e = SequenceEmpty ()"
        " y = Loop (k, b, e) <body = l (int64 i, bool c, seq(float[]) s) =>"
        " (bool d, seq(float[]) t) { d = Identity (c) t = SequenceInsert (s, x) }> }"
    )
