import numpy as np
import pytest
from cells import interpreted
from straightline.passes.recurrences.recognize.affine import affine, describe, require_affine
from straightline.passes.recurrences.recognize.polynomials import StateAtom
from straightline.passes.recurrences.weights import Unfit

W = np.arange(16).reshape(4, 4)


def form_of(body):
    of = interpreted(body, w=W, b=[1, 2, 3, 4])
    state = of.recurrence.states[0]
    hidden = (of.atoms.index(StateAtom(state)),)
    return of, affine(of.atoms, of.result(state.result), hidden)


def test_the_parts_of_a_gate():
    of, form = form_of("p = MatMul (e, w) q = MatMul (h, w) r = Sub (p, q) h2 = Add (r, b)")
    assert [describe(of.atoms, source) for _, source in form.addends] == ["'b'"]
    assert [(f, describe(of.atoms, s)) for f, s, _ in form.inputs] == [(1.0, "'e'")]
    assert [(factor, matrix.value.name) for factor, matrix in form.recurrent] == [(-1.0, "w")]
    require_affine(of.atoms, form)
    opposite = form.negate()
    assert [factor for factor, _ in (*opposite.addends, *opposite.recurrent)] == [-1.0, 1.0]
    assert [factor for factor, *_ in opposite.inputs] == [-1.0]


def test_the_remainder_of_an_affine_form():
    of, form = form_of("p = Mul (h, b) q = Tanh (p) r = MatMul (q, w) h2 = Add (r, e)")
    assert len(form.addends) == 1 and not form.recurrent
    with pytest.raises(Unfit, match=r"it adds \(a Tanh times 'w'\)"):
        require_affine(of.atoms, form)
