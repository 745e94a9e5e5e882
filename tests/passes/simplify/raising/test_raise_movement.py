import numpy as np
import pytest
from harness import as_model, assert_equal_outputs, op_types, run_passes
from raising import assert_stays, numbers, text
from straightline import prove
from straightline.passes import RaiseMovement
from tables import table

DEEP = "(float[2, 12, 3, 5] x) => (float[2, 3, 6, 10] y)"
WIDE = "(float[2, 3, 6, 10] x) => (float[2, 12, 3, 5] y)"
NODES = "a = Reshape (x, p) b = Transpose <perm = {}> (a) y = Reshape (b, r)"


def shapes(parts, result):
    numbers_of = [", ".join(map(str, each)) for each in (parts, result)]
    return f"<int64[6] p = {{{numbers_of[0]}}}, int64[4] r = {{{numbers_of[1]}}}>"


FORMS = [
    (DEEP, [0, 3, 4, 1, 5, 2], [2, 2, 2, 3, 3, 5], [2, 3, 6, 10], "DepthToSpace"),
    (DEEP, [0, 1, 4, 2, 5, 3], [2, 3, 2, 2, 3, 5], [0, 0, 6, 10], "DepthToSpace"),
    (WIDE, [0, 3, 5, 1, 2, 4], [2, 3, 3, 2, 5, 2], [2, 12, 3, -1], "SpaceToDepth"),
]


@pytest.mark.parametrize(("signature", "perm", "parts", "result", "operator"), FORMS)
def test_forms(signature, perm, parts, result, operator):
    if 0 in result:
        result = [2, 3, *result[2:]]
    source = text(NODES.format(perm), signature, shapes(parts, result), 17)
    after = run_passes(source, RaiseMovement(exactness="bits")).model
    assert op_types(after) == [operator]
    assert prove(as_model(source), after).proved
    sizes = (2, 12, 3, 5) if signature is DEEP else (2, 3, 6, 10)
    x = numbers(*sizes)
    x[0, 0, 0, :3] = np.nan, -0.0, np.inf
    assert_equal_outputs(source, after, {"x": x})


@table(
    ([0, 3, 4, 2, 5, 1], [2, 2, 2, 3, 3, 5], [2, 3, 6, 10]),
    ([0, 3, 4, 1, 5, 2], [2, 1, 4, 3, 3, 5], [2, 3, 3, 20]),
    ([0, 3, 4, 1, 5, 2], [2, 2, 2, 3, 3, 5], [2, 6, 3, 10]),
    ([0, 3, 4, 1, 5, 2], [2, 3, 4, 1, 3, 5], [2, 1, 9, 20]),
)
def test_near_misses_stay(perm, parts, result):
    signature = DEEP.split("=>", maxsplit=1)[0] + f"=> (float{result} y)"
    assert_stays(RaiseMovement(), text(NODES.format(perm), signature, shapes(parts, result), 17))


def test_the_mode_of_channels_first_needs_opset_11():
    signature, perm, parts, *_ = FORMS[1]
    source = text(NODES.format(perm), signature, shapes(parts, [2, 3, 6, 10]), 10)
    assert_stays(RaiseMovement(), source)
