import numpy as np
import pytest
from conversions import assert_becomes, assert_carried, assert_refuses, convert_version, model
from straightline import reference
from tables import table


def test_a_product_of_matrices_in_another_order():
    assert_becomes("""12 to 11, float[2, 3, 4] x, float[2, 5, 4] z:
        y = Einsum <equation = "abc,adc->abd"> (x, z) =>
        columns = Transpose <perm = [0, 2, 1]> (z)
        y = MatMul (x, columns)""")


@pytest.mark.sample(18)
@table(
    "abc,acd->abd",
    "abc,adc->abd",
    "ab,ac->abc",
    "ab,ac->acb",
    "abc,abc->ab",
    "abc,abc->ba",
    "ab,b->a",
    "b,ab->a",
    "a,b->ab",
    "a,b->ba",
    "a,a->",
    "a,a",
    "ba,ac",
    "abc,cd->bad",
    "abc,bd->ad",
    "ab,c->cab",
    "abc,c->ab",
    "abc->ca",
    "abc->",
    "ab->ba",
    "ab -> ab",
    "ba",
    "abcd,aecd->abe",
    "abcd,bcde->ae",
    "abc,adc->bda",
    "abd,cad->cb",
    "ab,bc,cd->ad",
    "ab,bc,dc->da",
    "a,b,c->abc",
    "ab,abc,ac",
    "a,a,a,a->",
    "...a,...ab->...b",
    "...ab->...ba",
    "a...->...",
    "c...d,dc->...",
    "...ab,...bc",
)
def test_numbers(equation):
    rng = np.random.default_rng(0)
    terms = equation.replace(" ", "").partition("->")[0].replace("...", "ef").split(",")
    sizes = {"a": 2, "b": 3, "c": 4, "d": 5, "e": 2, "f": 3}
    feeds = {
        name: rng.normal(size=[sizes[label] for label in term])
        for name, term in zip("xzwu", terms, strict=False)
    }
    signature = ", ".join(
        f"double[{', '.join(map(str, feeds[name].shape))}] {name}" for name in feeds
    )
    body = f'y = Einsum <equation = "{equation}"> ({", ".join(feeds)})'
    assert_carried(body, 12, (11, 9, 8), feeds, signature, rtol=1e-12)


def test_several_labels_are_merged():
    assert_becomes("""12 to 11, float[B, 3, J, 5] x, float[B, 3, K, 5] z:
        y = Einsum <equation = "bijd,bikd->bjk"> (x, z) =>
        left = Transpose <perm = [0, 2, 1, 3]> (x)
        rows = Reshape (left, [0, 0, 15])
        right = Transpose <perm = [0, 2, 1, 3]> (z)
        columns = Reshape (right, [0, 0, 15])
        turned = Transpose <perm = [0, 2, 1]> (columns)
        y = MatMul (rows, turned)""")


def test_free_labels_are_those_of_a_batch():
    assert_becomes("""12 to 11, float[B, I, J, 5] x, float[B, K, 5] z:
        y = Einsum <equation = "bijd,bkd->bijk"> (x, z) =>
        columns = Transpose <perm = [0, 2, 1]> (z)
        one_for_all = Unsqueeze <axes = [1]> (columns)
        y = MatMul (x, one_for_all)""")


@pytest.mark.parametrize("empty", ["", "i", "j", "k", "b", "d"])
def test_labels_whose_lengths_are_open(empty):
    """No Reshape merges axes of which several may be empty."""
    sizes = {"b": 2, "i": 3, "j": 4, "k": 5, "d": 6} | dict.fromkeys(empty, 0)
    rng = np.random.default_rng(0)
    feeds = {n: rng.normal(size=[sizes[i] for i in t]) for n, t in (("x", "bijd"), ("z", "bikd"))}
    body = 'y = Einsum <equation = "bijd,bikd->bjk"> (x, z)'
    after = convert_version(model(body, 12, "double[B, I, J, D] x, double[B, I, K, D] z"), 9)
    (found,) = reference.run(after, feeds)
    np.testing.assert_allclose(found, np.einsum("bijd,bikd->bjk", *feeds.values()), 1e-12)


