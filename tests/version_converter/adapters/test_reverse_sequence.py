import numpy as np
import pytest
from conversions import (
    assert_becomes,
    assert_carried,
    assert_carried_everywhere,
    assert_refuses,
    converted,
    model,
)
from straightline import convert_version, reference
from tables import table


def test_places_are_written_down():
    assert_becomes("""12 to 9:
        n = Constant <value_ints = [1, 3]> () y = ReverseSequence <batch_axis = 0, time_axis =
        1> (x, n) =>
        rows = Reshape (x, [-1])
        y = Gather <axis = 0> (rows, [[0, 1, 2], [5, 4, 3]])""")


@pytest.mark.parametrize(("batch", "time"), [(0, 1), (1, 0)])
@pytest.mark.parametrize("rest", ["", ", 2", ", C"])
def test_numbers(batch, time, rest):
    shape = (4, 3, 2) if rest else (4, 3)
    lengths = [1, 3, 2, 3] if batch == 0 else [4, 1, 3]
    body = f"n = Constant <value_ints = {lengths}> ()"
    body += f" y = ReverseSequence <batch_axis = {batch}, time_axis = {time}> (x, n)"
    x = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    assert_carried(body, 12, (9, 8), {"x": x}, f"int32[4, 3{rest}] x")


WHOLE = """s = Shape (x) zero = Constant <value = int64[1] {0}> ()
    one = Constant <value = int64[1] {1}> () t = Gather (s, zero) b = Gather (s, one)
    n = Expand (t, b) y = ReverseSequence <batch_axis = 1, time_axis = 0> (x, n)"""


def test_rows_as_a_whole():
    """As exporters of TensorFlow write a reversed sequence."""
    assert converted(WHOLE, 11, 9, "float[4, B, 2] x")[-1] == "Gather <axis = 0> (x, [3, 2, 1, 0])"
    assert "Where" not in " ".join(converted(WHOLE, 11, 9, "float[T, B, 2] x"))
    for shape in ((4, 3, 2), (1, 2, 2), (0, 2, 2), (3, 0, 2)):
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        after = convert_version(model(WHOLE, 11, "float[T, B, 2] x"), 9)
        np.testing.assert_array_equal(reference.run(after, {"x": x})[0], x[::-1])


@pytest.mark.sample(2)
@pytest.mark.parametrize(("batch", "time"), [(0, 1), (1, 0)])
@pytest.mark.parametrize("sizes", ["4, 3, 2", "A, B, C"])
@pytest.mark.parametrize("lengths", [[1, 3, 2, 3], [0, 1, 0, 2], "constant"])
def test_lengths_from_run_time(batch, time, sizes, lengths):
    x = np.arange(24, dtype=np.float32).reshape(4, 3, 2)
    n = np.array([1, 3, 2, 3] if lengths == "constant" else lengths)[: x.shape[batch]]
    body = f"y = ReverseSequence <batch_axis = {batch}, time_axis = {time}> (x, n)"
    feeds, signature = {"x": x, "n": n}, f"float[{sizes}] x, int64[K] n"
    if lengths == "constant":
        body = f"n = Constant <value = int64[{len(n)}] {{{', '.join(map(str, n))}}}> () {body}"
        feeds, signature = {"x": x}, f"float[{sizes}] x"
    assert_carried_everywhere(body, 11, (9, 8), feeds, signature, ["graph"])


@table(
    ("y = ReverseSequence (v, n)", "float[4] x, int64[K] s", "ReverseSequence needs the rank"),
    ("y = ReverseSequence <batch_axis = 0, time_axis = 0> (x, n)", "float[2, 2] x",
     "its two axes are not the first two"),
    ("y = ReverseSequence (x, n)", "float[3, 2] x", "its lengths are not one for each row"),
    ("y = ReverseSequence (x, n)", "float[1, 2] x", "or longer than these"))  # fmt: skip
def test_undefined_forms_are_refused(body, signature, reason):
    before = "v = Reshape (x, s) " if "(v, n)" in body else ""
    lengths = 3 if "one for" in reason else 2
    held = f"n = Constant <value = int64[{lengths}] {{{', '.join('1' * (lengths - 1))}, 2}}> ()"
    assert_refuses(f"{before}{held} {body}", 10, 9, reason, signature)
