import copy
import json

import numpy as np
import onnx
import pytest
import straightline as sl
from certificates import assert_derived, certificate
from depth import DEEP, some
from proofs import model
from straightline.verification.certificate_check import check, check_certificate, text_of
from straightline.verification.checker.terms import Head

BEFORE = model(
    """g (float[n, 3] x, float[3] w, int64[1] k) => (float[n] y, float[n, 3] z)
    <float[3] c = {1, 2, 3}, int64[1] one = {1}> {
        i = Identity (x)
        s = Add (i, w)
        e = Exp (c)
        m = Mul (s, e)
        y = ReduceSum <axes = [-1], keepdims = 0> (m)
        r = Concat <axis = 0> (one, k)
        z = Tile (x, r) }""",
    11,
)
AFTER = model(
    """g (float[n, 3] x, float[3] w) => (float[n] y, float[n, 3] z)
    <float[3] e = {2.7182817, 7.389056, 20.085537}, int64[1] a = {1}, int64[2] r = {1, 1}> {
        s = Add (w, x)
        m = Mul (e, s)
        y = ReduceSum <keepdims = 0> (m, a)
        z = Tile (x, r) }""",
    18,
)
BOUND = {"k": np.array([1], np.int64)}
REMARKS = ("straightline", "claim", "rules", "terms", "assumptions")
"""Keys that are the prover's; the checker reads the assumptions only, and may find more."""


@pytest.fixture(scope="module")
def pair():
    after = copy.deepcopy(AFTER)
    folded = np.exp(np.array([1, 2, 3], np.float32))
    after.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(folded, "e"))
    document = certificate(BEFORE, after, BOUND)
    assert isinstance(document["derivation"], dict), document["derivation"]
    return document, after


def test_derived_results_are_reported(pair):
    document, after = pair
    result = check(document, BEFORE, after)
    assert result.claim == (
        "equal for every input, if Exp of constants gives the same bits in the runtime;"
        " input 'k' is [1]"
    )
    assert {"identity", "constant-folding"} <= set(result.rules)
    assert (result.steps, result.terms) == tuple(
        len(document["derivation"][key]) for key in ("steps", "terms")
    )


def variants(value):
    """Other values in the place of one, all of which differ from it."""
    yield None
    if isinstance(value, bool | int):
        yield from (value + 1, -value - 1, float(value), str(value), [value], 1 << 70)
    elif isinstance(value, str):
        yield from (value + "x", value[1:], "", 0, [value])
    elif isinstance(value, list):
        yield from ([*value, value[-1] if value else 0], {}, "")
        if value:
            yield from (value[1:], value[:-1])
        if len(value) > 1 and value[0] != value[-1]:
            yield from (value[::-1], [value[-1], *value[1:-1], value[0]])
    elif isinstance(value, dict):
        yield from ([], {**value, "more": 0})
        for key in value:
            yield {other: each for other, each in value.items() if other != key}
        if len(value) > 1:
            yield dict(
                zip(value, [*list(value.values())[1:], next(iter(value.values()))], strict=True)
            )


def mutants(document):
    """Documents with one value changed, with the path of that value."""
    stack = [()]
    while stack:
        path = stack.pop()
        value = document
        for key in path:
            value = value[key]
        for other in variants(value):
            mutant = copy.deepcopy(document)
            if not path:
                yield path, other
                continue
            parent = mutant
            for key in path[:-1]:
                parent = parent[key]
            parent[path[-1]] = other
            yield path, mutant
        if isinstance(value, dict | list):
            keys = value if isinstance(value, dict) else range(len(value))
            stack += [(*path, key) for key in keys]


def test_each_field_is_checked_or_says_nothing(pair):
    """Mutants, each refused or with an unchanged result; the latter are of remarks alone."""
    document, after = pair
    expected, refused, harmless = check(document, BEFORE, after), 0, set()
    cases = list(mutants(document))
    deep = [case for case in cases if len(case[0]) > 1]
    steps = sorted(map(str, document["derivation"]["steps"]))
    for path, mutant in [case for case in cases if len(case[0]) < 2] + some(deep, 220):
        own = mutant["derivation"]["steps"] if path == ("derivation", "steps") else None
        if isinstance(own, list) and sorted(map(str, own)) == steps:
            continue  # no step needs another one
        try:
            result = check(json.loads(json.dumps(mutant)), BEFORE, after)
        except sl.Error:
            refused += 1
        else:
            assert result == expected, path
            harmless.add(path[:1])
    assert refused > (1000 if DEEP else 160)
    assert harmless == {(key,) for key in REMARKS}