@pytest.mark.sample(10)
@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("size", [0, 1, 3])
@pytest.mark.parametrize("equation", ["ii->i", "ii->", "ii", "bii->bi", "iib,bk->ki", "iii->i"])
def test_diagonals(equation, size, is_known):
    """Elements beside a diagonal do not count, not even infinite ones."""
    sizes = {"i": size, "b": 2, "k": 4}
    terms = equation.partition("->")[0].split(",")
    rng = np.random.default_rng(0)
    feeds = {
        name: rng.normal(size=[sizes[n] for n in term])
        for name, term in zip("xz", terms, strict=False)
    }
    if equation == "ii->i" and size == 3:
        feeds["x"][0, 1] = np.inf
    signature = ", ".join(
        f"double[{', '.join(str(sizes[n]) if is_known else f'{n}_' for n in term)}] {name}"
        for name, term in zip("xz", terms, strict=False)
    )
    body = f'y = Einsum <equation = "{equation}"> ({", ".join(feeds)})'
    for target in (11, 8):
        (found,) = reference.run(convert_version(model(body, 12, signature), target), feeds)
        np.testing.assert_allclose(found, np.einsum(equation, *feeds.values()), 1e-12)


@table(
    ("...a,...b->ab", "sums over an ellipsis"),
    ("ab,ab,ab->ab", "does not fit its inputs"),
    ("aab,...ab,...bc", "different numbers of axes"),
    ("aab,abc,d.c->a", "does not fit its inputs"),
)
def test_disputed_equations_are_refused(equation, reason):
    inputs = ", ".join("xzw"[: equation.count(",") + 1])
    signature = "float[2, 2, 2] x, float[2, 2, 2] z, float[2, 2, 2, 2] w"
    assert_refuses(f'y = Einsum <equation = "{equation}"> ({inputs})', 12, 11, reason, signature)
    unknown = "v = Reshape (x, s) " + 'y = Einsum <equation = "...a->..."> (v)'
    needed = "an ellipsis needs the rank of input 0, which is not known; declare its shape"
    assert_refuses(unknown, 12, 11, needed, "float[4] x, int64[K] s")
    lengths = "two axes of one label have the lengths 2 and 3"
    assert_refuses('y = Einsum <equation = "ii"> (x)', 12, 11, lengths)


@pytest.mark.parametrize("is_known", [True, False])
@table(
    ("ij,jk->ik", (2, 1), (3, 4)),
    ("ij,jk->ik", (2, 3), (1, 4)),
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("bij,bjk->bik", (1, 2, 3), (5, 3, 4)),
    ("bij,bjk->bik", (1, 2, 1), (5, 3, 4)),
    ("ij,ij->ij", (2, 1), (2, 3)),
    ("ij,ij->i", (2, 1), (2, 3)),
    ("i,i->", (1,), (3,)),
)
def test_labels_of_size_one_are_stretched(equation, one, other, is_known):
    """As numpy and onnxruntime stretch them."""
    rng = np.random.default_rng(0)
    feeds = {"x": rng.normal(size=one), "z": rng.normal(size=other)}
    declared = {
        name: ", ".join(
            str(size) if is_known else f"{name}{axis}" for axis, size in enumerate(a.shape)
        )
        for name, a in feeds.items()
    }
    signature = ", ".join(f"double[{sizes}] {name}" for name, sizes in declared.items())
    body = f'y = Einsum <equation = "{equation}"> (x, z)'
    for target in (11, 9, 8):
        (found,) = reference.run(convert_version(model(body, 12, signature), target), feeds)
        np.testing.assert_allclose(found, np.einsum(equation, *feeds.values()), 1e-12)
