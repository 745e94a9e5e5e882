"""Sizes that only a rewrite declares: runtimes reuse memory by them, so they must be right."""

import pytest
import straightline as sl
from harness import as_model
from proofs import of_any_size

HEAD = '<ir_version: 8, opset_import: ["" : 18]> '


def pair(declared):
    """A model, and the same with sizes of an inner value."""
    text = (
        "g (float[B, S] x, float[T] v) => (float[S, B] y) {0} {{ t = Transpose (x) y = Exp (t) }}"
    )
    return as_model(HEAD + text.format("")), as_model(HEAD + text.format(f"<float[{declared}] t>"))


@pytest.mark.parametrize("declared", ["S, B", "S, n", "n, m"])
def test_right_sizes_and_new_names_are_proved(declared):
    assert sl.prove(*pair(declared)).proved


@pytest.mark.parametrize("declared", ["B, S", "S, S", "T, B", "n, n", "S, B, B", "S"])
def test_others_are_not(declared):
    proof = sl.prove(*pair(declared))
    assert not proof.proved
    assert "the rewrite declares sizes of 't' that it does not have" in proof.reason


def test_false_declarations_of_the_original_are_allowed():
    _, wrong = pair("B, S")
    assert sl.prove(wrong, wrong).proved
    renamed = as_model(HEAD + "g (float[B, S] x, float[T] v) => (float[S, B] y) <float[B, S] t> {"
                       " t = Transpose <perm = [1, 0]> (x) y = Exp (t) }")  # fmt: skip
    assert sl.prove(wrong, renamed).proved


def test_a_number_that_sizes_contradict():
    text = "g (float[2, S] x) => (float[S, 2] y) {0} {{ t = Transpose (x) y = Exp (t) }}"
    models = [as_model(HEAD + text.format(d)) for d in ("", "<float[S, 3] t>", "<float[S, 2] t>")]
    assert not sl.prove(models[0], models[1]).proved
    assert sl.prove(models[0], models[2]).proved


def test_bodies_are_checked_too():
    text = """g (float[B, S] x, int64 n) => (float[B, S] y) <bool yes = {{1}}> {{
        y = Loop (n, yes, x) <body = b (int64 i, bool c, float[B, S] a) => (bool d, float[B, S] r)
            {0} {{ d = Identity (c) t = Transpose (a) e = Exp (t) r = Transpose (e) }}> }}"""
    models = [as_model(HEAD + text.format(d)) for d in ("", "<float[B, S] t>", "<float[S, B] t>")]
    assert not sl.prove(models[0], models[1]).proved
    assert sl.prove(models[0], models[2]).proved


@pytest.mark.parametrize("pair", [(0, 1), (1, 0), (2, 3), (3, 2)])
def test_declarations_of_a_body_count_where_it_runs(pair):
    here, there = ((body, "ttuv"[body]) for body in pair)
    for left in ([here], [here, there]):
        assert sl.prove(of_any_size(left), of_any_size([here])).proved
        assert sl.prove(of_any_size(left), of_any_size([])).proved
    for left in ([], [here]):
        for right in ([there], [here, there]):
            assert not sl.prove(of_any_size(left), of_any_size(right)).proved


def test_declarations_count_for_a_value_and_not_for_its_name():
    text = """g (float[n] w, float[3] k) => (float y, float z) <float[3] t> {{
        {0} = Neg (k) z = Abs ({0}) {1} = Neg (w) e = Exp ({1}) y = Abs (e) }}"""
    one, other = as_model(HEAD + text.format("t", "u")), as_model(HEAD + text.format("u", "t"))
    assert sl.prove(one, one).proved and sl.prove(other, other).proved
    assert not sl.prove(one, other).proved
