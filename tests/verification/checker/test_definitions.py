"""Functions for operators: data of a derivation, which names them as assumptions."""

import copy

import pytest
import straightline as sl
from proofs import model
from straightline.definitions.registry import forget
from straightline.verification.certificate_check import check
from straightline.verification.checker.terms import CertificateError
from tables import table

HEADER = '<ir_version: 8, opset_import: ["" : 18, "com.microsoft" : 1, "com.acme" : 1]>'
QUICK = "g (float[n] x) => (y) { y = com.microsoft.QuickGelu (x) }"
SIGMOID = (
    "g (float[n] x) => (y) <float a = {1.702}> { b = Mul (x, a) s = Sigmoid (b) y = Mul (x, s) }"
)


def certificate(*texts, equality="reals"):
    pair = [model(f"{HEADER} {text}") for text in texts]
    proof = sl.Proof("proved", "equal over the reals for every input", equality=equality)
    return sl.Certificate.of(*pair, proof).to_dict(), pair


@table(
    (QUICK, SIGMOID, "QuickGelu"),
    (
        """g (float[2, n] x, float[2, 3] w) => (y) {
            y = com.microsoft.FusedMatMul <transA = 1> (x, w) }""",
        "g (float[2, n] x, float[2, 3] w) => (y) { t = Transpose (x) y = MatMul (t, w) }",
        "FusedMatMul",
    ),
    (
        """g (float[2, 3] x, float[3] w, float[3] b) => (y) {
            y, , , z = com.microsoft.SkipLayerNormalization <epsilon = 0.5> (x, x, w, , b) }""",
        """g (float[2, 3] x, float[3] w, float[3] b) => (y) { s = Add (x, x) t = Add (s, b)
            y = LayerNormalization <epsilon = 0.5> (t, w) }""",
        "SkipLayerNormalization",
    ),
    (
        "g (float[n, 4] x) => (y) { y = com.microsoft.QuickGelu <alpha = 2.0> (x) }",
        """g (float[n, 4] x) => (y) <float a = {2}> { m = Mul (a, x) s = Sigmoid (m)
            y = Mul (s, x) }""",
        "QuickGelu",
    ),
)
def test_an_operator_is_what_its_function_computes(before, after, name):
    for texts in ((before, after), (after, before)):
        document, pair = certificate(*texts)
        result = check(document, *pair)
        assumption = f"com.microsoft::{name} computes its definition"
        assert assumption in result.assumptions and assumption in result.claim
        (text,) = document["derivation"]["definitions"][f"com.microsoft::{name}"]
        assert f"{name} (" in text


@table(
    (lambda d: d["assumptions"].clear(), "does not name an assumption"),
    (lambda d: d["derivation"].pop("definitions"), "'definitions' of the derivation"),
    (
        lambda d: d["derivation"]["definitions"]["com.microsoft::QuickGelu"].append("other"),
        "'definitions' of the derivation",
    ),
)
def test_a_certificate_shows_the_functions_and_names_the_assumptions(change, reason):
    document, pair = certificate(QUICK, SIGMOID)
    odd = copy.deepcopy(document)
    change(odd)
    check(document, *pair)
    with pytest.raises(CertificateError, match=reason):
        check(odd, *pair)


SWISH = "before (floats x) => (y) {{ y = com.acme.Swish (x) }}\nafter (x) => (y) {{ y = {} (x) }}"


def test_another_function_of_a_user_is_another_operator():
    texts = (f"g (float[n] x) => (y) {{ y = {name} (x) }}" for name in ("com.acme.Swish", "Tanh"))
    try:
        sl.define(SWISH.format("Tanh"))
        document, pair = certificate(*texts)
        assert "com.acme::Swish computes its definition" in check(document, *pair).assumptions
        sl.define(SWISH.format("Sigmoid"))
        with pytest.raises(CertificateError):
            check(document, *pair)
    finally:
        forget("com.acme.Swish")
    with pytest.raises(CertificateError):  # it is an unknown operator
        check(document, *pair)


def test_bits_are_those_of_functions_that_move_elements_alone():
    trilu = "g (float[2, 3] x, int64 k) => (y) {{ y = {} (x, k) }}"
    texts = [trilu.format(name) for name in ("com.microsoft.Trilu", "Trilu")]
    document, pair = certificate(*texts, equality="bits")
    assert check(document, *pair).assumptions == ("com.microsoft::Trilu computes its definition",)
    document, _ = certificate(QUICK, SIGMOID, equality="bits")
    assert isinstance(document["derivation"], str)


def test_a_function_that_may_fail_needs_a_twin():
    text = "g (float[2, 2] x, float[m] w) => (y) {{ {} y = Neg (x) }}"
    document, _ = certificate(text.format(""), text.format("d = com.microsoft.BiasGelu (x, w)"))
    assert "cannot fail" in document["derivation"]


def test_a_function_of_the_model_has_precedence():
    text = f"""{QUICK} <domain: "com.microsoft", opset_import: ["" : 18]>
        QuickGelu (a) => (b) {{ b = Neg (a) }}"""
    document, pair = certificate(text, "g (float[n] x) => (y) { y = Neg (x) }", equality="bits")
    assert check(document, *pair).assumptions == ()
    document, _ = certificate(text, SIGMOID)
    assert isinstance(document["derivation"], str)