def test_an_assumption_that_is_removed_is_missed(pair):
    document, after = pair
    with pytest.raises(sl.CertificateError, match="not name an assumption: Exp of constants"):
        check({**document, "assumptions": []}, BEFORE, after)


def test_a_step_that_is_dropped_exchanged_or_superfluous(pair):
    document, after = pair
    steps = document["derivation"]["steps"]
    others = [[*steps[:n], *steps[n + 1 :]] for n in range(len(steps))]
    others += [[*steps, step] for step in steps]
    others += [[["no-rule", 0, 0], *steps], [["identity", 10**6, 0], *steps], [7], "", None]
    for other in others:
        derivation = {**document["derivation"], "steps": other}
        with pytest.raises(sl.CertificateError):
            check({**document, "derivation": derivation}, BEFORE, after)


def test_a_forged_certificate_of_different_models_is_refused(pair):
    """Every other field fits the models: the steps alone do not reach the outputs."""
    document, after = pair
    wrong = copy.deepcopy(after)
    wrong.graph.node[0].op_type = "Sub"
    digest = sl.Certificate.of(BEFORE, wrong, sl.Proof("proved", ""), BOUND).after
    for steps in (document["derivation"]["steps"], []):
        derivation = {**document["derivation"], "steps": steps}
        with pytest.raises(sl.CertificateError):
            check(
                {**document, "after": {"sha256": digest}, "derivation": derivation}, BEFORE, wrong
            )


def test_other_models_and_versions_are_refused(pair):
    document, after = pair
    with pytest.raises(sl.CertificateError, match="for another rewrite"):
        check(document, BEFORE, BEFORE)
    with pytest.raises(sl.CertificateError, match="for another original"):
        check(document, after, after)
    for version in (1, 2, True, 3.0):
        with pytest.raises(sl.CertificateError, match="by these rules; prove again with"):
            check({**document, "version": version}, BEFORE, after)
    with pytest.raises(sl.CertificateError, match="no derivation: because; prove again with"):
        check({**document, "derivation": "because"}, BEFORE, after)
    for key, value in (("equality", "integers"), ("verdict", "open")):
        with pytest.raises(sl.CertificateError, match="makes no claim about equal outputs"):
            check({**document, key: value}, BEFORE, after)
    assert check({**document, "equality": "values"}, BEFORE, after).claim.startswith("equal up to")
    # Over the reals nothing is folded that rounds.
    with pytest.raises(sl.CertificateError, match="'constant-folding' does not apply"):
        check({**document, "equality": "reals"}, BEFORE, after)


@pytest.mark.parametrize("text", ["", "{", "[]", "5", "{}", '{"format": "other"}', "[" * 100_000])
def test_unreadable_certificates_are_refused(tmp_path, text):
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(sl.CertificateError, match="is not a certificate"):
        check_certificate(path, BEFORE, AFTER)


def test_a_step_without_effect_is_refused():
    text = "g (float[2] x) => (float[2] y) { i = Identity (x) y = Abs (x) }"
    document = certificate(model(text), model(text))
    assert document["derivation"]["steps"] == []
    document["derivation"] = {**document["derivation"], "steps": [["identity", 0, 0]]}
    with pytest.raises(sl.CertificateError, match="does not apply"):
        check(document, model(text), model(text))


def test_equal_models_need_no_step():
    text = "g (float[n] x) => (float[n] y) { y = Abs (x) }"
    assert assert_derived(text, text, opsets=(9, 18)).steps == 0


def test_texts_name_what_distinguishes_heads():
    head = Head("ReduceSum", 13).changed(keepdims=1, axes=None)
    assert text_of(head) == "ReduceSum-13 keepdims=1"
    assert text_of(Head("input", key="x")) == "input x"
    assert len(text_of(Head("moved", key="x" * 200))) < 100
