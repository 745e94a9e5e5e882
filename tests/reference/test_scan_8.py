import numpy as np
import pytest
from reference_oracle import assert_as_onnxruntime, assert_same, parse
from straightline import reference
from straightline.reference import EvaluationError


def running_sum(lens: str, directions: str = "") -> str:
    return f"""agraph (int64[b] n, float[b, 2] s, float[b, t, 2] x)
        => (float[b, 2] f, float[b, t, 2] y, float[b, t] z) {{
      k = Exp (s)
      f, y, z = Scan <num_scan_inputs = 2 {directions},
        body = g (float[2] a, float[2] e, float[2] h) => (float[2] r, float[2] w, float m)
        {{ q = Sub (e, h)  r = Add (a, q)  w = Add (r, h)
           m = ReduceSum <keepdims = 0> (r) }}> ({lens}, s, x, x) }}"""


def feeds(lengths, longest=3):
    batch = len(lengths)
    return {
        "n": np.array(lengths, np.int64),
        "s": np.arange(2 * batch, dtype=np.float32).reshape(batch, 2),
        "x": 1 + np.arange(2 * batch * longest, dtype=np.float32).reshape(batch, longest, 2) ** 2,
    }


@pytest.mark.parametrize("directions", ["", ", directions = [0, 1]", ", directions = [1, 0]"])
@pytest.mark.parametrize("lens", ["", "n"])
@pytest.mark.parametrize("lengths", [[3], [1, 3], [2, 2, 1]])
def test_batch_lengths_and_directions_are_as_in_onnxruntime(lens, directions, lengths):
    assert_as_onnxruntime(parse(running_sum(lens, directions), 8), feeds(lengths))


def test_a_backward_input_starts_at_the_last_valid_element():
    model = parse(
        """agraph (int64[b] n, float[b, t] x) => (float[b, t] y) {
          y = Scan <num_scan_inputs = 1, directions = [1],
            body = g (float e) => (float r) { r = Neg (e) }> (n, x) }""",
        8,
    )
    x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    (y,) = reference.run(model, {"n": np.array([2, 3]), "x": x})
    assert_same(y, np.array([[-2, -1, 0], [-6, -5, -4]], np.float32))


# onnxruntime returns garbage for a length of 0, and refuses a batch of 0.
def test_a_row_of_length_0_keeps_its_state_and_is_padded_with_zeros():
    given = feeds([0, 2])
    f, y, z = reference.run(parse(running_sum("n"), 8), given)
    assert_same(f[0], given["s"][0])
    assert not y[0].any() and not z[0].any() and not y[1, 2:].any()
    assert z[1, 1] == f[1].sum()


@pytest.mark.parametrize(("lengths", "longest"), [([0, 0], 3), ([0, 0], 0), ([], 3)])
def test_nothing_to_run_gives_the_states_and_zeros(lengths, longest):
    given = feeds(lengths, longest)
    f, y, z = reference.run(parse(running_sum("n"), 8), given)
    assert_same(f, given["s"])
    assert_same(y, np.zeros((len(lengths), longest, 2), np.float32))
    assert_same(z, np.zeros((len(lengths), longest), np.float32))


@pytest.mark.parametrize("length", [-1, 4])
def test_a_length_outside_the_input_is_an_error(length):
    with pytest.raises(
        EvaluationError, match=rf"Scan 'f': sequence_lens\[1\] is {length}, .* 0..3"
    ):
        reference.run(parse(running_sum("n"), 8), feeds([1, length]))


def test_states_and_lengths_must_have_the_batch_of_the_scan_inputs():
    model = parse(running_sum("n"), 8)
    given = feeds([1, 2])
    with pytest.raises(EvaluationError, match=r"sequence_lens has shape \[1\], not \[2\]"):
        reference.run(model, {**given, "n": np.array([1])})
    with pytest.raises(EvaluationError, match="state 0 has batch 1"):
        reference.run(model, {**given, "s": given["s"][:1]})


def test_a_state_must_keep_its_shape():
    model = parse(
        """agraph (float[b, c] s, float[b, t] x) => (float[b, d] f) {
          f = Scan <num_scan_inputs = 1, body = g (float[p] a, float e) => (float[q] r)
            { r = Concat <axis = 0> (a, a) }> (, s, x) }""",
        8,
    )
    with pytest.raises(EvaluationError, match="state 0 changes shape"):
        reference.run(model, {"s": np.ones((1, 2), np.float32), "x": np.ones((1, 2), np.float32)})
