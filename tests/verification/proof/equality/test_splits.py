import pytest
from proofs import model
from straightline.verification.proof import prove

TEXT = "g (float[n, m] x) => (float[a, m] y, float[b, m] z, float[c, m] w) {{ {} }}"
EQUAL = "y, z, w = Split <axis = 0> ({})"
ROUNDED = "y, z, w = Split <axis = {}, num_outputs = 3> ({})"


def proof(before, after, opsets):
    return prove(*[model(TEXT.format(n), o) for n, o in zip((before, after), opsets, strict=True)])


def test_equal_parts_are_rounded_parts():
    before = EQUAL.format("x")
    assert proof(before, ROUNDED.format(0, "x"), (13, 18)).proved
    assert not proof(before, ROUNDED.format(1, "x"), (13, 18)).proved
    assert not proof(before, "a = Neg (x) " + ROUNDED.format(0, "a"), (13, 18)).proved


def test_rounded_parts_may_be_no_equal_parts():
    assert not proof(ROUNDED.format(0, "x"), EQUAL.format("x"), (18, 13)).proved


@pytest.mark.parametrize("nodes", [EQUAL, EQUAL.replace("= 0", "= 1")])
def test_an_unused_split_into_equal_parts_may_fail(nodes):
    kept = "q = Neg (x) y = Identity (q) z = Identity (q) w = Identity (q) "
    before = kept + ROUNDED.replace("y, z, w", "e, f, g").format(0, "x")
    after = kept + nodes.replace("y, z, w", "e, f, g").format("x")
    assert not proof(before, after, (18, 13)).proved
