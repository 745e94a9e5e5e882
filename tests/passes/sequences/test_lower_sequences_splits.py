"""SplitToSequence: sizes that are constant, inferred, or known at run time only."""

import numpy as np
import pytest
from harness import assert_equal_outputs, assert_keeps, run_passes
from sequences import HEAD, LOWER, lowers, sequence_operators
from straightline.passes.sequences.lower_sequences import LowerSequences
from tables import table


@table(
    ("SplitToSequence <axis = 1> (x)", ""),
    ("SplitToSequence <axis = -1, keepdims = 0> (x)", ""),
    ("SplitToSequence <axis = 1, keepdims = 1> (x, p)", "int64 p = {2}"),
    ("SplitToSequence <axis = 1> (x, p)", "int64 p = {9}"),
    ("SplitToSequence <axis = 1> (x, p)", "int64[3] p = {2, 0, 3}"),
    ("SplitToSequence <axis = 1, keepdims = 0> (x, p)", "int64[2] p = {1, 4}"),
)
@pytest.mark.parametrize("opset", [11, 13, 18, 25])
def test_splits(operator, declared, opset):
    text = f"""<ir_version: 8, opset_import: ["" : {opset}]>
        g (float[2,5] x) => (float[R] y, int64 n) <int64 first = {{0}}{"," * bool(declared)}
                                                   {declared}> {{
           s = {operator}
           e = SequenceAt (s, first)
           y = Flatten <axis = 0> (e)
           n = SequenceLength (s) }}""".replace("float[R] y", "float[1,R] y")
    result = run_passes(text, *LOWER, feeds=[{"x": np.arange(10, dtype=np.float32).reshape(2, 5)}])
    assert sequence_operators(result.model) == []


def test_a_split_is_made_once_and_only_where_a_part_is_used():
    lowers(
        """g (float[4] x) => (float[2] y, float[2] z, int64 n) <int64[2] p = {2, 2},
                                             int64 zero = {0}, int64 one = {1}> {
           s = SplitToSequence (x, p)
           y = SequenceAt (s, one)
           z = SequenceAt (s, zero)
           t = SplitToSequence (x)
           n = SequenceLength (t) }""",
        """g (float[4] x) => (float[2] y, float[2] z, int64 n)
              <int64[2] sizes = {2, 2}, int64 n = {4}> {
           z, y = Split <axis = 0> (x, sizes) }""",
        [{"x": np.arange(4, dtype=np.float32)}],
    )


def test_a_split_of_unknown_length_is_kept():
    text = """g (float[N] x) => (int64 n) {
           s = SplitToSequence (x)
           n = SequenceLength (s) }"""
    assert_keeps(LowerSequences(), HEAD + text, "the length of axis 0 of 'x' is not known")


def test_given_sizes_need_no_known_length():
    text = HEAD + (
        """g (float[N] x) => (float[M] y) <int64[2] p = {1, 3}, int64 one = {1}> {
           s = SplitToSequence (x, p)
           y = SequenceAt (s, one) }"""
    )
    result = run_passes(text, *LOWER, feeds=[{"x": np.arange(4, dtype=np.float32)}])
    assert sequence_operators(result.model) == []


def test_sizes_known_at_run_time_only():
    """How many there are is known, and so is which part is read: it is a Split."""
    lowers(
        """g (float[N] x, int64[3] p) => (float[M] y, int64 n) <int64 one = {1}> {
           s = SplitToSequence (x, p)
           y = SequenceAt (s, one)
           n = SequenceLength (s) }""",
        """g (float[N] x, int64[3] p) => (float[M] y, int64 n) <int64 n = {3}> {
           s_0, y, s_2 = Split <axis = 0> (x, p) }""",
        [
            {"x": np.arange(7, dtype=np.float32), "p": np.array(sizes)}
            for sizes in ([3, 0, 4], [0, 7, 0], [1, 2, 4])
        ],
    )


@pytest.mark.sample(9)
@pytest.mark.parametrize("sizes", ["int32", "int64"])
@pytest.mark.parametrize("opset", [13, 18, 25])
@pytest.mark.parametrize("given", [[5], [2, 3], [0, 5, 0]])
def test_sizes_known_at_run_time_in_every_form(sizes, opset, given):
    text = f"""<ir_version: 8, opset_import: ["" : {opset}]>
        g (float[2,5] x, {sizes}[{len(given)}] p) => (float[2,R] y, int64 n)
              <int64 last = {{-1}}> {{
           s = SplitToSequence <axis = -1, keepdims = 0> (x, p)
           e = SequenceAt (s, last)
           y = Identity (e)
           n = SequenceLength (s) }}"""
    result = run_passes(text, *LOWER)
    assert sequence_operators(result.model) == []
    feeds = {"x": np.arange(10, dtype=np.float32).reshape(2, 5), "p": np.array(given, sizes)}
    assert_equal_outputs(text, result.model, feeds)


@table(
    (12, "int64[3] p", "int64 at = {1}", "requires constant sizes; convert to opset 13 first"),
    (18, "int64[K] p", "int64 at = {1}", "its split depends on input 'p'"),
    (18, "int64 p", "int64 at = {1}", "its split depends on input 'p'"),
    (18, "int64[3] p, int64 at", "", "its position depends on input 'at'"),
    (18, "int64[1] p", "int64 at = {1}", "position 1 is outside a sequence of 1"),
)
def test_run_time_sizes_that_stay(opset, split, position, reason):
    text = f"""<ir_version: 8, opset_import: ["" : {opset}]>
        g (float[N] x, {split}) => (float[M] y) <{position}> {{
           s = SplitToSequence (x, p)
           y = SequenceAt (s, at) }}"""
    assert_keeps(LowerSequences(), text, reason)


def test_the_length_may_be_inferred():
    text = HEAD + (
        """g (float[2,N] x) => (float[1,N] y, int64 n) <int64 one = {1}> {
           t = Concat <axis = 0> (x, x)
           s = SplitToSequence (t)
           y = SequenceAt (s, one)
           n = SequenceLength (s) }"""
    )
    result = run_passes(text, *LOWER, feeds=[{"x": np.ones((2, 3), np.float32)}])
    assert sequence_operators(result.model) == []
