"""Einsum: below opset 12 a product of matrices."""

import numpy as np
import pytest
from conversions import assert_becomes, assert_carried, assert_refuses, model
from straightline import convert_version, reference

SIZES = {"a": 2, "b": 3, "c": 4, "d": 5}


def test_a_product_of_matrices_in_another_order():
    assert_becomes(
        'y = Einsum <equation = "abc,adc->abd"> (x, z)',
        12,
        11,
        """
        columns = Transpose <perm = [0, 2, 1]> (z)
        y = MatMul (x, columns)
        """,
        "float[2, 3, 4] x, float[2, 5, 4] z",
    )


@pytest.mark.parametrize(
    "equation",
    [
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
    ],
)
def test_numbers(equation):
    rng = np.random.default_rng(0)
    terms = equation.replace(" ", "").partition("->")[0].split(",")
    feeds = {
        name: rng.normal(size=[SIZES[label] for label in term])
        for name, term in zip("xz", terms, strict=False)
    }
    signature = ", ".join(
        f"double[{', '.join(map(str, feeds[name].shape))}] {name}" for name in feeds
    )
    body = f'y = Einsum <equation = "{equation}"> ({", ".join(feeds)})'
    assert_carried(body, 12, (11, 9, 8), feeds, signature, rtol=1e-12)


@pytest.mark.parametrize(
    ("equation", "reason"),
    [
        ("...a,ab->...b", "ellipsis"),
        ("aa,ab->b", "different labels"),
        ("ab,bc,cd->ad", "one or two inputs"),
        ("abc,dbc->ad", "sums over one label"),
    ],
)
def test_what_is_no_product_of_matrices_is_refused(equation, reason):
    inputs = ", ".join("xzw"[: equation.count(",") + 1])
    signature = ", ".join(f"float[2, 2, 2] {name}" for name in "xzw")
    assert_refuses(f'y = Einsum <equation = "{equation}"> ({inputs})', 12, 11, reason, signature)


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize(
    ("equation", "one", "other"),
    [
        ("ij,jk->ik", (2, 1), (3, 4)),
        ("ij,jk->ik", (2, 3), (1, 4)),
        ("ij,jk->ik", (2, 3), (3, 4)),
        ("bij,bjk->bik", (1, 2, 3), (5, 3, 4)),
        ("bij,bjk->bik", (1, 2, 1), (5, 3, 4)),
        ("ij,ij->ij", (2, 1), (2, 3)),
        ("ij,ij->i", (2, 1), (2, 3)),
        ("i,i->", (1,), (3,)),
    ],
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
