from simplified import operators

X = "(float[A, B, 4] x) => (y)"


def test_two_transposes_are_one_or_none():
    text = "{ t = Transpose <perm = [%s]> (x) u = Transpose <perm = [%s]> (t) y = Exp (u) }"
    assert operators(text % ("2, 0, 1", "1, 2, 0"), X) == ["Exp"]
    assert operators(text % ("2, 0, 1", "2, 0, 1"), X) == ["Transpose", "Exp"]


def test_an_operator_between_them_changes_places():
    text = "{ t = Transpose (x) u = %s (t) v = Transpose (u) y = Exp (v) }"
    assert operators(text % "LeakyRelu <alpha = 0.3>", X) == ["LeakyRelu", "Exp"]
    assert operators(text % "Softmax", X) == ["Softmax", "Exp"]
    assert operators(text % "Softmax", X, opset=12)[:2] == ["Transpose", "Softmax"]


def test_a_transpose_with_another_reader_stays_where_nothing_is_gained():
    text = "{ t = Transpose (x) u = Transpose <perm = [1, 0, 2]> (t) y = Add (u, u) z = Neg (t) }"
    both = "(float[A, B, 4] x) => (y, z)"
    assert operators(text, both) == ["Transpose", "Transpose", "Add", "Neg"]


def test_a_transpose_that_undoes_another_one_goes_even_where_that_stays():
    text = """{ t = Transpose <perm = [%s]> (x) u = Transpose <perm = [%s]> (t)
        y = Exp (u) z = Neg (t) }"""
    both = "(float[A, B, 4] x) => (y, z)"
    assert operators(text % ("2, 0, 1", "1, 2, 0"), both) == ["Transpose", "Exp", "Neg"]
    assert len(operators(text % ("2, 0, 1", "2, 0, 1"), both)) == 4
